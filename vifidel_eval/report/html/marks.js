// Words of captions: how they are marked, and what supports them.

// What is known of a caption, in the numbers of plans.py.
function ofCaption(system, image) {
  const plan = plans().plans[system]?.[image];
  if (!plan) return null;
  const [objects, words, mentions, matches] = plan;
  return { objects, words, mentions, matches };
}
// The sentences of a caption of several, as sentences.py has them.
const sentencesOf = (system, image) => (plans().sentences?.[system]?.[image] ?? [])
  .map(([start, end, claims, p, hedged, invented]) => ({ start, end, claims, p,
    hedged: grouped(hedged, 2), invented: grouped(invented, 2) }));
const textOf = (text) => plans().texts[text];

// The first place of a word in a caption, to which words are sorted.
const placeIn = (caption) => {
  const lowered = caption.toLowerCase();
  return (text) => lowered.indexOf(text);
};

// What is said of a caption: its mentions, and then the words of which nothing is claimed.
function saidOf(system, image) {
  const { words, mentions } = ofCaption(system, image);
  const { labels, objects, captions } = data();
  const present = grouped(objects[image], 2).map(([label]) => label);
  const labelOf = (text) => present.find((label) => labels[label] === textOf(text));
  const place = placeIn(captions[system][image]);
  return [
    ...grouped(mentions, 5).map(([text, category, support, by, verdict]) => ({
      text: textOf(text), support, by: textOf(by), verdict,
      object: verdict === settings.there ? labelOf(by) ?? labelOf(category) : undefined,
    })),
    ...grouped(words, 5).filter(([, , , , mention]) => mention < 0)
      .map(([text, , support, by]) => ({ text: textOf(text), support, by: textOf(by), at: place(textOf(text)) }))
      .sort((a, b) => a.at - b.at),
  ];
}

const wordsOf = (text) => [...text.matchAll(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu)].map((word) =>
  ({ text: word[0].normalize("NFC").toLowerCase(), start: word.index, end: word.index + word[0].length }));

// Where they are in the caption: each mention once, in their order, and every occurrence of the
// other words outside these.
function marksOf(caption, said) {
  const words = wordsOf(caption);
  const marks = [];
  let at = 0;
  said.forEach(({ text, verdict }, which) => {
    const mention = verdict === undefined ? [] : wordsOf(text);
    const first = words.findIndex((_, place) => place >= at
      && mention.every((word, after) => words[place + after]?.text === word.text));
    if (!mention.length || first < 0) return;
    at = first + mention.length;
    marks.push({ start: words[first].start, end: words[at - 1].end, which });
  });
  for (const { text, start, end } of words) {
    const which = said.findIndex((one) => one.verdict === undefined && one.text === text);
    if (which >= 0 && !marks.some((mark) => start < mark.end && mark.start < end))
      marks.push({ start, end, which });
  }
  return marks.sort((a, b) => a.start - b.start);
}

// The caption with its words marked.
function marked(system, image) {
  const caption = data().captions[system][image];
  if (!ofCaption(system, image)) return [caption];
  const said = saidOf(system, image);
  const parts = [];
  let from = 0;
  for (const { start, end, which } of marksOf(caption, said)) {
    const mark = settings.marks[said[which].verdict] ?? "open";
    parts.push(caption.slice(from, start),
      html("span", { class: `said ${mark}`, "data-said": which }, caption.slice(start, end)));
    from = end;
  }
  return [...parts, caption.slice(from)];
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
        html("tbody", {}, said.map(({ text, support, by, verdict }) => html("tr", {},
          html("td", {}, text), html("td", {}, settings.verdicts[verdict] ?? "no claim"),
          html("td", { class: "number" }, supportText(support)), html("td", {}, by ?? NONE)))))));
}

const supportText = (support) => (support < 0 ? NONE : fixed(support / 100, 2));

// The tip beside a word. It stays while the pointer is on it, and Escape takes it away.

const tip = document.getElementById("tip");
let tipOf = null; // the word that the tip is about

const placeOf = (word) => ({
  system: Number(word.closest("[data-system]").dataset.system),
  image: Number(word.closest("[data-image]").dataset.image),
});

function tell({ text, support, by, verdict }) {
  const name = ["not judged", "in the image", "probably not in the image", "only supposed, and probably not in the image"][verdict] ?? "no claim";
  const near = by === undefined ? "Nothing is near in meaning." : [
    verdict === settings.there ? "Supported by " : "Nearest is ", html("b", {}, by),
    support < 0 ? "." : `, support ${supportText(support)}.`,
  ];
  return [html("span", { class: "verdict" }, `${text}: ${name}`), html("span", {}, near)];
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
  showBoxes(word, said.object ?? null);
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
