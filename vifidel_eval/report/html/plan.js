// Transport plans: a picture and a table, drawn when they are opened.

// Matches with their ends: objects, and words with their rank in the caption.
function planOf(system, image) {
  const { objects, words, mentions, matches } = ofCaption(system, image);
  const { labels, objects: counts, captions } = data();
  const countOf = new Map(grouped(counts[image], 2).map(([label, count]) => [labels[label], count]));
  const things = grouped(objects, 3).map(([text, penalty, silent]) =>
    ({ text: textOf(text), count: countOf.get(textOf(text)), penalty, loose: Boolean(silent) }));
  const place = placeIn(captions[system][image]);
  const said = grouped(words, 5).map(([text, penalty, , , mention]) => ({
    text: textOf(text), penalty, loose: mentions[5 * mention + 4] === settings.absent, at: place(textOf(text)),
  }));
  [...said].sort((a, b) => a.at - b.at).forEach((word, rank) => (word.rank = rank));
  return grouped(matches, 4).map(([thing, word, mass, cost]) =>
    ({ thing: things[thing], word: said[word], mass, cost }));
}

function fillPlan(details) {
  const system = Number(details.closest("[data-system]").dataset.system);
  const image = Number(details.closest("[data-image]").dataset.image);
  const matches = planOf(system, image);
  if (!matches.length) {
    details.append(html("p", { class: "none" }, "No transport plan: no usable word or no usable object."));
    return;
  }
  const drawn = html("div", { class: "drawn" });
  const most = settings.mostRows;
  const few = ofCaption(system, image).words.length / 5 <= most || matches.length <= most;
  const draw = (all) => drawn.replaceChildren(
    drawPlan(all ? matches : costliest(matches).slice(0, most)),
    planTable(costliest(matches), all ? matches.length : most));
  draw(few);
  details.append(drawn);
  if (few) return;
  const button = html("button", { type: "button", class: "more", "aria-pressed": "false" },
    `Show all ${matches.length} rows`);
  button.addEventListener("click", () => {
    const all = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", all);
    draw(all);
  });
  details.append(button);
}

const costliest = (matches) => [...matches].sort((a, b) => b.mass * b.cost - a.mass * a.cost);

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
      class: `shade${Math.min(Math.floor((cost * shades) / plans().scale), shades - 1)}`,
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

// The costliest rows first. Contributions are whole numbers of a step, and what rounding takes from
// one row it gives to the next, so that they add up to the distance as shown.
function planTable(matches, most) {
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
  const rows = matches.map(({ thing, word, mass, cost }) => {
    const before = total;
    total += mass * cost;
    return { after: total, row: html("tr", {}, named(thing), named(word),
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
