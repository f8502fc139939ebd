// Metric against metric: points on a canvas; axes, and the part that is chosen, in SVG.

const plot = {};

function listenToPlot() {
  const part = document.getElementById("agreement");
  if (!part) return;
  const controls = part.querySelector(".plot-controls").elements;
  const fields = Object.fromEntries(["across-from", "across-to", "up-from", "up-to"]
    .map((name) => [name, part.querySelector(`[name=${name}]`)]));
  Object.assign(plot, {
    part, controls, fields,
    frame: part.querySelector(".plot"), canvas: part.querySelector("canvas"), picture: part.querySelector(".plot svg"),
    drawn: false,
  });
  const see = () => {
    const brush = brushed();
    if (brush) showOnly({}, { brush });
  };
  const again = () => {
    emptyRange();
    drawPlot();
  };
  controls.across.addEventListener("input", again);
  controls.up.addEventListener("input", again);
  part.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  for (const field of Object.values(fields)) field.addEventListener("input", drawRange);
  part.querySelector("[name=see]").addEventListener("click", see);
  part.querySelector("[name=clear]").addEventListener("click", () => {
    emptyRange();
    drawRange();
    if (aside.brush) {
      aside.brush = null;
      update();
    }
  });
  listenToDragging();
  // Drawn when it is first seen, and again when its width changes.
  whenSeen(plot.frame, () => new ResizeObserver(drawPlot).observe(plot.frame));
  addEventListener("beforeprint", () => plot.drawn || drawPlot());
}

// Shows what the list is filtered by.
function plotAgain() {
  if (!plot.part) return;
  const { brush } = aside;
  emptyRange();
  if (brush) {
    plot.controls.across.value = brush.across;
    plot.controls.up.value = brush.up;
    writeRange(brush.x, brush.y);
  }
  if (plot.drawn) drawPlot();
}

const emptyRange = () => writeRange([null, null], [null, null]);
function writeRange(x, y) {
  const { fields } = plot;
  [fields["across-from"], fields["across-to"], fields["up-from"], fields["up-to"]]
    .forEach((field, at) => (field.value = [...x, ...y][at] ?? ""));
}

function brushed() {
  const end = (name) => {
    const { value, valueAsNumber } = plot.fields[name];
    return value === "" || Number.isNaN(valueAsNumber) ? null : valueAsNumber;
  };
  const x = [end("across-from"), end("across-to")];
  const y = [end("up-from"), end("up-to")];
  if ([...x, ...y].every((value) => value === null)) return null;
  return { across: Number(plot.controls.across.value), up: Number(plot.controls.up.value), x, y };
}

// The captions that have both scores, (system, x, y, image).
function points() {
  const { scores } = data();
  const [across, up] = [Number(plot.controls.across.value), Number(plot.controls.up.value)];
  return scores.map((ofSystem) => ofSystem[across]
    .map((x, image) => [x, ofSystem[up][image], image])
    .filter(([x, y]) => x !== null && y !== null));
}

const LEFT = 52;
const BOTTOM = 40;
const MARGIN = 10;

function drawPlot() {
  plot.drawn = true;
  const ofSystems = points();
  plot.points = ofSystems;
  const width = plot.frame.clientWidth;
  const height = Math.round(Math.min(Math.max(width * 0.72, 240), 460));
  const axisOf = (at) => {
    let [low, high] = [0, 0];
    for (const ofSystem of ofSystems) {
      for (const point of ofSystem) {
        low = Math.min(low, point[at]);
        high = Math.max(high, point[at]);
      }
    }
    return ticks(low, high);
  };
  const [x, y] = [axisOf(0), axisOf(1)];
  plot.scale = {
    width, height, x, y,
    right: (value) => LEFT + ((value - x.at(0)) / (x.at(-1) - x.at(0))) * (width - LEFT - MARGIN),
    up: (value) => height - BOTTOM - ((value - y.at(0)) / (y.at(-1) - y.at(0))) * (height - BOTTOM - MARGIN),
    valueAt: (left, top) => [
      x.at(0) + ((left - LEFT) / (width - LEFT - MARGIN)) * (x.at(-1) - x.at(0)),
      y.at(0) + ((height - BOTTOM - top) / (height - BOTTOM - MARGIN)) * (y.at(-1) - y.at(0)),
    ],
  };
  drawPoints(ofSystems);
  drawAxes();
  drawFits(ofSystems);
  drawRange();
}

