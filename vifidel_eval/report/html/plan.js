// Transport plans: a picture and a table, drawn when they are opened.

function planOf(system, image) {
  const numbers = ofCaption(system, image);
  if (!numbers) return null;
  const { labels, objects } = data();
  const things = grouped(objects[image], 3).map(([label, count, penalty]) =>
    ({ text: labels[label], count, penalty }));
  const words = grouped(numbers[0], 3).map(([word, penalty, absent]) =>
    ({ text: plans().words[word], penalty, loose: Boolean(absent) }));
  return { things, words, looseThings: numbers[3], matches: grouped(numbers[1], 4) };
}

function fillPlan(details) {
  const system = Number(details.closest("[data-system]").dataset.system);
  const image = Number(details.closest("[data-image]").dataset.image);
  const plan = planOf(system, image);
  if (!plan.matches.length) {
    details.append(html("p", { class: "none" }, "No transport plan: no usable word or no usable object."));
    return;
  }
  const drawn = html("div", { class: "drawn" });
  const most = settings.mostRows;
  const draw = (all) => drawn.replaceChildren(
    drawPlan(plan, all ? plan.matches : costliest(plan.matches, most)),
    planTable(plan, all ? plan.matches.length : most));
  draw(plan.words.length <= most);
  details.append(drawn);
  if (plan.words.length <= most || plan.matches.length <= most) {
    draw(true);
    return;
  }
  const button = html("button", { type: "button", class: "more", "aria-pressed": "false" },
    `Show all ${plan.matches.length} rows`);
  button.addEventListener("click", () => {
    const all = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", all);
    draw(all);
  });
  details.append(button);
}

function costliest(matches, most) {
  const cost = ([, , mass, each]) => mass * each;
  const first = new Set([...matches].sort((a, b) => cost(b) - cost(a)).slice(0, most));
  return matches.filter((match) => first.has(match));
}

function drawPlan({ things, words, looseThings }, matches) {
  const { unit, shades } = settings;
  const ends = (place) => [...new Set(matches.map((match) => match[place]))];
  const drawnThings = ends(0);
  const drawnWords = ends(1).sort((a, b) => a - b);
  const height = Math.max(drawnThings.length, drawnWords.length) * 26 + 12;
  const heights = (drawn) => new Map(drawn.map((end, at) => [end, (height * (at + 0.5)) / drawn.length]));
  const [left, right] = [heights(drawnThings), heights(drawnWords)];
  const line = ([thing, word, mass, cost]) => {
    const [from, to] = [short(left.get(thing)), short(right.get(word))];
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
    "aria-label": "Objects on the left joined to words on the right; the table beside it lists the same lines.",
  },
  matches.map(line),
  drawnThings.map((at) => end("object", 112, left.get(at), looseThings.includes(at),
    cut(things[at].text) + times(things[at].count))),
  drawnWords.map((at) => end("word", 228, right.get(at), words[at].loose, cut(words[at].text))));
}

function cut(text) {
  const characters = [...text];
  return characters.length <= 16 ? text : `${characters.slice(0, 15).join("")}…`;
}

// The costliest rows first. Contributions are whole numbers of a step, and what rounding takes from
// one row it gives to the next, so that they add up to the distance as shown.
function planTable({ things, words, matches }, most) {
  const { unit } = settings;
  const head = (text) => html("th", { scope: "col" }, text);
  const numberHead = (text) => html("th", { scope: "col", class: "number" }, text);
  const number = (text) => html("td", { class: "number" }, text);
  const named = ({ text, penalty }) =>
    html("td", {}, `${text} `, html("small", {}, `ρ ${fixed(penalty * unit, 3)}`));
  const size = Math.round(1e-4 / unit ** 2);
  const rounded = (total) => Math.floor(total / size + 0.5);
  const shown = (before, after) => fixed((rounded(after) - rounded(before)) / 1e4, 4);
  let total = 0;
  const rows = costliest(matches, matches.length)
    .sort((a, b) => b[2] * b[3] - a[2] * a[3])
    .map(([thing, word, mass, cost]) => {
      const before = total;
      total += mass * cost;
      return { after: total, row: html("tr", {}, named(things[thing]), named(words[word]),
        number(`${fixed(100 * (mass * unit), 1)} %`), number(fixed(cost * unit, 4)),
        number(shown(before, total))) };
    });
  const kept = rows.slice(0, most);
  const others = rows.length - kept.length;
  const foot = (text, value) => html("tr", {}, html("th", { scope: "row", colspan: "4" }, text), number(value));
  return html("div", { class: "scroll", role: "group", "aria-label": "Transport plan as a table", tabindex: "0" },
    html("table", {},
      html("thead", {}, html("tr", {}, ["Object", "Word"].map(head),
        ["Mass", "Cost", "Mass × cost"].map(numberHead))),
      html("tbody", {}, kept.map(({ row }) => row)),
      html("tfoot", {},
        others > 0 ? foot(`${others} other rows`, shown(kept.at(-1).after, total)) : [],
        foot("Distance", shown(0, total)))));
}
