// What follows the chosen metric: the sentence, the ranking, who beats whom, histograms, and the
// images farthest below the leader. What belongs to the other metrics waits in templates.

const waiting = new Map([...document.querySelectorAll("template")].map(({ dataset, content }) => [dataset.metric, content]));
const gapCard = document.querySelector(".gap");
let followed = data.metrics[settings.chosen];
waiting.set(followed, new DocumentFragment());

function followMetric() {
  const metric = data.metrics[choice.metric];
  if (metric !== followed) {
    for (const part of [".verdict", ".ranking", ".duels"]) {
      const [shown, next] = [document.querySelector(part), waiting.get(metric).querySelector(part)];
      if (!shown) continue;
      shown.replaceWith(next);
      waiting.get(followed).append(shown);
      if (next.tHead) equip(next);
    }
    followed = metric;
    for (const name of document.querySelectorAll(".metric-name")) name.textContent = metric;
    fillCategories();
    reachDuels();
  }
  for (const figure of document.querySelectorAll("figure[data-metric]")) figure.hidden = figure.dataset.metric !== metric;
  if (gapCard.dataset.metric === metric) return;
  gapCard.dataset.metric = metric;
  findGaps(choice.metric);
  showGap();
}

// Images on which a caption is farthest below that of the system that leads; of one system, its worst.
let gaps = [];
let place = 0;

function findGaps(metric) {
  const leader = settings.leaders[metric];
  const value = data.systems.length > 1 ? orders.gap.value({ metric, systems: [...data.systems.keys()] })
    : orders.worst.value({ metric, systems: [leader] });
  gaps = Array.from(data.ids.keys(), (image) => ({ image, value: value(image), row: rowBelow(metric, image) }))
    .filter(({ image, value, row }) => (value > 0 || data.systems.length === 1 && !Number.isNaN(value)) && row >= 0 && !isOnlyUnconfirmed(row, image))
    .sort((a, b) => b.value - a.value);
  place = 0;
}

// The row of the caption of an image that is worst under a metric.
function rowBelow(metric, image) {
  const sign = data.lowerIsBetter[metric] ? 1 : -1;
  const bad = (row) => sign * (data.scores[owners[row]][metric][image] ?? -sign * Infinity);
  const rows = [...owners.keys()].filter((row) => data.captions[row][image] !== null);
  const worst = rows.reduce((most, row) => (most < 0 || bad(row) > bad(most) ? row : most), -1);
  const samples = rows.filter((row) => owners[row] === owners[worst]);
  return samples.find((row) => sampleIs("worst", row, image, metric)) ?? worst;
}

function showGap() {
  gapCard.hidden = !gaps.length;
  if (!gaps.length) return;
  const { metric } = choice;
  const { image, row } = gaps[place];
  const leader = settings.leaders[metric];
  const best = rowsOf([leader]).find((one) => data.captions[one][image] !== null);
  const scored = (one) => html("b", {}, ` ${briefText(data.scores[owners[one]][metric][image])}`);
  const said = [...new Set([best, row])].filter((one) => one !== undefined).map((one) => {
    const item = candidate(one, image, ofCaption(one, image) ? verdictLists(one, image) : []);
    item.querySelector("h4").append(scored(one));
    return item;
  });
  gapCard.querySelector("h3").textContent = data.systems.length > 1 ? "Largest gap to the best" : "Worst captions";
  gapCard.querySelector(".of").textContent = `${place + 1} of ${whole(gaps.length)}`;
  gapCard.querySelector(".shown").replaceChildren(html("div", { class: "image", "data-image": image },
    html("p", {}, html("a", { href: address({ image: data.ids[image] }) }, `Image ${data.ids[image]}`)),
    image in pictures ? frame(image) : [],
    html("div", { class: "gold" }, objectList(image)),
    html("ul", { class: "candidates" }, said),
    html("a", { href: address({ sort: data.systems.length > 1 ? "gap" : "worst" }) }, "All of them")));
}

function stepGap(step) {
  place = between(place + step, 0, gaps.length - 1);
  showGap();
}
gapCard.querySelector("[name=earlier]").addEventListener("click", () => stepGap(-1));
gapCard.querySelector("[name=later]").addEventListener("click", () => stepGap(1));
document.addEventListener("keydown", ({ key, target, altKey }) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (step && !altKey && (target === document.body || target.closest(".gap header"))) stepGap(step);
});

// Cells of the matrix say of which two systems they are, with p and what remains at equal length. The
// Tab key reaches the first one, the arrow keys the others.
const duels = document.getElementById("duels");
function tellDuel(cell) {
  const table = cell.closest("table");
  const { length } = data.systems;
  const [row, column] = [cell.parentElement, table.tHead.rows[0].cells[cell.cellIndex]].map((part) => Number(part.dataset.system));
  const [first, second] = [Math.min(row, column), Math.max(row, column)];
  const { p, difference, low, high } = record("PairTest",
    settings.tests[metricOf(followed)][first * length - (first * (first + 1)) / 2 + second - first - 1]);
  const [remains, from, to] = (row < column ? [difference, low, high] : [-difference, -high, -low]).map(Number);
  duels.querySelector(".told").textContent = `${data.systems[row]} minus ${data.systems[column]}: ${cell.textContent}, p ${p.startsWith("<") ? p : `= ${p}`}`
    + (difference === null ? "" : `; at equal length ${briefText(remains)} (${briefText(from)} to ${briefText(to)})`);
}
const reachDuels = () => duels?.querySelector(".matrix td:not(:empty)")?.setAttribute("tabindex", 0);
reachDuels();
for (const type of ["pointerover", "focusin", "click"]) duels?.addEventListener(type, ({ target }) => {
  const cell = target.closest("td");
  if (cell?.textContent) tellDuel(cell);
});
duels?.addEventListener("keydown", (event) => {
  const cell = event.target.closest("td");
  const [down, right] = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key] ?? [];
  if (!cell || down === undefined) return;
  event.preventDefault();
  const { rows } = cell.closest("tbody");
  let [y, x, next] = [cell.parentElement.sectionRowIndex, cell.cellIndex];
  do next = rows[(y += down)]?.cells[(x += right)]; while (next && !next.textContent); // past the diagonal
  if (!next || next.tagName !== "TD") return;
  cell.removeAttribute("tabindex");
  next.tabIndex = 0;
  next.focus();
});
