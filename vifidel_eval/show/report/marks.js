// Words of captions: how they are marked, and what supports them.

// The verdicts on mentions, by their numbers in content.py: how words are marked, what the table of
// words says, and what the tip says.
const VERDICTS = [
  ["unjudged", "unconfirmed", "unconfirmed", ": nobody looked for it, and no reference has it"],
  ["there", "there", "in the image"],
  ["absent", "made up", "made up"],
  ["absent", "wrong denial", "wrong denial"],
].map(([mark, name, label, more = ""]) => ({ mark, name, label, said: label + more }));
const NO_CLAIM = { mark: "open", name: "not checked", said: "not checked" };
const verdictOf = ({ verdict }) => VERDICTS[verdict] ?? NO_CLAIM;
const [UNCONFIRMED, THERE, ABSENT, WRONG_DENIAL] = [0, 1, 2, 3];

const textOf = (text) => plans.texts[text];

// What is known of a caption, with texts instead of their numbers; undefined where nothing is.
const TEXTS = ["text", "category", "by", "judge", "fits"];
function ofCaption(row, image) {
  const values = plans.plans[row]?.[image];
  if (!values) return undefined;
  const plan = record("Plan", values);
  const withTexts = (kind, numbers) => records(kind, numbers).map((found) => {
    for (const name of TEXTS) if (name in found) found[name] = textOf(found[name]);
    return found;
  });
  return {
    get objects() { return withTexts("PlanObject", plan.objects); },
    get words() { return withTexts("PlanWord", plan.words); },
    get mentions() { return withTexts("PlanMention", plan.mentions); },
    get matches() { return records("PlanMatch", plan.matches); },
  };
}
const silentOf = (row, image) => (ofCaption(row, image)?.objects ?? [])
  .filter(({ silent }) => silent).map(({ text }) => text);

// Sorts words by their first places in a caption.
function inOrderOf(caption) {
  const lowered = caption.toLowerCase();
  return (one, other) => lowered.indexOf(one.text) - lowered.indexOf(other.text);
}

