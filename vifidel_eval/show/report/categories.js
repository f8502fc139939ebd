// Scores by object category: the images of which objects a system does badly on.

function categoriesOf(metric, system) {
  const { scores, lowerIsBetter } = data;
  const sums = new Map();
  let [total, defined] = [0, 0];
  scores[system][metric].forEach((score, image) => {
    if (score === null) return;
    total += score;
    defined += 1;
    const silent = silentOf(system, image);
    for (const { name } of objectsIn(image)) {
      const { sum, images, leftOut } = sums.get(name) ?? { sum: 0, images: 0, leftOut: 0 };
      sums.set(name, { sum: sum + score, images: images + 1, leftOut: leftOut + silent.includes(name) });
    }
  });
  const sign = lowerIsBetter[metric] ? -1 : 1;
  // Sums differ in their last digits with the order of images: nine digits decide.
  const rounded = (value) => Math.floor(value * 1e9 + 0.5);
  return [...sums].filter(([, { images }]) => images >= settings.fewest)
    .map(([name, { sum, images, leftOut }]) => ({
      name, images, mean: sum / images, apart: sign * (sum / images - total / defined), leftOut: leftOut / images,
    }))
    .sort((a, b) => rounded(a.apart) - rounded(b.apart) || (a.name < b.name ? -1 : 1));
}

const MOST_CATEGORIES = 8; // at first
const byCategory = document.getElementById("categories");
if (byCategory) {
  const { metric, all } = byCategory.querySelector("form").elements;
  const fill = () => {
    const most = all.ariaPressed === "true" ? Infinity : MOST_CATEGORIES;
    for (const table of byCategory.querySelectorAll("table.categories")) {
      const system = Number(table.dataset.system);
      // An object shows the images with it, the worst of the system first.
      const href = (object) => address({ system: data.systems[system], metric: metric.value, object, sort: "worst" });
      const rows = categoriesOf(metricOf(metric.value), system).slice(0, most).map((row) => html("tr", {},
        html("th", { scope: "row" }, html("a", { class: "find", href: href(row.name) }, row.name)),
        numberCell(whole(row.images)), numberCell(scoreText(row.mean)), numberCell(signed(row.apart)),
        numberCell(`${fixed(100 * row.leftOut, 0)} %`)));
      table.tBodies[0].replaceChildren(...(rows.length ? rows : [html("tr", {}, html("td", { colspan: "5" }, "none"))]));
    }
  };
  whenSeen(byCategory, fill);
  addEventListener("beforeprint", fill);
  metric.addEventListener("input", fill);
  switching(all, fill);
  byCategory.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
}