function ticks(low, high) {
  if (low === high) high = low + 1;
  const power = 10 ** Math.floor(Math.log10((high - low) / 4));
  const size = [1, 2, 2.5, 5, 10].map((times) => times * power).find((size) => (high - low) / size <= 5);
  const first = Math.floor(low / size + 1e-9);
  const last = Math.ceil(high / size - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * size).toPrecision(6)));
}

// Colours that can be told apart on white and on black; a system has its own form, too.
const COLOURS = ["#3f7fc0", "#d0702f", "#3f9a6c", "#a862b8", "#a08a2c", "#c2557a", "#4aa0a8", "#7d7d86"];
const FORMS = [
  (pen, x, y, r) => pen.arc(x, y, r, 0, 7),
  (pen, x, y, r) => pen.rect(x - r, y - r, 2 * r, 2 * r),
  (pen, x, y, r) => pen.moveTo(x, y - 1.3 * r) || pen.lineTo(x + 1.2 * r, y + r) || pen.lineTo(x - 1.2 * r, y + r),
  (pen, x, y, r) => pen.moveTo(x, y - 1.4 * r) || pen.lineTo(x + 1.4 * r, y) || pen.lineTo(x, y + 1.4 * r) || pen.lineTo(x - 1.4 * r, y),
];

function drawPoints(ofSystems) {
  const { width, height, right, up } = plot.scale;
  const { canvas } = plot;
  const density = window.devicePixelRatio || 1;
  canvas.width = width * density;
  canvas.height = height * density;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.scale(density, density);
  const count = Math.max(...ofSystems.map((ofSystem) => ofSystem.length), 1);
  const radius = count > 1500 ? 1.5 : count > 200 ? 2.5 : 4;
  pen.globalAlpha = count > 1500 ? 0.35 : count > 200 ? 0.6 : 0.85;
  // One system after the other in slices, so that none covers the others.
  const slice = 200;
  for (let start = 0; start < count; start += slice) {
    ofSystems.forEach((ofSystem, system) => {
      pen.fillStyle = COLOURS[system % COLOURS.length];
      for (const [x, y] of ofSystem.slice(start, start + slice)) {
        pen.beginPath();
        FORMS[system % FORMS.length](pen, right(x), up(y), radius);
        pen.fill();
      }
    });
  }
  const { metrics } = data();
  canvas.setAttribute("aria-label",
    `${metrics[plot.controls.up.value]} against ${metrics[plot.controls.across.value]}, a point per caption; the table beside it has the correlations.`);
}

function drawAxes() {
  const { width, height, x, y, right, up } = plot.scale;
  const names = ["across", "up"].map((name) => data().metrics[plot.controls[name].value]);
  plot.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  plot.picture.replaceChildren(
    ...x.map((tick) => svg("path", { class: "grid", d: `M${right(tick)} ${MARGIN}V${height - BOTTOM}` })),
    ...y.map((tick) => svg("path", { class: "grid", d: `M${LEFT} ${up(tick)}H${width - MARGIN}` })),
    ...x.map((tick) => svg("text", { x: right(tick), y: height - BOTTOM + 16, "text-anchor": "middle" }, String(tick))),
    ...y.map((tick) => svg("text", { x: LEFT - 6, y: up(tick) + 4, "text-anchor": "end" }, String(tick))),
    svg("text", { class: "axis-name", x: (LEFT + width) / 2, y: height - 6, "text-anchor": "middle" }, names[0]),
    svg("text", { class: "axis-name", transform: `translate(12 ${(height - BOTTOM) / 2}) rotate(-90)`, "text-anchor": "middle" }, names[1]),
    svg("rect", { class: "brush", width: 0, height: 0 }));
  for (const [name, text] of [["across", names[0]], ["up", names[1]]])
    plot.part.querySelector(`.${name}-name`).textContent = text;
}

function drawFits(ofSystems) {
  const { systems, metrics, lowerIsBetter } = data();
  const row = (name, found, system) => html("tr", {},
    html("th", { scope: "row" }, system === null ? [] : svgForm(system), name),
    ...[whole(found.length), correlationText(pearson(found)), correlationText(spearman(found))]
      .map((text) => html("td", { class: "number" }, text)));
  const body = plot.part.querySelector(".fits tbody");
  body.replaceChildren(...ofSystems.map((found, system) => row(systems[system], found, system)),
    ...(systems.length > 1 ? [row("all", ofSystems.flat(), null)] : []));
  const lower = ["across", "up"].map((name) => Number(plot.controls[name].value)).filter((of) => lowerIsBetter[of]);
  plot.part.querySelector(".fits caption").textContent = "Correlation of the two metrics"
    + [...new Set(lower)].map((of) => `; of ${metrics[of]} lower is better`).join("");
}