// What is said of a caption: its mentions, and then the words of which nothing is claimed.
function saidOf(row, image) {
  const { words, mentions } = ofCaption(row, image);
  const labelOf = (text) => objectsIn(image).find(({ name }) => name === text)?.label;
  return [
    ...mentions.map((one) => (one.verdict === THERE
      ? { ...one, object: labelOf(one.by) ?? labelOf(one.category) } : one)),
    ...words.filter(({ mention }) => mention < 0).sort(inOrderOf(data.captions[row][image])),
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

// Part of a text, with what `make` makes of each mark instead of its words.
function withMarks(text, start, end, marks, make) {
  const parts = [];
  let from = start;
  for (const mark of marks) {
    parts.push(text.slice(from, mark.start), make(mark, text.slice(mark.start, mark.end)));
    from = mark.end;
  }
  return [...parts, text.slice(from, end)];
}

// The caption with its words marked. The Tab key reaches the first one, the arrow keys the others.
function marked(row, image) {
  const caption = data.captions[row][image];
  if (!ofCaption(row, image)) return [caption];
  const said = saidOf(row, image);
  const marks = marksOf(caption, said);
  return withMarks(caption, 0, caption.length, marks, (mark, words) => {
    const verdict = verdictOf(said[mark.which]);
    return html("span", {
      class: `said ${verdict.mark}`, "data-said": mark.which, role: "button", tabindex: mark === marks[0] ? 0 : -1,
      "aria-label": verdict === NO_CLAIM ? words : `${words}, ${verdict.label}`,
    }, words);
  });
}

// The table of words is made when it is asked for.
function wordDetails(row, image) {
  const { words, mentions } = ofCaption(row, image);
  if (!words.length && !mentions.length) return [];
  const details = html("details", { class: "words" }, html("summary", {}, "Words"));
  details.addEventListener("toggle", () => details.append(wordTable(saidOf(row, image))), { once: true });
  return details;
}

const wordTable = (said) =>
  html("div", { class: "scroll", role: "group", "aria-label": "Words and what supports them", tabindex: "0" }, tooled(
    html("thead", {}, html("tr", {}, headCell("Words"), headCell("Verdict"),
      numberHead("Support"), headCell("Nearest evidence"))),
    html("tbody", {}, said.map((one) => html("tr", {},
      html("td", {}, one.text), html("td", {}, fitting(one) ?? verdictOf(one).name),
      numberCell(supportText(one.support)), html("td", {}, one.by ?? NONE))))));

// What a kind of thing fits: a pony, a horse.
const fitting = ({ fits }) => fits && `fits: ${fits}`;

const supportText = (support) => (support < 0 ? NONE : fixed(support / 100, 2));

// The tip beside a word. It stays while the pointer is on it, and Escape takes it away.

const tip = document.getElementById("tip");
let tipOf = null; // the word that the tip is about

// The row and the image that a node is about.
const placeOf = (node) => [node.closest("[data-row]").dataset.row, node.closest("[data-image]").dataset.image]
  .map(Number);

function tell(one) {
  const near = one.by === undefined ? "Nothing is near in meaning." : [
    one.verdict === THERE ? "Supported by " : "Nearest is ", html("b", {}, one.by),
    one.support < 0 ? "." : `, support ${supportText(one.support)}.`,
  ];
  const judge = one.judge === "references" ? " Judged by: references." : "";
  return [html("span", { class: "verdict" }, fitting(one) ? `${one.text} ${fitting(one)}` : `${one.text}: ${verdictOf(one).said}`), html("span", {}, near, judge)];
}

function showTip(word) {
  if (word === tipOf) return;
  hideTip();
  const said = saidOf(...placeOf(word))[Number(word.dataset.said)];
  tipOf = word;
  tip.replaceChildren(...tell(said));
  // Above a dialog lies only what is inside it.
  (word.closest("dialog") ?? document.body).append(tip);
  tip.hidden = false;
  word.setAttribute("aria-describedby", "tip");
  placeTip();
  showBoxes(word, said.object ?? null);
}

function placeTip() {
  if (!tipOf) return;
  const at = tipOf.getClientRects()[0];
  const right = document.documentElement.clientWidth - tip.offsetWidth - 8;
  tip.style.left = `${Math.max(8, Math.min(at.left, right))}px`;
  tip.style.top = `${at.bottom + 4}px`;
}

function hideTip() {
  if (!tipOf) return;
  tipOf.removeAttribute("aria-describedby");
  showBoxes(tipOf, null);
  tip.hidden = true;
  tipOf = null;
}

function step(word, by) {
  const words = [...word.closest(".caption").querySelectorAll(".said")];
  const next = words[words.indexOf(word) + by];
  if (!next) return;
  word.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

const wordAt = (event) => event.target.closest?.("[data-image] .said");
const keeps = (node) => node && (tipOf?.contains(node) || tip.contains(node));
const steps = { ArrowLeft: -1, ArrowRight: 1 };
for (const type of ["pointerover", "focusin", "click"]) {
  document.addEventListener(type, (event) => {
    const word = wordAt(event);
    const hovers = type === "pointerover";
    if (word && !(hovers && event.pointerType === "touch")) showTip(word);
    else if (!keeps(event.target) && !(hovers && document.activeElement === tipOf)) hideTip();
  });
}
document.addEventListener("keydown", (event) => {
  const word = wordAt(event);
  if (event.key === "Escape" && tipOf) hideTip(); // a dialog stays open
  else if (word && event.key in steps) step(word, steps[event.key]);
  else if (word && ["Enter", " "].includes(event.key)) showTip(word);
  else return;
  event.preventDefault();
});
document.addEventListener("scroll", placeTip, { capture: true, passive: true });
