// Scores by object category: the images of which objects systems do badly on.

// By name of the object, the sum of what images with it have, and their number.
function sumsOf(valueOf) {
  const sums = new Map();
  data.ids.forEach((_, image) => {
    const value = valueOf(image);
    if (value === null) return;
    for (const { name } of objectsIn(image)) {
      const sum = sums.get(name) ?? { total: 0, images: 0 };
      sum.total += value;
      sum.images += 1;
      sums.set(name, sum);
    }
  });
  return sums;
}

// The means of a system, and how far each lies from its mean of all images.
function categoriesOf(metric, system) {
  const scores = data.scores[system][metric];
  const known = scores.filter(isNumber);
  const all = known.reduce((sum, score) => sum + score, 0) / known.length;
  const sign = data.lowerIsBetter[metric] ? -1 : 1;
  return new Map([...sumsOf((image) => scores[image])].map(([name, { total, images }]) =>
    [name, { mean: total / images, apart: sign * (total / images - all) }]));
}

const MOST_CATEGORIES = 12; // at first
const byCategory = document.getElementById("categories");
let fillCategories = () => {};
if (byCategory) {
  const { all } = byCategory.querySelector("form").elements;
  const table = byCategory.querySelector("table");
  const systems = Array.from(data.systems.keys());
  const fill = () => {
    fillCategories = fill;
    const images = new Map([...sumsOf(() => 0)].map(([name, sum]) => [name, sum.images]));
    const of = systems.map((system) => categoriesOf(choice.metric, system));
    // Sums differ in their last digits with the order of images: nine digits decide.
    const badness = new Map([...images.keys()].map((name) => {
      const apart = of.map((means) => means.get(name)?.apart).filter((value) => value !== undefined);
      return [name, Math.floor((apart.reduce((sum, value) => sum + value, 0) / apart.length) * 1e9 + 0.5)];
    }));
    const names = [...images].filter(([, count]) => count >= settings.fewest).map(([name]) => name)
      .sort((a, b) => badness.get(a) - badness.get(b) || (a < b ? -1 : 1))
      .slice(0, all.ariaPressed === "true" ? Infinity : MOST_CATEGORIES);
    const farthest = Math.max(...of.flatMap((means) => names.map((name) => -(means.get(name)?.apart ?? 0))), 0);
    const cell = (name) => (system) => {
      const found = of[system].get(name);
      const share = found && Math.max(-found.apart, 0) / (farthest || 1);
      const node = numberCell(found ? briefText(found.mean) : NONE);
      if (found) node.title = `${data.systems[system]}, ${name}: ${scoreText(found.mean)}, ${signed(found.apart)} from all`;
      node.style.setProperty("--share", share ?? 0);
      return node;
    };
    table.tHead.replaceChildren(html("tr", {}, headCell("Object"), numberHead("Images"),
      data.systems.map((name) => html("th", { scope: "col", class: "number" }, html("span", {}, name)))));
    table.tBodies[0].replaceChildren(...(names.length ? names.map((name) => html("tr", {},
      html("th", { scope: "row" }, html("a", { class: "find", href: address({ object: name, sort: "worst" }) }, name)),
      numberCell(whole(images.get(name))), systems.map(cell(name)))) : [html("tr", {}, html("td", {}, "none"))]));
    table.parentElement.classList.toggle("many", systems.length > 12);
    equip(table);
  };
  whenSeen(byCategory, fill);
  addEventListener("beforeprint", fill);
  switching(all, fill);
  byCategory.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
}