function svgForm(system) {
  const shapes = ["M6 2a4 4 0 1 0 .01 0Z", "M2 2h8v8h-8Z", "M6 1L11 10H1Z", "M6 0L12 6L6 12L0 6Z"];
  const shape = svg("svg", { class: "form", viewBox: "0 0 12 12", "aria-hidden": "true" },
    svg("path", { d: shapes[system % shapes.length], fill: COLOURS[system % COLOURS.length] }));
  return shape;
}

function pearson(found) {
  const mean = (at) => found.reduce((sum, point) => sum + point[at], 0) / found.length;
  const [x, y] = [mean(0), mean(1)];
  let [xx, yy, xy] = [0, 0, 0];
  for (const point of found) {
    xx += (point[0] - x) ** 2;
    yy += (point[1] - y) ** 2;
    xy += (point[0] - x) * (point[1] - y);
  }
  return xx > 1e-18 && yy > 1e-18 ? xy / Math.sqrt(xx * yy) : NaN;
}

function spearman(found) {
  const [x, y] = [0, 1].map((at) => rankAmong(found.map((point) => point[at])));
  return pearson(found.map((point) => [x.get(point[0]), y.get(point[1])]));
}

function drawRange() {
  if (!plot.drawn) return;
  const brush = brushed();
  const chosen = plot.part.querySelector(".chosen-points");
  const rect = plot.picture.querySelector(".brush");
  plot.part.querySelector("[name=see]").disabled = !brush;
  plot.part.querySelector("[name=clear]").disabled = !brush;
  if (!brush) {
    chosen.textContent = "";
    rect.setAttribute("width", 0);
    return;
  }
  const inside = plot.points.flatMap((ofSystem) => ofSystem.filter(([x, y]) => within(brush, x, y)));
  const images = new Set(inside.map(([, , image]) => image)).size;
  chosen.textContent = `${whole(inside.length)} caption${inside.length === 1 ? "" : "s"} of ${whole(images)} image${images === 1 ? "" : "s"}.`;
  const { x, y, right, up } = plot.scale;
  const clamp = (value, [low, high], otherwise) => Math.min(Math.max(value ?? otherwise, low), high);
  const ends = (range, axis) => [0, 1].map((at) => clamp(range[at], [axis.at(0), axis.at(-1)], axis.at(-at)));
  const [[x0, x1], [y0, y1]] = [ends(brush.x, x), ends(brush.y, y)];
  const box = { x: right(x0), y: up(y1), width: Math.max(right(x1) - right(x0), 0), height: Math.max(up(y0) - up(y1), 0) };
  for (const [name, value] of Object.entries(box)) rect.setAttribute(name, value);
}

function listenToDragging() {
  let from = null;
  const at = (event) => {
    const { left, top } = plot.frame.getBoundingClientRect();
    const { width, height } = plot.scale;
    return plot.scale.valueAt(
      Math.min(Math.max(event.clientX - left, LEFT), width - MARGIN),
      Math.min(Math.max(event.clientY - top, MARGIN), height - BOTTOM));
  };
  const digits = (value) => Number(value.toPrecision(3));
  const drag = (event) => {
    if (!from) return;
    const to = at(event);
    const [x, y] = [0, 1].map((of) => [from[of], to[of]].sort((a, b) => a - b).map(digits));
    writeRange(x, y);
    drawRange();
  };
  plot.frame.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !plot.drawn) return;
    from = at(event);
    plot.frame.setPointerCapture(event.pointerId);
  });
  plot.frame.addEventListener("pointermove", drag);
  plot.frame.addEventListener("pointerup", (event) => {
    if (!from) return;
    const to = at(event);
    const { right, up } = plot.scale;
    const moved = Math.hypot(right(to[0]) - right(from[0]), up(to[1]) - up(from[1])) > 4;
    from = null;
    if (!moved) return;
    // The list follows; the plot stays in sight.
    const brush = brushed();
    clear();
    aside.brush = brush;
    update();
  });
  plot.frame.addEventListener("pointercancel", () => (from = null));
}
