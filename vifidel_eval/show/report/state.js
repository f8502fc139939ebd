// What the user has chosen: in the controls, in the address, and as the images shown.

const pages = section.querySelector(".pages");
const status = section.querySelector(".status");
const order = document.getElementById("order");
const thumbnails = section.querySelector(".thumbnails");
const title = document.getElementById("images-title");
const metricOf = (name) => data.metrics.indexOf(name);

const PAGE_SIZE = 20;
let choice;
let found;
let elsewhere; // how many images fit of which the page has no captions
// What no control of the list shows, as the address says it: an image; a thing; captions with less
// than half of the best system's score; a part of the plot.
const ASIDE = ["image", "thing", "half", "across", "up", "x", "y"];
let aside = {};

// The metric is the whole page's, and stays.
function clear() {
  const { metric } = form.elements;
  const { value } = metric;
  form.reset();
  metric.value = value;
  aside = {};
}

const inControls = () => Object.fromEntries(new FormData(form));
form.reset(); // a browser that comes back to the page has its own idea of what was chosen
const atFirst = inControls();

function chosen() {
  const { q, system, beside, metric, against = metric, below, sort, object = "", captions = "", samples = "" } = inControls();
  const systems = system === "" ? Array.from(data.systems.keys())
    : [...new Set([system, beside || system])].map((name) => data.systems.indexOf(name));
  return {
    wanted: wantedIn(q),
    systems, rows: rowsOf(systems),
    metric: metricOf(metric),
    against: metricOf(against),
    below: below === "" ? null : Number(below),
    sort, object, captions, samples,
    ...aside,
    brush: brushOf(aside),
  };
}

// The ranges of two metrics that the address says; null if it says none.
function brushOf({ across, up, x = "..", y = ".." }) {
  if (metricOf(across) < 0 || metricOf(up) < 0) return null;
  const range = (text) => text.split("..").map((end) => (end === "" || Number.isNaN(Number(end)) ? null : Number(end)));
  return { across: metricOf(across), up: metricOf(up), x: range(x), y: range(y) };
}

// A metric is not held against itself.
function offerOtherMetrics() {
  const { metric, against } = form.elements;
  if (!against) return;
  for (const option of against.options) option.hidden = option.disabled = option.value === metric.value;
  if (against.value === metric.value || against.value === "")
    against.value = metric.value === atFirst.against ? atFirst.metric : atFirst.against;
}

const lastPage = () => Math.max(Math.ceil(found.length / PAGE_SIZE), 1);
const page = () => between(Math.floor(form.elements.page.valueAsNumber) || 1, 1, lastPage());

function update() {
  offerOtherMetrics();
  choice = chosen();
  const fitting = matching(choice);
  found = sorted(fitting.filter((image) => withCaptions.has(image)), choice);
  elsewhere = fitting.length - found.length;
  followMetric();
  show();
  if (many && plot.drawn) drawPlot();
}

function show() {
  form.elements.page.value = page();
  const shown = found.slice((page() - 1) * PAGE_SIZE, page() * PAGE_SIZE);
  hideTip();
  cards.replaceChildren(...shown.map(card));
  thumbnails.replaceChildren(...shown.filter((image) => image in pictures).map(thumbnail));
  markHits(cards, choice.wanted);
  describe(shown.length);
  remember();
}

const THING_SAID = { absent: "that make up", unconfirmed: "with an unconfirmed", says: "that mention" };
function describe(count) {
  const first = (page() - 1) * PAGE_SIZE + 1;
  const { image, thing, captions, half, brush } = choice;
  const { metrics } = data;
  const only = image ? [`image ${image}`] : [
    thing && THING_SAID[captions] && `captions ${THING_SAID[captions]} “${thing}”`,
    half && `captions with less than half of the best system’s ${metrics[choice.metric]}`,
    brush && `captions in the chosen part of ${metrics[brush.up]} against ${metrics[brush.across]}`,
  ].filter(Boolean);
  status.textContent = (count
    ? `${whole(found.length)} of ${whole(data.ids.length)} images; showing ${whole(first)} to ${whole(first + count - 1)}.`
    : "No image fits; remove a filter.")
    + (elsewhere ? ` ${whole(elsewhere)} more fit${elsewhere > 1 ? "" : "s"} whose captions are not in this page, but in the file of --output.` : "") + (only.length ? ` Only ${only.join(", and ")}; Reset shows all.` : "");
  const [metric, against] = [choice.metric, choice.against].map((of) => metrics[of]);
  order.textContent = orders[choice.sort].said(metric, against);
  pages.hidden = lastPage() === 1;
  pages.querySelector(".of").textContent = `of ${whole(lastPage())}`;
  form.elements.page.max = lastPage();
  pages.querySelector("[name=previous]").disabled = page() === 1;
  pages.querySelector("[name=next]").disabled = page() === lastPage();
}

function turnTo(wanted) {
  form.elements.page.value = wanted;
  show();
  reveal();
}

// The images are below what chooses them: they come to the top, with what is said of them.
function reveal() {
  title.focus({ preventScroll: true });
  status.scrollIntoView();
}

// The address says in names what the list shows, so that a link to it holds in a new report.

function remember() {
  const changed = Object.entries(inControls()).filter(([name, value]) => value !== atFirst[name]);
  const said = [...changed, ...Object.entries(aside)].filter(([, value]) => value);
  const { hash } = location;
  const wanted = said.length ? address(Object.fromEntries(said)) : hash.startsWith(BEGINNING) ? "#images" : hash;
  if (wanted !== hash) history.replaceState(null, "", wanted);
}

// Returns whether the address says what to show.
function recall() {
  if (!location.hash.startsWith(BEGINNING)) return false;
  clear();
  const asked = [...new URLSearchParams(location.hash.slice(BEGINNING.length).replaceAll("+", "%2B"))];
  for (const [name, value] of asked) {
    const control = form.elements.namedItem(name);
    if (ASIDE.includes(name)) aside[name] = value;
    if (!control) continue;
    const before = control.value;
    control.value = value;
    if (control.options && control.selectedIndex < 0) control.value = before;
  }
  update();
  if (asked.some(([name]) => name !== "metric")) reveal();
  plotAgain();
  return true;
}
