// Scores by object category: the images of which objects a system does badly on.

function categoriesOf(metric, system) {
  const { labels, objects, scores, lowerIsBetter } = data();
  const sums = new Map();
  let [total, defined] = [0, 0];
  scores[system][metric].forEach((score, image) => {
    if (score === null) return;
    total += score;
    defined += 1;
    const silent = silentOf(system, image);
    for (const [label] of grouped(objects[image], 2)) {
      if (!sums.has(label)) sums.set(label, { sum: 0, images: 0, silent: 0 });
      const ofLabel = sums.get(label);
      ofLabel.sum += score;
      ofLabel.images += 1;
      ofLabel.silent += silent.includes(labels[label]);
    }
  });
  const sign = lowerIsBetter[metric] ? -1 : 1;
  // Sums differ in their last digits with the order of images: nine digits decide.
  const rounded = (value) => Math.floor(value * 1e9 + 0.5);
  return [...sums].filter(([, { images }]) => images >= settings.fewest)
    .map(([label, { sum, images, silent }]) => ({
      label: labels[label], images, mean: sum / images,
      apart: sign * (sum / images - total / defined), leftOut: silent / images,
    }))
    .sort((a, b) => rounded(a.apart) - rounded(b.apart) || (a.label < b.label ? -1 : 1));
}

function listenToCategories() {
  const part = document.getElementById("categories");
  if (!part) return;
  const { metric, all } = part.querySelector("form").elements;
  const number = (text) => html("td", { class: "number" }, text);
  const fill = () => {
    const most = all.getAttribute("aria-pressed") === "true" ? Infinity : settings.mostCategories;
    for (const table of part.querySelectorAll("table.categories")) {
      const { system } = table.dataset;
      const rows = categoriesOf(Number(metric.value), Number(system)).slice(0, most).map((row) => html("tr", {},
        html("th", { scope: "row" }, html("span", { "data-object": row.label, "data-system": system }, row.label)),
        number(whole(row.images)), number(scoreText(row.mean)), number(signed(row.apart)),
        number(`${fixed(100 * row.leftOut, 0)} %`)));
      table.tBodies[0].replaceChildren(...(rows.length ? rows : [html("tr", {}, html("td", { colspan: "5" }, "none"))]));
    }
    // An object shows the images with it, the worst of the system first.
    for (const text of part.querySelectorAll("[data-object]"))
      becomeButton(text, ({ object, system }) => showOnly({ object, system, metric: metric.value, sort: "worst" }));
  };
  whenSeen(part, fill);
  addEventListener("beforeprint", fill);
  metric.addEventListener("input", fill);
  all.addEventListener("click", () => {
    const pressed = all.getAttribute("aria-pressed") !== "true";
    all.setAttribute("aria-pressed", pressed);
    fill();
  });
  part.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
}

function becomeButton(text, act) {
  const button = html("button", { type: "button", class: "find" }, text.textContent);
  button.addEventListener("click", () => act(text.dataset));
  text.replaceChildren(button);
}
