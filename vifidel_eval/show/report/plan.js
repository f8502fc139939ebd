// Transport plans: a picture and a table, drawn when they are opened.

// Matches with their ends: objects, and words with their rank in the caption.
function planOf(row, image) {
  const { objects, words, mentions, matches } = ofCaption(row, image);
  const countOf = new Map(objectsIn(image).map(({ name, count }) => [name, count]));
  const things = objects.map((thing) =>
    ({ ...thing, count: countOf.get(thing.text), loose: thing.silent === 1 }));
  const said = words.map((word) => ({ ...word, loose: mentions[word.mention]?.verdict >= ABSENT }));
  [...said].sort(inOrderOf(data.captions[row][image])).forEach((word, rank) => (word.rank = rank));
  return matches.map(({ object, word, mass, cost }) => ({ thing: things[object], word: said[word], mass, cost }));
}

// Of a plan with more rows, the costliest are shown at first.
const MOST_ROWS = 10;

function planDetails() {
  const details = html("details", { class: "plan" }, html("summary", {}, "Transport plan"));
  details.addEventListener("toggle", () => fillPlan(details), { once: true });
  return details;
}

function fillPlan(details) {
  const [row, image] = placeOf(details);
  const matches = planOf(row, image);
  if (!matches.length) {
    details.append(html("p", { class: "none" }, "No transport plan: no usable word or no usable object."));
    return;
  }
  const drawn = html("div", { class: "drawn" });
  const costliest = [...matches].sort((a, b) => b.mass * b.cost - a.mass * a.cost);
  const draw = (all) => drawn.replaceChildren(
    drawPlan(all ? matches : costliest.slice(0, MOST_ROWS)), planTable(costliest, all ? matches.length : MOST_ROWS));
  const few = ofCaption(row, image).words.length <= MOST_ROWS || matches.length <= MOST_ROWS;
  draw(few);
  details.append(drawn);
  if (few) return;
  const button = html("button", { type: "button", class: "more" }, `Show all ${matches.length} rows`);
  details.append(switching(button, draw));
}

function drawPlan(matches) {
  const { unit, shades } = settings;
  // Objects whose words are early come first, so that few lines cross.
  const sum = (moved, of) => moved.reduce((total, match) => total + of(match), 0);
  const rankOf = (thing) => {
    const moved = matches.filter((match) => match.thing === thing);
    return sum(moved, ({ word, mass }) => mass * word.rank) / sum(moved, ({ mass }) => mass);
  };
  const drawnThings = [...new Set(matches.map(({ thing }) => thing))].sort((a, b) => rankOf(a) - rankOf(b));
  const drawnWords = [...new Set(matches.map(({ word }) => word))].sort((a, b) => a.rank - b.rank);
  const height = Math.max(drawnThings.length, drawnWords.length) * 26 + 12;
  const heights = (drawn) => new Map(drawn.map((end, at) => [end, (height * (at + 0.5)) / drawn.length]));
  const [left, right] = [heights(drawnThings), heights(drawnWords)];
  const line = ({ thing, word, mass, cost }) => {
    const [from, to] = [short(left.get(thing)), short(right.get(word))];
    return svg("path", {
      class: `shade${Math.min(Math.floor((cost * shades) / plans.scale), shades - 1)}`,
      "stroke-width": short(Math.max(mass * unit * 16, 1)),
      d: `M120 ${from}C170 ${from} 170 ${to} 220 ${to}`,
    });
  };
  const end = (side, x, y, { text, count, loose }) =>
    svg("text", { class: loose ? `${side} loose` : side, x, y: short(y + 4) }, cut(text) + times(count));
  return svg("svg", {
    viewBox: `0 0 340 ${height}`, role: "img",
    "aria-label": "Objects on the left joined to words on the right; the table beside it lists the same lines.",
  },
  matches.map(line),
  drawnThings.map((thing) => end("object", 112, left.get(thing), thing)),
  drawnWords.map((word) => end("word", 228, right.get(word), word)));
}

function cut(text) {
  const characters = [...text];
  return characters.length <= 16 ? text : `${characters.slice(0, 15).join("")}…`;
}

// Contributions are whole numbers of a step, and what rounding takes from one row it gives to the
// next, so that they add up to the distance as shown.
function planTable(matches, most) {
  const { unit } = settings;
  const named = ({ text, penalty }) =>
    html("td", {}, `${text} `, html("small", {}, `ρ ${fixed(penalty * unit, 3)}`));
  const size = Math.round(1e-4 / unit ** 2);
  const rounded = (total) => Math.floor(total / size + 0.5);
  const shown = (before, after) => fixed((rounded(after) - rounded(before)) / 1e4, 4);
  let total = 0;
  const rows = matches.map(({ thing, word, mass, cost }) => {
    const before = total;
    total += mass * cost;
    return { after: total, row: html("tr", {}, named(thing), named(word),
      numberCell(`${fixed(100 * (mass * unit), 1)} %`), numberCell(fixed(cost * unit, 4)),
      numberCell(shown(before, total))) };
  });
  const kept = rows.slice(0, most);
  const others = rows.length - kept.length;
  const foot = (text, value) => html("tr", {}, html("th", { scope: "row", colspan: "4" }, text), numberCell(value));
  return html("div", { class: "scroll", role: "group", "aria-label": "Transport plan as a table", tabindex: "0" },
    tooled(
      html("thead", {}, html("tr", {}, ["Object", "Word"].map(headCell),
        ["Mass", "Cost", "Mass × cost"].map(numberHead))),
      html("tbody", {}, kept.map(({ row }) => row)),
      html("tfoot", {},
        others > 0 ? foot(`${others} other rows`, shown(kept.at(-1).after, total)) : [],
        foot("Distance", shown(0, total)))));
}
