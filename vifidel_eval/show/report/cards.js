// The card of an image.

function card(image) {
  const { ids } = data;
  const heading = `image-${image}`;
  const pictured = image in pictures;
  return html("article", { class: "image", "aria-labelledby": heading, "data-image": image },
    html("header", {},
      html("h3", { id: heading }, html("a", { href: address({ image: ids[image] }) }, `Image ${ids[image]}`)),
      placeInOrder(image)),
    html("div", { class: pictured ? "scene pictured" : "scene" }, pictured ? frame(image) : [],
      html("div", { class: "gold" }, objectList(image),
        loose("Looked for and not there", (data.denied?.[image] ?? []).map((at) => data.deniedLabels[at])),
        referenceList(image))),
    candidateList(image));
}

// Captions of an image: two systems side by side, else each text once, with all who wrote it.
function candidateList(image) {
  const rows = captioned(image);
  const pair = choice.systems.length === 2 && form.elements.beside?.value;
  const groups = new Map();
  for (const row of rows) {
    const key = pair || data.samples ? row : data.captions[row][image];
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  const leaders = [...groups.values()].map(([row]) => row);
  return html("ul", { class: pair ? "candidates pair" : "candidates" }, [...groups.values()].map(([row, ...same], at) => {
    const item = candidate(row, image, ...scoresAndEvidence(row, image, owners[row] !== owners[leaders[at - 1]]));
    if (same.length) {
      const names = same.map((one) => rowName(one, image));
      item.querySelector("h4").append(html("small", { title: names.join(", ") },
        ` and ${names.length > 3 ? `${names.length} others` : names.join(", ")}`));
    }
    return item;
  }));
}

function thumbnail(image) {
  const [row] = captioned(image);
  const score = row === undefined ? NONE : briefText(data.scores[owners[row]][choice.metric][image]);
  const button = html("button", { type: "button" },
    html("img", { src: source(image), alt: `Image ${data.ids[image]}` }), ...(choice.systems.length === 1 ? [html("span", {}, score)] : []));
  button.addEventListener("click", () => focusCard(cards.querySelector(`[data-image="${image}"]`)));
  return html("li", {}, button);
}

function focusCard(node) {
  node.querySelector("h3 a").focus({ preventScroll: true });
  node.scrollIntoView();
}

// The keys: to the next image, on the next page too, and to the next system beside the chosen one.
function stepCard(step, node) {
  const next = step > 0 ? node.nextElementSibling : node.previousElementSibling;
  if (next) return focusCard(next);
  if (page() + step < 1 || page() + step > lastPage()) return undefined;
  turnTo(page() + step);
  return focusCard(step > 0 ? cards.firstElementChild : cards.lastElementChild);
}

function besideNext(step, node) {
  const { system, beside } = form.elements;
  if (!beside) return;
  const { length } = data.systems;
  if (!system.value) system.value = data.systems[settings.leaders[choice.metric]];
  const others = data.systems.filter((name) => name !== system.value);
  const at = others.indexOf(beside.value);
  beside.value = others[at < 0 ? (step > 0 ? 0 : length - 2) : (at + step + length - 1) % (length - 1)];
  const { page: shown } = form.elements;
  const { value } = shown;
  const { image } = node.dataset;
  update();
  shown.value = value;
  show();
  focusCard(cards.querySelector(`[data-image="${image}"]`) ?? cards.firstElementChild);
}

function frame(image) {
  return html("div", { class: "frame" },
    html("button", { type: "button", class: "enlarge", "aria-label": `Enlarge image ${data.ids[image]}` },
      html("img", { src: source(image), alt: "" })));
}

// Why the image comes where it does.
function placeInOrder(image) {
  const { value, onCard } = orders[choice.sort];
  const found = value(choice)(image);
  return onCard && !Number.isNaN(found) ? html("p", {}, onCard(found, image)) : [];
}

// Objects that have boxes are switches.
function objectList(image) {
  if (!data.labels.length) return [];
  const boxed = image in pictures ? boxesIn(image).map(({ label }) => label) : [];
  const chips = objectsIn(image).map(({ label, name, count }) => {
    const text = name + times(count);
    const button = html("button", { type: "button", title: "Show its boxes" }, text);
    return html("li", { "data-label": label },
      boxed.includes(label) ? switching(button, () => showBoxes(button, null)) : text);
  });
  return [html("h4", {}, "Objects"),
    chips.length ? html("ul", { class: "objects" }, chips) : html("p", { class: "none" }, "none")];
}

function referenceList(image) {
  const references = data.references[image];
  if (!references.length) return [];
  return [html("h4", {}, "References"), html("ul", { class: "references" },
    references.map((reference) => html("li", { dir: "auto" }, reference)))];
}

// Whether a caption is the best or worst sample of its image; nothing is of a metric without a direction.
function sampleIs(which, row, image, metric) {
  const column = data.metrics[metric].replace(/ (mean|best|worst)$/, ` ${which} sample`);
  return data.samples?.[owners[row]][column]?.[image] === sampleOf(row);
}

// The chosen rows of captions that describe an image.
function captioned(image) {
  const rows = choice.rows.filter((row) => data.captions[row][image] !== null);
  const chosen = rows.filter((row) => sampleIs(choice.samples, row, image, choice.metric));
  return chosen.length ? chosen : rows;
}

function rowName(row, image) {
  const name = data.systems[owners[row]];
  if (!data.samples) return name;
  const which = ["best", "worst"].filter((one) => sampleIs(one, row, image, choice.metric)).join(" and ");
  return `${name}, sample ${sampleOf(row) + 1}${which && ` (${which})`}`;
}

const candidate = (row, image, ...more) => html("li", { "data-row": row },
  html("h4", {}, rowName(row, image)),
  html("p", { class: "caption", dir: "auto" }, marked(row, image)), ...more);

// What is said of a candidate; scores are of all samples of a system together, and said once.
function scoresAndEvidence(row, image, isFirst) {
  const { metrics, scores } = data;
  const explained = ofCaption(row, image);
  const first = choice.sort === "metrics" ? [choice.metric, choice.against] : [choice.metric];
  const score = (i) => html("li", {}, html("span", {}, metrics[i]), " ",
    html("b", {}, scoreText(scores[owners[row]][i][image])));
  const others = [...metrics.keys()].filter((i) => !first.includes(i));
  return [
    !isFirst ? [] : html("ul", { class: "scores chosen" }, first.map(score)),
    explained ? verdictLists(row, image) : [],
    !isFirst || !others.length ? [] : html("details", { class: "others" }, html("summary", {}, "Other scores"),
      html("ul", { class: "scores" }, others.map(score))),
    sentenceDetails(row, image),
    explained ? wordDetails(row, image) : [],
    explained && data.labels.length ? planDetails() : [],
  ].flat();
}

const loose = (what, names) => names.length
  ? html("p", { class: "loose" }, html("span", {}, `${what}:`), ` ${names.join(", ")}`)
  : [];

// With samples, in how many of a system's captions of an image a thing is said, with the same verdict.
function saidIn(row, image, { category, verdict }) {
  if (!data.samples) return "";
  const rows = rowsOf([owners[row]]).filter((one) => data.captions[one][image] !== null);
  const saying = rows.filter((one) => ofCaption(one, image).mentions
    .some((mention) => mention.category === category && mention.verdict === verdict));
  return ` (${saying.length} of ${rows.length})`;
}

function verdictLists(row, image) {
  const { mentions } = ofCaption(row, image);
  const judged = (wanted) => [...new Set(mentions.filter(({ verdict }) => verdict === wanted)
    .map((mention) => mention.text + saidIn(row, image, mention)))];
  return [loose("Made up", judged(ABSENT)), loose("Wrong denials", judged(WRONG_DENIAL)),
    loose("Unconfirmed", judged(UNCONFIRMED)), loose("Missed", silentOf(row, image))];
}

// The sentences of a caption of several.
function sentenceDetails(row, image) {
  const sentences = plans.sentences?.[row]?.[image];
  if (!sentences) return [];
  const caption = data.captions[row][image];
  return html("details", { class: "sentences" }, html("summary", {}, "Sentences"),
    html("ol", {}, sentences.map((values) => {
      const { start, end, claims, p, inventions } = record("Sentence", values);
      return html("li", { dir: "auto" },
        withMarks(caption, start, end, records("Span", inventions),
          (_, words) => html("span", { class: "said absent" }, words)), " ",
        html("small", {}, claims ? (p < 0 ? "" : `P ${fixed(p / 100, 2)}`) : "claims nothing"));
    })));
}

// What was searched for is marked wherever a card says it, also across the words of a caption.
function markHits(node, wanted) {
  if (!wanted.length) return;
  const pattern = new RegExp(wanted.map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "gi");
  for (const part of node.querySelectorAll("h3, .caption, .objects li, .references li")) {
    const hits = [...part.textContent.matchAll(pattern)].map((hit) => [hit.index, hit.index + hit[0].length]);
    const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walker.nextNode()) nodes.push(walker.currentNode);
    let at = 0;
    for (const text of nodes) {
      const [begin, end] = [at, (at += text.data.length)];
      for (const [from, to] of hits.filter(([from, to]) => from < end && to > begin).reverse()) {
        const range = document.createRange();
        range.setStart(text, Math.max(from, begin) - begin);
        range.setEnd(text, Math.min(to, end) - begin);
        range.surroundContents(html("mark", { class: "hit" }));
      }
    }
  }
}
