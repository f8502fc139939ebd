// What all scripts share: the data of the page, numbers, elements.

const read = (id) => JSON.parse(document.getElementById(id).textContent);
const once = (make) => {
  let made;
  return () => (made ??= make());
};
const settings = read("settings");
const data = once(() => read("data"));
const plans = once(() => read("plans"));
const pictures = once(() => read("pictures"));
const boxes = once(() => read("boxes"));

// Numbers; formats.py writes those that are in the tables of the page the same, digit for digit.

const NONE = "–";
const fixed = (value, digits) =>
  (Math.floor(value * 10 ** digits + 0.5) / 10 ** digits).toFixed(digits);
const short = (value) => String(Math.floor(value * 10 + 0.5) / 10);
const scoreText = (value) =>
  value === null ? NONE : value > 0 && value < 0.001 ? "<0.001" : fixed(value, 3);
const signed = (value) => {
  const text = fixed(Math.abs(value), 3);
  return Number(text) === 0 ? text : (value > 0 ? "+" : "−") + text;
};
const correlationText = (value) => {
  if (Number.isNaN(value)) return NONE;
  const text = fixed(Math.abs(value), 2).replace(/^0/, "");
  return (value < 0 && text !== ".00" ? "−" : "") + text;
};
const whole = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u2009");
const grouped = (numbers, size) =>
  Array.from({ length: numbers.length / size }, (_, i) => numbers.slice(i * size, (i + 1) * size));
const times = (count) => (count > 1 ? ` ×${count}` : "");
const encoded = (text) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, "?"));
const link = (id) => `#images?image=${encoded(id)}`;
const isNumber = (value) => value !== null;

// Elements: captions only ever become text, never markup.

function element(namespace, tag, attributes, ...children) {
  const node = document.createElementNS(namespace, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.flat());
  return node;
}
const html = element.bind(null, "http://www.w3.org/1999/xhtml");
const svg = element.bind(null, "http://www.w3.org/2000/svg");

// Says of what is wider than its place that there is more to the right.
function listenToWidths() {
  const widths = new ResizeObserver((entries) => entries.forEach(({ target }) => sideways(target)));
  for (const part of document.querySelectorAll("main > section > .scroll")) {
    part.before(html("p", { class: "sideways", hidden: "" }, "More to the right →"));
    part.addEventListener("scroll", () => sideways(part), { passive: true });
    widths.observe(part);
  }
}
const sideways = (part) => {
  part.previousSibling.hidden = part.scrollWidth - part.clientWidth - part.scrollLeft < 8;
};

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
