// A table that is wider than its column becomes a list of cards, each cell with its column's name.
// What a terminal shows is as small as its longest line needs.
const fit = () => {
    for (const shown of document.querySelectorAll("article .highlight-console pre")) {
        const columns = Math.max(...shown.textContent.split("\n").map((line) => line.length));
        shown.style.setProperty("--columns", columns);
    }
    for (const code of document.querySelectorAll("article :is(p, li, td) code")) {
        code.style.whiteSpace = code.textContent.length < 25 ? "nowrap" : "";
    }
    for (const table of document.querySelectorAll("article table.docutils")) {
        table.classList.remove("cards");
        const names = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent.trim());
        for (const row of table.querySelectorAll("tbody tr")) {
            [...row.cells].forEach((cell, column) => (cell.dataset.column = names[column] ?? ""));
        }
        const { clientWidth, scrollWidth } = table.parentElement;
        table.classList.toggle("cards", Math.max(scrollWidth, table.scrollWidth) > clientWidth + 1);
    }
};
addEventListener("load", fit);
addEventListener("resize", fit);
