// What all scripts share: the data of the page, numbers, elements.

const [settings, data, plans, pictures, boxes] = ["settings", "data", "plans", "pictures", "boxes"]
  .map((id) => JSON.parse(document.getElementById(id).textContent));

// Records of a kind: schema.py says which numbers they have in which order.
const { fields } = settings;
const record = (kind, values, start = 0) => {
  const named = {};
  fields[kind].forEach((name, at) => { named[name] = values[start + at]; });
  return named;
};
const records = (kind, numbers) => Array.from({ length: numbers.length / fields[kind].length },
  (_, at) => record(kind, numbers, at * fields[kind].length));

// Numbers; overview.py writes those that are in the tables of the page the same, digit for digit.

const NONE = "–";
const fixed = (value, digits) =>
  (Math.floor(value * 10 ** digits + 0.5) / 10 ** digits).toFixed(digits);
const short = (value) => String(Math.floor(value * 10 + 0.5) / 10);
const DECIMALS = 4;
const scoreText = (value) => (value === null ? NONE : fixed(value, DECIMALS));
// With three decimals and no 0 before the point, as overview.py's `brief`.
const briefText = (value) => (value < 0 ? "-" : "") + fixed(Math.abs(value), Math.abs(value) < 10 ? 3 : 1).replace(/^0/, "");
const signed = (value) => {
  const text = fixed(Math.abs(value), DECIMALS);
  return Number(text) === 0 ? text : (value > 0 ? "+" : "-") + text;
};
const whole = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u2009");
const counted = (number, noun) => `${whole(number)} ${noun}${number === 1 ? "" : "s"}`;
const times = (count) => (count > 1 ? ` ×${count}` : "");
const isNumber = (value) => value !== null;
const between = (value, low, high) => Math.min(Math.max(value, low), high);

// Where the list shows certain images: the values of its controls by their names.
const BEGINNING = "#images?";
const address = (values) => BEGINNING + Object.entries(values)
  .map(([name, value]) => `${name}=${encodeURIComponent(value.replace(/\p{Surrogate}/gu, "?"))}`).join("&");

// Whether the page has the captions of an image: of very many, only some.
const withCaptions = new Set(data.listed ?? data.ids.keys());

// The objects of an image.
const objectsIn = (image) => records("LabelCount", data.objects[image])
  .map((object) => ({ ...object, name: data.labels[object.label] }));

// Rows of captions: one of each system or, of samples, as many as it has.
const owners = data.owners ?? Array.from(data.systems.keys());
const rowsOf = (systems) => Array.from(owners.keys()).filter((row) => systems.includes(owners[row]));
const sampleOf = (row) => row - owners.indexOf(owners[row]);

// Elements: captions only ever become text, never markup.

function element(namespace, tag, attributes, ...children) {
  const node = document.createElementNS(namespace, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.flat());
  return node;
}
const html = element.bind(null, "http://www.w3.org/1999/xhtml");
const svg = element.bind(null, "http://www.w3.org/2000/svg");
const headCell = (text) => html("th", { scope: "col" }, text);
const numberHead = (text) => html("th", { scope: "col", class: "number" }, text);
const numberCell = (text) => html("td", { class: "number" }, text);

// Makes a button a switch, which is off at first.
function switching(button, act) {
  button.ariaPressed = "false";
  button.addEventListener("click", () => {
    button.ariaPressed = String(button.ariaPressed !== "true");
    act(button.ariaPressed === "true");
  });
  return button;
}

// Says of what is wider than its place that there is more to the right; the line keeps its place, so that
// nothing moves from below a finger.
const sideways = (part) => {
  const more = part.scrollWidth - part.clientWidth;
  part.previousSibling.hidden = more < 20; // more than the padding of a cell
  part.previousSibling.style.visibility = more - part.scrollLeft < 20 ? "hidden" : "visible";
};
const widths = new ResizeObserver((entries) => entries.forEach(({ target }) => sideways(target)));
for (const part of document.querySelectorAll("main .scroll")) {
  part.before(html("p", { class: "sideways", hidden: "" }, "More to the right →"));
  part.addEventListener("scroll", () => sideways(part), { passive: true });
  widths.observe(part);
}

// Calls a function when a node first comes near to what is in sight.
function whenSeen(node, act) {
  new IntersectionObserver((entries, observer) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    act();
  }, { rootMargin: "300px" }).observe(node);
}

const section = document.getElementById("images");
const form = section.querySelector(".controls");
const cards = document.getElementById("cards");
