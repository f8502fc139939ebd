// Tables: a click on a header sorts, and buttons below copy them as CSV, Markdown or LaTeX.

const phone = matchMedia("(max-width: 40rem)");
const isMissing = (text) => text === "" || text === NONE;
const numberIn = (text) => parseFloat(text.replace(/^[#+]/, "").replace("−", "-").replaceAll("\u2009", ""));

// The text of a cell without what is beside its value: intervals, ranks, remarks.
function textIn(cell) {
  const copy = cell.cloneNode(true);
  for (const beside of copy.querySelectorAll("small, .rank, .range-text, .open-row, svg")) beside.remove();
  return copy.textContent.trim().replace(/\s+/g, " ");
}

function sortBy(head) {
  for (const row of document.querySelectorAll(".opened")) row.remove();
  const [table, at] = [head.closest("table"), head.cellIndex];
  const rows = [...table.tBodies[0].rows].map((row) => ({ row, text: textIn(row.cells[at] ?? row) }));
  const known = rows.filter(({ text }) => !isMissing(text));
  const isNumber = known.every(({ row, text }) => row.cells[at]?.tagName === "TD" && !Number.isNaN(numberIn(text)));
  // Texts from A to Z, numbers from the largest; then the other way round.
  const before = head.getAttribute("aria-sort");
  const upwards = before ? before === "descending" : !isNumber;
  const compare = isNumber ? (one, other) => numberIn(one.text) - numberIn(other.text)
    : (one, other) => one.text.localeCompare(other.text, "en", { numeric: true });
  known.sort((one, other) => (upwards ? compare(one, other) : compare(other, one)));
  table.tBodies[0].append(...[...known, ...rows.filter(({ text }) => isMissing(text))].map(({ row }) => row));
  for (const one of table.tHead.querySelectorAll("th")) one.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", upwards ? "ascending" : "descending");
}

const LATEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "–": "--", "−": "$-$",
  "≤": "$\\leq$", "†": "\\dag{}", "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}" };
const line = (cells, from, between, to) => from + cells.join(between) + to;
const FORMATS = {
  CSV: (rows) => rows.map((row) => row.map((text) => {
    const value = isMissing(text) ? "" : text.replace(/^−(?=[\d.])/, "-");
    const safe = /^[=+\-@\t]/.test(value) && !/^[+-]?[\d.]+%?$/.test(value) ? `'${value}` : value; // no formula
    return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }).join(",")).join("\n"),
  Markdown: ([head, ...rows], isNumber) => {
    const [first, ...rest] = [head, ...rows].map((row) =>
      line(row.map((text) => text.replace(/[\\|`*_<[\]]/g, "\\$&")), "| ", " | ", " |"));
    return [first, line(isNumber.map((of) => (of ? "--:" : ":--")), "|", "|", "|"), ...rest].join("\n");
  },
  LaTeX: (rows, isNumber) => {
    const [head, ...body] = rows.map((row) => line(row.map((text) =>
      text.replace(/[&%$#_{}]/g, "\\$&").replace(/\\(?![&%$#_{}])|[~^–−≤†<>|]/g, (mark) => LATEX[mark])), "", " & ", " \\\\"));
    return ["% In the preamble: \\usepackage{booktabs}",
      `\\begin{tabular}{${isNumber.map((of) => (of ? "r" : "l")).join("")}}`,
      "\\toprule", head, "\\midrule", ...body, "\\bottomrule", "\\end{tabular}"].join("\n");
  },
};

function tableAs(format, table) {
  const rows = [...table.rows].filter((row) => !row.closest("[aria-hidden]") && !row.matches(".opened")).map((row) => [...row.cells].flatMap((cell) =>
    [textIn(cell), ...Array(cell.colSpan - 1).fill("")]));
  const isNumber = rows[0].map((_, at) => rows.slice(1).some((row) => !Number.isNaN(numberIn(row[at] ?? "")))
    && table.tBodies[0].rows[0]?.cells[at]?.tagName === "TD");
  return `${FORMATS[format](rows, isNumber)}\n`;
}

async function copyTable(button) {
  const bar = button.parentElement;
  let said = "Copied.";
  try {
    await navigator.clipboard.writeText(tableAs(button.textContent, bar.previousElementSibling));
  } catch {
    said = "This browser does not let a page copy: select the table instead.";
  }
  bar.lastChild.textContent = said;
}

// Gives a table, which may be filled later or again, its buttons.
function equip(table) {
  for (const head of table.tHead?.rows[0]?.cells ?? []) {
    if (!head.querySelector("button"))
      head.replaceChildren(html("button", { type: "button", class: "sort" }, [...head.childNodes]));
  }
  for (const head of table.matches(".ranking, .standings") && phone.matches ? table.querySelectorAll("tbody th") : []) {
    if (!head.querySelector("button")) head.append(" ", html("button", { type: "button", class: "open-row", "aria-label": "Open the rest" }, "+"));
  }
  if (!table.nextElementSibling?.matches(".copy")) {
    table.after(html("p", { class: "copy" }, "Copy as ", Object.keys(FORMATS).flatMap((format) =>
      [html("button", { type: "button" }, format), " "]), html("span", { role: "status" })));
  }
  return table;
}

// A table that a script makes, with its buttons.
function tooled(...parts) {
  const around = new DocumentFragment();
  around.append(html("table", {}, parts));
  equip(around.firstChild);
  return [...around.childNodes];
}

// On a phone a ranking, and all scores, show few columns; its rows open the rest below them.
function openRow(head) {
  const row = head.closest("tr");
  if (row.nextElementSibling?.matches(".opened")) return row.nextElementSibling.remove();
  const names = [...row.closest("table").tHead.rows[0].cells];
  const rest = [...row.cells].filter((cell) => cell.matches(".rest")).map((cell) =>
    html("div", {}, html("dt", {}, names[cell.cellIndex].textContent), html("dd", {}, cell.textContent.trim() || NONE)));
  return row.after(html("tr", { class: "opened" }, html("td", { colspan: row.cells.length }, html("dl", {}, rest))));
}

// Those of the page after it is painted.
setTimeout(() => document.querySelectorAll("table").forEach(equip));
document.addEventListener("click", ({ target }) => {
  const button = target.closest?.("button");
  const head = target.closest?.(":is(.ranking, .standings) tbody th");
  if (head && phone.matches) openRow(head);
  if (button?.matches(".sort")) sortBy(button.closest("th"));
  else if (button?.matches(".copy > button")) copyTable(button);
});
