// Words of captions: how they are marked, and what supports them.

const ofCaption = (system, image) => plans().plans[system]?.[image];
const textOf = (word) => (word < 0 ? NONE : plans().words[word]);

// What is said of a caption: (words, support, evidence, verdict, object), ... (images.py).
const saidOf = (system, image) => grouped(ofCaption(system, image)[2], 5);

// The caption with its words marked, as words.py has it. Marks count characters, of which some
// have two places in a string.
function marked(system, image) {
  const caption = data().captions[system][image];
  if (!ofCaption(system, image)) return [caption];
  const said = saidOf(system, image);
  const characters = [...caption];
  const parts = [];
  let end = 0;
  const add = (text, wrap) => text && parts.push(wrap ? wrap(text) : text);
  for (const [start, stop, at] of grouped(ofCaption(system, image)[4], 3)) {
    add(characters.slice(end, start).join(""));
    add(characters.slice(start, stop).join(""), (text) =>
      html("span", { class: `said ${settings.marks[said[at][3]]}`, "data-said": at }, text));
    end = stop;
  }
  add(characters.slice(end).join(""));
  return parts;
}

function wordDetails(system, image) {
  const said = saidOf(system, image);
  if (!said.length) return [];
  const head = (text, more) => html("th", { scope: "col", ...more }, text);
  return html("details", { class: "words" }, html("summary", {}, "Words"),
    html("div", { class: "scroll", role: "group", "aria-label": "Words and what supports them", tabindex: "0" },
      html("table", {},
        html("thead", {}, html("tr", {}, head("Words"), head("Verdict"),
          head("Support", { class: "number" }), head("Nearest evidence"))),
        html("tbody", {}, said.map(([words, support, by, verdict]) => html("tr", {},
          html("td", {}, textOf(words)), html("td", {}, settings.verdicts[verdict]),
          html("td", { class: "number" }, supportText(support)), html("td", {}, textOf(by))))))));
}

const supportText = (support) => (support < 0 ? NONE : fixed(support / 100, 2));

// The tip beside a word. It stays while the pointer is on it, and Escape takes it away.

const tip = document.getElementById("tip");
let tipOf = null; // the word that the tip is about

const placeOf = (word) => ({
  system: Number(word.closest("[data-system]").dataset.system),
  image: Number(word.closest("[data-image]").dataset.image),
});

function tell([words, support, by, verdict]) {
  const name = ["No claim", "Not judged", "In the image", "Probably not in the image"][verdict];
  const near = by < 0 ? "Nothing is near in meaning." : [
    verdict === 2 ? "Supported by " : "Nearest is ", html("b", {}, textOf(by)),
    support < 0 ? "." : `, support ${supportText(support)}.`,
  ];
  return [html("span", { class: "verdict" }, `${textOf(words)}: ${name.toLowerCase()}`), html("span", {}, near)];
}

function showTip(word) {
  if (word === tipOf) return;
  hideTip();
  const { system, image } = placeOf(word);
  const said = saidOf(system, image)[Number(word.dataset.said)];
  tipOf = word;
  tip.replaceChildren(...tell(said));
  // Above a dialog lies only what is inside it.
  (word.closest("dialog") ?? document.body).append(tip);
  tip.hidden = false;
  word.setAttribute("aria-describedby", "tip");
  const at = word.getClientRects()[0];
  const right = document.documentElement.clientWidth - tip.offsetWidth - 8;
  const left = Math.max(8, Math.min(at.left, right));
  const inside = tip.parentElement === document.body ? null : tip.parentElement;
  const origin = inside ? inside.getBoundingClientRect() : { left: 0, top: 0 };
  const [x, y] = inside ? [inside.scrollLeft - inside.clientLeft, inside.scrollTop - inside.clientTop] : [scrollX, scrollY];
  tip.style.left = `${left - origin.left + x}px`;
  tip.style.top = `${at.bottom + 4 - origin.top + y}px`;
  const place = said[4];
  showBoxes(word, place < 0 ? null : data().objects[image][3 * place]);
}

function hideTip() {
  if (!tipOf) return;
  tipOf.removeAttribute("aria-describedby");
  showBoxes(tipOf, null);
  tip.hidden = true;
  tipOf = null;
}

// One word of each caption is reached by the Tab key, the others by the arrow keys.
function liven(caption) {
  caption.querySelectorAll(".said").forEach((word, at) => {
    word.setAttribute("role", "button");
    word.tabIndex = at === 0 ? 0 : -1;
  });
}

function step(word, forward) {
  const words = [...word.closest(".caption").querySelectorAll(".said")];
  const next = words[words.indexOf(word) + (forward ? 1 : -1)];
  if (!next) return;
  word.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function listenToWords() {
  const wordAt = (event) => event.target.closest?.("[data-image] .said");
  const keeps = (node) => node && (tipOf?.contains(node) || tip.contains(node));
  document.addEventListener("pointerover", (event) => {
    const word = wordAt(event);
    if (word && event.pointerType !== "touch") showTip(word);
    else if (tipOf && !keeps(event.target) && document.activeElement !== tipOf) hideTip();
  });
  document.addEventListener("focusin", (event) => (wordAt(event) ? showTip(wordAt(event)) : hideTip()));
  document.addEventListener("click", (event) => {
    if (wordAt(event)) showTip(wordAt(event));
    else if (!keeps(event.target)) hideTip();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && tipOf) {
      hideTip();
      event.preventDefault(); // a dialog stays open
      return;
    }
    const word = wordAt(event);
    if (!word) return;
    if (["ArrowLeft", "ArrowRight"].includes(event.key)) {
      event.preventDefault();
      step(word, event.key === "ArrowRight");
    } else if (["Enter", " "].includes(event.key)) {
      event.preventDefault();
      showTip(word);
    }
  });
}
