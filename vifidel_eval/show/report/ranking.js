// What follows the chosen metric: the sentence, the ranking, who beats whom, histograms, and the
// leader's worst image. What belongs to the other metrics waits in templates.

const waiting = new Map([...document.querySelectorAll("template")].map(({ dataset, content }) => [dataset.metric, content]));
const worst = document.querySelector(".worst");
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
  }
  for (const figure of document.querySelectorAll("figure[data-metric]")) figure.hidden = figure.dataset.metric !== metric;
  showWorst(choice.metric);
}

// A card of the image on which the system that leads does worst.
function showWorst(metric) {
  const leader = settings.leaders[metric];
  const value = orders.worst.value({ metric, systems: [leader] });
  let [image, most] = [undefined, -Infinity];
  for (const at of data.ids.keys()) {
    const found = value(at);
    if (found > most) [image, most] = [at, found];
  }
  worst.hidden = image === undefined;
  if (worst.hidden || worst.dataset.shown === `${metric}`) return;
  worst.dataset.shown = metric;
  const name = data.systems[leader];
  const rows = rowsOf([leader]).filter((row) => data.captions[row][image] !== null);
  const row = rows.find((row) => sampleIs("worst", row, image, metric)) ?? rows[0];
  worst.replaceChildren(html("div", { class: "image", "data-image": image },
    html("header", {}, html("h3", {}, `Where ${name} does worst`),
      html("p", {}, `Image ${data.ids[image]}: ${data.metrics[metric]} ${scoreText(data.scores[leader][metric][image])}`)),
    image in pictures ? frame(image) : [],
    html("div", { class: "gold" }, objectList(image)),
    html("ul", { class: "candidates" }, candidate(row, image, ofCaption(row, image) ? verdictLists(row, image) : [])),
    html("a", { href: address({ system: name, sort: "worst" }) }, "All its images, worst first")));
}

// Cells of the matrix say of which two systems they are, with p and what remains at equal length.
document.getElementById("duels")?.addEventListener("pointerover", ({ target }) => {
  const cell = target.closest("td");
  if (!cell?.textContent || cell.title) return;
  const table = cell.closest("table");
  const { length } = data.systems;
  const [row, column] = [cell.parentElement, table.tHead.rows[0].cells[cell.cellIndex]].map((part) => Number(part.dataset.system));
  const [first, second] = [Math.min(row, column), Math.max(row, column)];
  const { p, difference, low, high } = record("PairTest",
    settings.tests[metricOf(followed)][first * length - (first * (first + 1)) / 2 + second - first - 1]);
  const [remains, from, to] = (row < column ? [difference, low, high] : [-difference, -high, -low]).map(Number);
  cell.title = `${data.systems[row]} minus ${data.systems[column]}: ${cell.textContent}, p ${p.startsWith("<") ? p : `= ${p}`}`
    + (difference === null ? "" : `; at equal length ${briefText(remains)} (${briefText(from)} to ${briefText(to)})`);
});
