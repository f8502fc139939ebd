// What the user has chosen: in the controls, in the address, and as the images shown.

const pages = section.querySelector(".pages");
const status = section.querySelector(".status");
const order = document.getElementById("order");
const title = document.getElementById("images-title");

let choice;
let found;
let page = 1;
// What no control of the list shows: a word or a class not in the image, a part of the plot, one image.
const aside = { word: "", thing: "", brush: null, image: null };

function chosen() {
  const { text, system, metric, below, sort, against, object, judged } = form.elements;
  const all = Array.from(data().systems.keys());
  return {
    wanted: wanted(text.value),
    systems: system.value === "" ? all : [Number(system.value)],
    metric: Number(metric.value),
    below: below.value === "" || Number.isNaN(below.valueAsNumber) ? null : below.valueAsNumber,
    sort: sort.value,
    against: against ? Number(against.value) : 0,
    object: object?.value ?? "",
    judged: judged?.value ?? "",
    ...aside,
  };
}

// A metric is not held against itself.
function offerOtherMetrics() {
  const { metric, against } = form.elements;
  if (!against) return;
  for (const option of against.options) option.hidden = option.disabled = option.value === metric.value;
  if (against.value === metric.value || against.value === "")
    against.value = Number(metric.value) === settings.against ? 0 : settings.against;
}

function find() {
  offerOtherMetrics();
  choice = chosen();
  found = sorted(matching(choice), choice);
  page = 1;
}

const lastPage = () => Math.max(Math.ceil(found.length / settings.pageSize), 1);

function show() {
  const { pageSize } = settings;
  page = Math.min(Math.max(page, 1), lastPage());
  const shown = found.slice((page - 1) * pageSize, page * pageSize);
  hideTip();
  cards.replaceChildren(...shown.map(card));
  markHits(cards, choice.wanted);
  describe(shown.length);
  remember();
}

function describe(count) {
  const first = (page - 1) * settings.pageSize + 1;
  const { metrics } = data();
  const only = [
    aside.image !== null && `image ${aside.image}`,
    aside.image === null && choice.judged === "absent" && aside.word && `captions in which “${aside.word}” is probably not in the image`,
    aside.image === null && choice.judged === "absent" && aside.thing && `captions that make up “${aside.thing}”`,
    aside.image === null && aside.brush && `captions in the chosen part of ${metrics[aside.brush.up]} against ${metrics[aside.brush.across]}`,
  ].filter(Boolean);
  status.textContent = (count
    ? `${whole(found.length)} of ${whole(data().ids.length)} images; shown are ${whole(first)} to ${whole(first + count - 1)}.`
    : "No image fits; take a filter away.") + (only.length ? ` Only ${only.join(", and ")}; Reset shows all.` : "");
  const [metric, against] = [choice.metric, choice.against].map((of) => metrics[of]);
  order.textContent = {
    inventions: "First the images of which most is made up.",
    systems: `First the images on which the ${metric} scores of all systems lie farthest apart.`,
    metrics: `First the images on which ${metric} and ${against} disagree most.`,
    worst: `First the images with the worst ${metric}.`,
    best: `First the images with the best ${metric}.`,
    given: "In the order of the references.",
  }[choice.sort];
  pages.hidden = lastPage() === 1;
  pages.querySelector(".of").textContent = `of ${whole(lastPage())}`;
  pages.querySelector("input").value = page;
  pages.querySelector("input").max = lastPage();
  pages.querySelector("[name=previous]").disabled = page === 1;
  pages.querySelector("[name=next]").disabled = page === lastPage();
}

function update() {
  find();
  show();
}

function turnTo(wanted) {
  page = wanted;
  show();
  reveal();
}

// The images are below what chooses them: they come to the top, with what is said of them.
function reveal() {
  title.focus({ preventScroll: true });
  status.scrollIntoView();
}

// Shows the images that something elsewhere on the page is about: `values` of controls, and what
// stands aside.
function showOnly(values, besides = {}) {
  clear();
  for (const [name, value] of Object.entries(values)) form.elements[name].value = value;
  Object.assign(aside, besides);
  update();
  reveal();
}

function clear() {
  form.reset();
  form.elements.sort.value = settings.sort;
  form.elements.metric.value = 0;
  if (form.elements.against) form.elements.against.value = settings.against;
  Object.assign(aside, { word: "", thing: "", brush: null, image: null });
}

// The address says in names what the list shows, so that a link to it holds in a new report.

const BEGINNING = "#images?";

function inNames() {
  const { systems, metrics } = data();
  const { text, below, sort, system, metric, against, object, judged } = form.elements;
  const range = (ends) => ends.map((end) => end ?? "").join("..");
  return {
    image: aside.image,
    q: text.value,
    system: system.value && systems[system.value],
    metric: metric.value !== "0" && metrics[metric.value],
    against: against && Number(against.value) !== settings.against && metrics[against.value],
    below: below.value,
    object: object?.value,
    captions: judged?.value,
    word: judged?.value === "absent" && aside.word,
    thing: judged?.value === "absent" && aside.thing,
    across: aside.brush && metrics[aside.brush.across],
    up: aside.brush && metrics[aside.brush.up],
    x: aside.brush && range(aside.brush.x),
    y: aside.brush && range(aside.brush.y),
    sort: sort.value !== settings.sort && sort.value,
    page: page > 1 && page,
  };
}

function remember() {
  const given = Object.entries(inNames()).filter(([, value]) => value || value === 0);
  const query = given.map(([name, value]) => `${name}=${encoded(String(value))}`).join("&");
  const address = query ? BEGINNING + query : location.hash.startsWith(BEGINNING) ? "#images" : location.hash;
  if (address !== location.hash) history.replaceState(null, "", address || "#images");
}

// Returns whether the address says what to show.
function recall() {
  if (!location.hash.startsWith(BEGINNING)) return false;
  const given = new URLSearchParams(location.hash.slice(BEGINNING.length).replaceAll("+", "%2B"));
  const { systems, metrics } = data();
  const range = (name) => {
    const ends = (given.get(name) ?? "..").split("..").map((end) => (end === "" ? null : Number(end)));
    return [ends[0] ?? null, ends[1] ?? null].map((end) => (Number.isNaN(end) ? null : end));
  };
  clear();
  const set = (control, value) => {
    const field = form.elements[control];
    if (!field || value === null || value === -1) return;
    const before = field.value;
    field.value = value;
    if (field.options && field.selectedIndex < 0) field.value = before;
  };
  set("text", given.get("q"));
  set("system", systems.indexOf(given.get("system")));
  set("metric", metrics.indexOf(given.get("metric")));
  set("against", metrics.indexOf(given.get("against")));
  set("below", given.get("below"));
  set("object", given.get("object"));
  set("judged", given.get("captions"));
  set("sort", given.get("sort"));
  aside.word = given.get("word") ?? "";
  aside.thing = given.get("thing") ?? "";
  aside.image = given.get("image");
  const [across, up] = [metrics.indexOf(given.get("across")), metrics.indexOf(given.get("up"))];
  if (across >= 0 && up >= 0) aside.brush = { across, up, x: range("x"), y: range("y") };
  find();
  page = Math.floor(Number(given.get("page"))) || 1;
  show();
  reveal();
  return true;
}
