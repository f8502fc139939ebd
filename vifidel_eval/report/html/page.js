"use strict";
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const once = (make) => {
    let made;
    return () => (made ??= make());
  };
  const settings = read("settings");
  const data = once(() => read("data"));
  const plans = once(() => read("plans"));
  const thumbnails = once(() => read("thumbnails"));

  const section = document.getElementById("images");
  const form = section.querySelector(".controls");
  const cards = document.getElementById("cards");
  const pages = section.querySelector(".pages");
  const status = section.querySelector(".status");
  const order = document.getElementById("order");

  // Numbers, digit for digit as formats.py writes them.

  const fixed = (value, digits) =>
    (Math.floor(value * 10 ** digits + 0.5) / 10 ** digits).toFixed(digits);
  const short = (value) => String(Math.floor(value * 10 + 0.5) / 10);
  const scoreText = (value) =>
    value === null ? "–" : value > 0 && value < 0.001 ? "<0.001" : fixed(value, 3);
  const grouped = (numbers, size) =>
    Array.from({ length: numbers.length / size }, (_, i) => numbers.slice(i * size, (i + 1) * size));
  const times = (count) => (count > 1 ? ` ×${count}` : "");

  // Elements: captions only ever become text, never markup.

  function element(namespace, tag, attributes, ...children) {
    const node = document.createElementNS(namespace, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children.flat());
    return node;
  }
  const html = element.bind(null, "http://www.w3.org/1999/xhtml");
  const svg = element.bind(null, "http://www.w3.org/2000/svg");

  // One image, as images.html.j2 has it.

  function card(image) {
    const { systems: shownSystems } = choice;
    const { ids, systems, captions } = data();
    const heading = `image-${image}`;
    const captioned = shownSystems.filter((system) => captions[system][image] !== null);
    return html("article", { class: "image", "aria-labelledby": heading },
      html("header", {}, html("h3", { id: heading }, `Image ${ids[image]}`), apartText(image)),
      html("div", { class: "scene" }, thumbnail(image), html("div", { class: "gold" }, gold(image))),
      html("ul", { class: "candidates" },
        captioned.map((system) => candidate(systems[system], system, image))));
  }

  function apartText(image) {
    const text = apartTexts[choice.sort]?.(image);
    return text ? html("p", {}, text) : [];
  }

  const apartTexts = {
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

  function thumbnail(image) {
    if (!(image in thumbnails())) return [];
    const source = `data:image/jpeg;base64,${thumbnails()[image]}`;
    return html("img", { src: source, alt: `Image ${data().ids[image]}` });
  }

  function gold(image) {
    const { labels, objects, references } = data();
    const nodes = [];
    if (labels.length) nodes.push(html("h4", {}, "Objects"));
    if (objects[image].length) {
      nodes.push(html("ul", { class: "objects" }, grouped(objects[image], 3).map(
        ([label, count]) => html("li", {}, labels[label] + times(count)))));
    } else if (labels.length) {
      nodes.push(html("p", { class: "none" }, "none"));
    }
    if (references[image].length) {
      nodes.push(html("h4", {}, "References"), html("ul", { class: "references" },
        references[image].map((reference) => html("li", { dir: "auto" }, reference))));
    }
    return nodes;
  }

  function candidate(name, system, image) {
    const { metrics, captions, scores } = data();
    const plan = planOf(system, image);
    const chosenMetrics = choice.sort === "metrics" ? [choice.metric, choice.against] : [choice.metric];
    return html("li", {},
      html("h4", {}, name),
      html("p", { class: "caption", dir: "auto" }, plan ? marked(captions[system][image], plan.marks) : captions[system][image]),
      plan ? [loose("Probably not in the image", plan.hallucinated), loose("Not mentioned", plan.unmentioned)] : [],
      html("ul", { class: "scores" }, metrics.map((of, i) =>
        html("li", chosenMetrics.includes(i) ? { class: "chosen" } : {},
          html("span", {}, of), " ", html("b", {}, scoreText(scores[system][i][image]))))),
      plan ? [wordDetails(plan), planDetails(plan)] : []);
  }

  // Marks count characters, of which some have two places in a string (plans.py: _marked).
  function marked(caption, marks) {
    const characters = [...caption];
    const ends = [0, ...marks, characters.length];
    return ends.slice(1)
      .map((end, at) => [characters.slice(ends[at], end).join(""), at % 2 === 1])
      .filter(([text]) => text)
      .map(([text, absent]) => (absent ? html("mark", {}, text) : text));
  }

  // What supports each word, as images.html.j2 has it; only when it is opened.
  function wordDetails({ spoken }) {
    if (!spoken.length) return [];
    const details = html("details", { class: "words" }, html("summary", {}, "Words"));
    const text = (word) => (word < 0 ? "–" : plans().words[word]);
    const fill = () => details.append(
      html("div", { class: "scroll", role: "group", "aria-label": "Words and what supports them", tabindex: "0" },
        html("table", {},
          html("thead", {}, html("tr", {}, ["Words", "Verdict"].map((name) => html("th", { scope: "col" }, name)),
            html("th", { scope: "col", class: "number" }, "Support"), html("th", { scope: "col" }, "Nearest evidence"))),
          html("tbody", {}, spoken.map(([words, support, by, verdict]) => html("tr", {},
            html("td", {}, text(words)), html("td", {}, settings.verdicts[verdict]),
            html("td", { class: "number" }, support < 0 ? "–" : fixed(support / 100, 2)), html("td", {}, text(by))))))));
    details.addEventListener("toggle", fill, { once: true });
    return details;
  }

  const loose = (what, names) => names.length
    ? html("p", { class: "loose" }, html("span", {}, `${what}:`), ` ${names.join(", ")}`)
    : [];

  // A transport plan, as plans.py draws it; the picture only when it is opened.

  function planOf(system, image) {
    const numbers = plans().plans[system]?.[image];
    if (!numbers) return null;
    const { labels, objects } = data();
    const things = grouped(objects[image], 3).map(([label, count, penalty]) =>
      ({ text: labels[label], count, penalty }));
    const ofWords = grouped(numbers[0], 5);
    const words = ofWords.map(([word, penalty, , , verdict]) =>
      ({ text: plans().words[word], penalty, loose: verdict === settings.absent }));
    const [, matches, mentioned, unmentioned, marks] = numbers;
    const mentions = grouped(mentioned, 4);
    const others = ofWords.filter(([, , , , verdict]) => !verdict)
      .map(([word, , support, by, verdict]) => [word, support, by, verdict]);
    return {
      things, words, looseThings: unmentioned, marks,
      matches: grouped(matches, 4),
      spoken: [...mentions, ...others],
      hallucinated: [...new Set(mentions.filter(([, , , verdict]) => verdict === settings.absent)
        .map(([text]) => plans().words[text]))],
      unmentioned: unmentioned.map((at) => things[at].text),
    };
  }

  function planDetails(plan) {
    const details = html("details", { class: "plan" }, html("summary", {}, "Transport plan"));
    const fill = () => details.append(plan.matches.length
      ? html("div", { class: "drawn" }, drawPlan(plan), planTable(plan))
      : html("p", { class: "none" }, "No transport plan: no usable word or no usable object."));
    details.addEventListener("toggle", fill, { once: true });
    return details;
  }

  function drawPlan({ things, words, matches, looseThings }) {
    const { unit, shades } = settings;
    const drawn = [...new Set(matches.map(([thing]) => thing))];
    const height = Math.max(drawn.length, words.length) * 26 + 12;
    const left = new Map(drawn.map((thing, at) => [thing, (height * (at + 0.5)) / drawn.length]));
    const right = words.map((_, at) => (height * (at + 0.5)) / words.length);
    const line = ([thing, word, mass, cost]) => {
      const [from, to] = [short(left.get(thing)), short(right[word])];
      return svg("path", {
        class: `shade${Math.min(Math.floor((cost * shades) / plans().scale), shades - 1)}`,
        "stroke-width": short(Math.max(mass * unit * 16, 1)),
        d: `M120 ${from}C170 ${from} 170 ${to} 220 ${to}`,
      });
    };
    const end = (side, x, y, isLoose, text) =>
      svg("text", { class: isLoose ? `${side} loose` : side, x, y: short(y + 4) }, text);
    return svg("svg", {
      viewBox: `0 0 340 ${height}`, role: "img",
      "aria-label": "Objects on the left joined to words on the right; the table beside it lists every line.",
    },
    matches.map(line),
    drawn.map((at) => end("object", 112, left.get(at), looseThings.includes(at),
      cut(things[at].text) + times(things[at].count))),
    words.map(({ text, loose }, at) => end("word", 228, right[at], loose, cut(text))));
  }

  function cut(text) {
    const characters = [...text];
    return characters.length <= 16 ? text : `${characters.slice(0, 15).join("")}…`;
  }

  function planTable({ things, words, matches }) {
    const { unit } = settings;
    const head = (text) => html("th", { scope: "col" }, text);
    const numberHead = (text) => html("th", { scope: "col", class: "number" }, text);
    const number = (text) => html("td", { class: "number" }, text);
    const named = ({ text, penalty }) =>
      html("td", {}, `${text} `, html("small", {}, `ρ ${fixed(penalty * unit, 3)}`));
    // In whole numbers, and what rounding takes from one row it gives to the next (plans.py: _shown).
    const step = Math.round(1e-4 / unit ** 2);
    const rounded = (total) => Math.floor(total / step + 0.5);
    let total = 0;
    const rows = matches.map(([thing, word, mass, cost]) => {
      const before = rounded(total);
      total += mass * cost;
      return html("tr", {}, named(things[thing]), named(words[word]),
        number(`${fixed(100 * (mass * unit), 1)} %`), number(fixed(cost * unit, 4)),
        number(fixed((rounded(total) - before) / 1e4, 4)));
    });
    return html("div", { class: "scroll", role: "group", "aria-label": "Transport plan as a table", tabindex: "0" },
      html("table", {},
        html("thead", {}, html("tr", {}, ["Object", "Word"].map(head),
          ["Mass", "Cost", "Mass × cost"].map(numberHead))),
        html("tbody", {}, rows),
        html("tfoot", {}, html("tr", {},
          html("th", { scope: "row", colspan: "4" }, "Distance"), number(fixed(rounded(total) / 1e4, 4))))));
  }

  // Which images, in which order.

  const texts = once(() => {
    const { ids, labels, objects, references, captions } = data();
    return ids.map((id, image) => ({
      common: [id, ...grouped(objects[image], 3).map(([label]) => labels[label]), ...references[image]]
        .join("\n").toLowerCase(),
      candidates: captions.map((ofSystem) => (ofSystem[image] ?? "").toLowerCase()),
    }));
  });

  // The share of all defined scores that are worse, ties half (images.py: percentile_ranks).
  const ranks = [];
  function percentileRanks(metric) {
    return (ranks[metric] ??= (() => {
      const { scores } = data();
      const ordered = Float64Array.from(
        scores.flatMap((ofSystem) => ofSystem[metric].filter((score) => score !== null))).sort();
      const rankOf = new Map();
      for (let start = 0, end = 0; start < ordered.length; start = end) {
        while (end < ordered.length && ordered[end] === ordered[start]) end += 1;
        const twice = data().lowerIsBetter[metric] ? 2 * ordered.length - start - end : start + end;
        rankOf.set(ordered[start], twice / (2 * ordered.length));
      }
      return scores.map((ofSystem) =>
        ofSystem[metric].map((score) => (score === null ? null : rankOf.get(score))));
    })());
  }

  const defined = (values) => values.filter((value) => value !== null);

  const sortKeys = {
    systems({ metric }) {
      const { scores } = data();
      return (image) => {
        const found = defined(scores.map((ofSystem) => ofSystem[metric][image]));
        return found.length > 1 ? Math.min(...found) - Math.max(...found) : NaN;
      };
    },
    metrics: (wanted) => {
      const apart = metricsApart(wanted);
      return (image) => -Math.abs(apart(image));
    },
    worst: ({ metric, systems }) => extreme(metric, systems, !data().lowerIsBetter[metric]),
    best: ({ metric, systems }) => extreme(metric, systems, data().lowerIsBetter[metric]),
    given: () => (image) => image,
  };

  // The largest difference between the two ranks of a caption, above 0 where the first is higher.
  function metricsApart({ metric, against, systems }) {
    const [one, other] = [percentileRanks(metric), percentileRanks(against)];
    return (image) => systems
      .filter((system) => one[system][image] !== null && other[system][image] !== null)
      .map((system) => one[system][image] - other[system][image])
      .reduce((most, apart) => (Math.abs(apart) <= Math.abs(most) ? most : apart), NaN);
  }

  function extreme(metric, systems, lowestFirst) {
    const { scores } = data();
    const [pick, sign] = lowestFirst ? [Math.min, 1] : [Math.max, -1];
    return (image) => {
      const found = defined(systems.map((system) => scores[system][metric][image]));
      return found.length ? sign * pick(...found) : NaN;
    };
  }

  function matching({ words, below, metric, systems, finding }) {
    const { ids, scores, captions } = data();
    return Array.from(ids.keys()).filter((image) => {
      if (finding && !planOf(finding.system, image)?.[finding.kind].includes(finding.what)) return false;
      if (!systems.some((system) => captions[system][image] !== null)) return false;
      if (below !== null && !systems.some((system) => {
        const score = scores[system][metric][image];
        return score !== null && score < below;
      })) return false;
      if (!words.length) return true;
      const { common, candidates } = texts()[image];
      return words.every((word) => common.includes(word)
        || systems.some((system) => candidates[system].includes(word)));
    });
  }

  function sorted(images, choice) {
    const key = sortKeys[choice.sort](choice);
    const keys = new Map(images.map((image) => [image, key(image)]));
    const [last, rest] = [images.filter((i) => Number.isNaN(keys.get(i))), images.filter((i) => !Number.isNaN(keys.get(i)))];
    return [...rest.sort((a, b) => keys.get(a) - keys.get(b) || a - b), ...last];
  }

  // The controls.

  function chosen() {
    const { text, system, metric, below, sort, against } = form.elements;
    const all = Array.from(data().systems.keys());
    return {
      words: text.value.toLowerCase().split(/\s+/).filter(Boolean),
      systems: system.value === "" ? all : [Number(system.value)],
      metric: Number(metric.value),
      below: below.value === "" ? null : below.valueAsNumber,
      sort: sort.value,
      against: against ? Number(against.value) : 0,
      finding,
    };
  }

  const grid = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u2009");

  let choice;
  let found;
  let finding = null; // the word or object of "Words and objects" that all images shown are about
  let page = 1;

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

  function show() {
    const { pageSize } = settings;
    const last = Math.max(Math.ceil(found.length / pageSize), 1);
    page = Math.min(Math.max(page, 1), last);
    const shown = found.slice((page - 1) * pageSize, page * pageSize);
    cards.replaceChildren(...shown.map(card));
    describe(shown.length, last);
  }

  function describe(count, last) {
    const first = (page - 1) * settings.pageSize + 1;
    const about = finding ? ` Only those of ${finding.text}; Reset shows all.` : "";
    status.textContent = (count
      ? `${grid(found.length)} of ${grid(data().ids.length)} images; shown are ${grid(first)} to ${grid(first + count - 1)}.`
      : "No image fits; take a filter away.") + about;
    const [metric, against] = [choice.metric, choice.against].map((of) => data().metrics[of]);
    order.textContent = {
      systems: `First the images on which the ${metric} scores of all systems lie farthest apart.`,
      metrics: `First the images on which ${metric} and ${against} disagree most.`,
      worst: `First the images with the worst ${metric}.`,
      best: `First the images with the best ${metric}.`,
      given: "In the order of the references.",
    }[choice.sort];
    pages.hidden = last === 1;
    pages.querySelector(".of").textContent = `of ${grid(last)}`;
    pages.querySelector("input").value = page;
    pages.querySelector("input").max = last;
    pages.querySelector("[name=previous]").disabled = page === 1;
    pages.querySelector("[name=next]").disabled = page === last;
  }

  function update() {
    find();
    show();
  }

  function turnTo(wanted) {
    page = wanted;
    show();
    document.getElementById("images-title").focus();
  }

  // A word or object of "Words and objects" shows the images that it is about.
  function findOnClick(text) {
    const button = html("button", { type: "button", class: "find" }, text.textContent);
    button.addEventListener("click", () => {
      const { find: what, kind, system } = text.dataset;
      const where = kind === "hallucinated" ? "probably not in the image" : "not mentioned";
      form.elements.text.value = "";
      form.elements.below.value = "";
      form.elements.system.value = system;
      finding = { what, kind, system: Number(system), text: `${data().systems[system]}, ${where}: ${what}` };
      update();
      document.getElementById("images-title").focus();
    });
    text.replaceChildren(button);
  }

  function start() {
    form.elements.sort.value = settings.sort;
    find();
    // The first page is there already.
    describe(Math.min(found.length, settings.pageSize), Math.max(Math.ceil(found.length / settings.pageSize), 1));
    for (const part of [form, status]) part.hidden = false;
    document.querySelectorAll("[data-find]").forEach(findOnClick);
    let typing;
    form.addEventListener("input", (event) => {
      if (event.target.name === "system") finding = null;
      clearTimeout(typing);
      typing = setTimeout(update, event.target.name === "text" ? 200 : 0);
    });
    form.elements.open?.addEventListener("click", () =>
      cards.querySelectorAll("details.plan").forEach((plan) => (plan.open = true)));
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(() => {
      form.elements.sort.value = settings.sort;
      finding = null;
      update();
    }));
    pages.querySelector("[name=previous]").addEventListener("click", () => turnTo(page - 1));
    pages.querySelector("[name=next]").addEventListener("click", () => turnTo(page + 1));
    pages.querySelector("input").addEventListener("change", (event) => turnTo(Math.floor(event.target.valueAsNumber) || 1));
  }

  start();
})();
