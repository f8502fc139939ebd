// The card of an image.

function card(image) {
  const { ids, captions } = data();
  const heading = `image-${image}`;
  const captioned = choice.systems.filter((system) => captions[system][image] !== null);
  const pictured = image in pictures();
  const node = html("article", { class: "image", "aria-labelledby": heading, "data-image": image },
    html("header", {}, html("h3", { id: heading }, html("a", { href: link(ids[image]) }, `Image ${ids[image]}`)),
      apartText(image)),
    html("div", { class: pictured ? "scene pictured" : "scene" }, pictured ? frame(image) : [],
      html("div", { class: "gold" }, objectList(image),
        loose("Looked for and not there", deniedIn(image)), referenceList(image))),
    html("ul", { class: "candidates" }, captioned.map((system) => candidate(system, image))));
  node.querySelectorAll(".caption").forEach(liven);
  livenObjects(node);
  for (const plan of node.querySelectorAll("details.plan"))
    plan.addEventListener("toggle", () => fillPlan(plan), { once: true });
  return node;
}

function frame(image) {
  const id = data().ids[image];
  return html("div", { class: "frame" },
    html("button", { type: "button", class: "enlarge", "aria-label": `Enlarge image ${id}` },
      html("img", { src: source(image), alt: "" })));
}

function apartText(image) {
  const text = apartTexts[choice.sort]?.(image);
  return text ? html("p", {}, text) : [];
}

const apartTexts = {
  inventions(image) {
    const things = -sortKeys.inventions(choice)(image);
    if (Number.isNaN(things)) return "";
    return things ? `${things} thing${things > 1 ? "s" : ""} made up` : "nothing made up";
  },
  systems(image) {
    const apart = -sortKeys.systems(choice)(image);
    return Number.isNaN(apart) ? "" : `${fixed(apart, 3)} apart`;
  },
  metrics(image) {
    const apart = metricsApart(choice)(image);
    if (Number.isNaN(apart)) return "";
    const names = [choice.metric, choice.against].map((metric) => data().metrics[metric]);
    const [above, below] = apart >= 0 ? names : names.reverse();
    const points = fixed(100 * Math.abs(apart), 0);
    return points === "0" ? "equal ranks" : `${above} ${points} point${points === "1" ? "" : "s"} above ${below}`;
  },
};

function objectList(image) {
  const { labels, objects } = data();
  if (!labels.length) return [];
  if (!objects[image].length) return [html("h4", {}, "Objects"), html("p", { class: "none" }, "none")];
  return [html("h4", {}, "Objects"), html("ul", { class: "objects" }, grouped(objects[image], 2)
    .map(([label, count]) => html("li", { "data-label": label }, labels[label] + times(count))))];
}

const deniedIn = (image) => (data().denied?.[image] ?? []).map((at) => data().deniedLabels[at]);

function referenceList(image) {
  const references = data().references[image];
  if (!references.length) return [];
  return [html("h4", {}, "References"), html("ul", { class: "references" },
    references.map((reference) => html("li", { dir: "auto" }, reference)))];
}

function candidate(system, image) {
  const { systems, metrics, scores } = data();
  const explained = ofCaption(system, image);
  const chosenMetrics = choice.sort === "metrics" ? [choice.metric, choice.against] : [choice.metric];
  return html("li", { "data-system": system },
    html("h4", {}, systems[system]),
    html("p", { class: "caption", dir: "auto" }, marked(system, image)),
    explained ? [loose("Probably not in the image", absentOf(system, image)),
      loose("Only supposed", supposedOf(system, image)),
      loose("Not mentioned", silentOf(system, image))] : [],
    html("ul", { class: "scores" }, metrics.map((of, i) =>
      html("li", chosenMetrics.includes(i) ? { class: "chosen" } : {},
        html("span", {}, of), " ", html("b", {}, scoreText(scores[system][i][image]))))),
    sentenceDetails(system, image),
    explained ? wordDetails(system, image) : [],
    explained && data().labels.length
      ? html("details", { class: "plan" }, html("summary", {}, "Transport plan")) : []);
}

const loose = (what, names) => names.length
  ? html("p", { class: "loose" }, html("span", {}, `${what}:`), ` ${names.join(", ")}`)
  : [];

function sentenceDetails(system, image) {
  const sentences = sentencesOf(system, image);
  if (!sentences.length) return [];
  const caption = data().captions[system][image];
  return html("details", { class: "sentences" }, html("summary", {}, "Sentences"),
    html("ol", {}, sentences.map(({ start, end, claims, p, hedged, invented }) => {
      const parts = [];
      let from = start;
      const cuts = [...hedged.map(([a, b]) => [a, b, "hedged"]), ...invented.map(([a, b]) => [a, b, "said absent"])];
      for (const [a, b, mark] of cuts.sort((one, other) => one[0] - other[0])) {
        parts.push(caption.slice(from, a), html("span", { class: mark }, caption.slice(a, b)));
        from = b;
      }
      return html("li", { dir: "auto" }, parts, caption.slice(from, end), " ",
        html("small", {}, claims ? (p < 0 ? "" : `P ${fixed(p / 100, 2)}`) : "claims nothing"));
    })));
}

const mentionsOf = (system, image, wanted) => [...new Set(grouped(ofCaption(system, image).mentions, 5)
  .filter(([, , , , verdict]) => verdict === wanted).map(([text]) => textOf(text)))];
const absentOf = (system, image) => mentionsOf(system, image, settings.absent);
const supposedOf = (system, image) => {
  const claimed = absentOf(system, image);
  return mentionsOf(system, image, settings.supposed).filter((text) => !claimed.includes(text));
};
const silentOf = (system, image) => grouped(ofCaption(system, image)?.objects ?? [], 3)
  .filter(([, , silent]) => silent).map(([text]) => textOf(text));

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
      const cuts = hits.filter(([from, to]) => from < end && to > begin)
        .map(([from, to]) => [Math.max(from, begin) - begin, Math.min(to, end) - begin]);
      for (const [from, to] of cuts.reverse()) {
        const range = document.createRange();
        range.setStart(text, from);
        range.setEnd(text, to);
        range.surroundContents(html("mark", { class: "hit" }));
      }
    }
  }
}
