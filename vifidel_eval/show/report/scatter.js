// Metric against metric: points on a canvas; axes, and the part that is chosen, in SVG.

const plot = { part: document.getElementById("agreement"), drawn: false };

// Shows what the list is filtered by.
function plotAgain() {
  if (!plot.part) return;
  writeRange([]);
  if (brushOf(aside)) {
    const { across, up, x = "..", y = ".." } = aside;
    plot.controls.across.value = across;
    plot.controls.up.value = up;
    writeRange([...x.split(".."), ...y.split("..")]);
  }
  if (plot.drawn) drawPlot();
}

// Lists the images that the chosen part of the plot has; the plot keeps it.
function listRange() {
  const range = chosenRange();
  if (!range) return;
  clear();
  aside = range;
  update();
}

function writeRange(ends) {
  plot.ends.forEach((field, at) => (field.value = ends[at] ?? ""));
}

// The chosen part as the address says it; null if none is.
function chosenRange() {
  const [left, right, bottom, top] = plot.ends.map(({ value }) => value);
  if (!left && !right && !bottom && !top) return null;
  const { across, up } = plot.controls;
  return { across: across.value, up: up.value, x: `${left}..${right}`, y: `${bottom}..${top}` };
}

// The captions that have both scores, (x, y, image) by system.
function pointsOf(across, up) {
  return data.scores.map((ofSystem) => ofSystem[across]
    .map((x, image) => [x, ofSystem[up][image], image])
    .filter(([x, y]) => x !== null && y !== null));
}

const LEFT = 52;
const BOTTOM = 40;
const MARGIN = 10;

function drawPlot() {
  plot.drawn = true;
  const [across, up] = [plot.controls.across, plot.controls.up].map(({ value }) => metricOf(value));
  plot.points = pointsOf(across, up);
  plot.width = plot.frame.clientWidth;
  plot.height = Math.round(between(plot.width * 0.72, 240, 460));
  const every = plot.points.flat();
  plot.x = axis(every.map(([x]) => x), LEFT, plot.width - MARGIN);
  plot.y = axis(every.map(([, y]) => y), plot.height - BOTTOM, MARGIN);
  drawPoints();
  drawAxes(data.metrics[across], data.metrics[up]);
  drawFits(across, up);
  drawRange();
}

// An axis for 0 and all values, between two places of the picture.
function axis(values, from, to) {
  const marks = ticks(values.reduce((a, b) => Math.min(a, b), 0), values.reduce((a, b) => Math.max(a, b), 0));
  const [low, high] = [marks.at(0), marks.at(-1)];
  return {
    marks, low, high,
    place: (value) => from + ((value - low) / (high - low)) * (to - from),
    value: (place) => low + ((place - from) / (to - from)) * (high - low),
  };
}

function ticks(low, high) {
  if (low === high) high = low + 1;
  const power = 10 ** Math.floor(Math.log10((high - low) / 4));
  const size = [1, 2, 2.5, 5, 10].map((times) => times * power).find((size) => (high - low) / size <= 5);
  const first = Math.floor(low / size + 1e-9);
  const last = Math.ceil(high / size - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * size).toPrecision(6)));
}

// Colours that can be told apart on white and on black; a system has its own form, too, around 0.
// Neither is used twice among as many systems as there are of them, nor both together among many more.
const COLOURS = ["#3f7fc0", "#d0702f", "#2f8f5e", "#a862b8", "#97801f", "#d1497c", "#1f8f9b", "#7d7d86",
  "#e0443e", "#6a6fe0", "#5f8f1f", "#a06a4a"];
const FORMS = ["M1 0A1 1 0 1 1-1 0A1 1 0 1 1 1 0Z", "M-1-1H1V1H-1Z", "M0-1.3L1.2 1H-1.2Z", "M0-1.4L1.4 0L0 1.4L-1.4 0Z",
  "M0 1.3L1.2-1H-1.2Z", "M-.4-1.3H.4V-.4H1.3V.4H.4V1.3H-.4V.4H-1.3V-.4H-.4Z", "M-1.4-.5H1.4V.5H-1.4Z",
  "M-.5-1.4H.5V1.4H-.5Z", "M1.3 0L-1 1.2V-1.2Z", "M-1.3 0L1 1.2V-1.2Z",
  "M0-1.5L.4-.4L1.5-.4L.6 .3L.9 1.4L0 .7L-.9 1.4L-.6 .3L-1.5-.4L-.4-.4Z", "M-1.2-1.2H1.2L0 0L1.2 1.2H-1.2L0 0Z"];
// Of very many systems only one is coloured: the chosen one or, without a choice, the one that leads.
const many = data.systems.length > COLOURS.length;
const colourOf = (system) => (!many ? COLOURS[system] : system === focused() ? COLOURS[0] : "#9a9fa7");
const focused = () => (choice.systems.length === 1 ? choice.systems[0] : settings.leaders[choice.metric]);
const formOf = (system) => FORMS[(system + Math.floor(system / COLOURS.length)) % FORMS.length];

function drawPoints() {
  const { canvas, points, width, height, x, y } = plot;
  const density = window.devicePixelRatio || 1;
  canvas.width = width * density;
  canvas.height = height * density;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  const count = Math.max(...points.map((ofSystem) => ofSystem.length), 1);
  const size = density * (count > 1500 ? 1.5 : count > 200 ? 2.5 : 4);
  pen.globalAlpha = count > 1500 ? 0.35 : count > 200 ? 0.6 : 0.85;
  // One system after the other in slices, so that none covers the others.
  const slice = 200;
  const draw = (system, start, end) => {
    pen.fillStyle = colourOf(system);
    const form = new Path2D(formOf(system));
    for (const [across, up] of points[system].slice(start, end)) {
      pen.setTransform(size, 0, 0, size, density * x.place(across), density * y.place(up));
      pen.fill(form);
    }
  };
  for (let start = 0; start < count; start += slice) {
    for (const system of points.keys()) draw(system, start, start + slice);
  }
  if (many) draw(focused());
}

function drawAxes(across, up) {
  const { canvas, part, picture, width, height, x, y } = plot;
  canvas.setAttribute("aria-label",
    `${up} against ${across}, a point per caption; the table beside it has the correlations.`);
  const middle = (attributes, text) => svg("text", { "text-anchor": "middle", ...attributes }, text);
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.replaceChildren(
    ...x.marks.flatMap((tick) => [
      svg("path", { class: "grid", d: `M${x.place(tick)} ${MARGIN}V${height - BOTTOM}` }),
      middle({ x: x.place(tick), y: height - BOTTOM + 16 }, String(tick)),
    ]),
    ...y.marks.flatMap((tick) => [
      svg("path", { class: "grid", d: `M${LEFT} ${y.place(tick)}H${width - MARGIN}` }),
      svg("text", { x: LEFT - 6, y: y.place(tick) + 4, "text-anchor": "end" }, String(tick)),
    ]),
    middle({ class: "axis-name", x: (LEFT + width) / 2, y: height - 6 }, across),
    middle({ class: "axis-name", transform: `translate(12 ${(height - BOTTOM) / 2}) rotate(-90)` }, up),
    svg("rect", { class: "brush", width: 0, height: 0 }));
  part.querySelector(".across-name").textContent = across;
  part.querySelector(".up-name").textContent = up;
}

function drawFits(across, up) {
  const { systems, metrics, lowerIsBetter } = data;
  const form = (system) => svg("svg", { class: "form", viewBox: "-1.5 -1.5 3 3", "aria-hidden": "true" },
    svg("path", { d: formOf(system), fill: colourOf(system) }));
  const row = (name, count, system) => {
    const { pearson, spearman } = record("Fit", settings.fits[system][across][up]);
    return html("tr", {},
      html("th", { scope: "row" }, system < systems.length ? form(system) : [], name),
      numberCell(whole(count)), numberCell(pearson), numberCell(spearman));
  };
  const counts = plot.points.map((ofSystem) => ofSystem.length);
  const all = counts.reduce((sum, count) => sum + count);
  plot.part.querySelector(".fits tbody").replaceChildren(
    ...systems.map((name, system) => row(name, counts[system], system)),
    ...(systems.length > 1 ? [row("all", all, systems.length)] : []));
  const lower = [...new Set([across, up])].filter((of) => lowerIsBetter[of]);
  plot.part.querySelector(".fits caption").textContent = "Correlation of the two metrics"
    + lower.map((of) => `; of ${metrics[of]} lower is better`).join("");
}

function drawRange() {
  if (!plot.drawn) return;
  const range = chosenRange();
  for (const name of ["see", "clear"]) plot.part.querySelector(`[name=${name}]`).disabled = !range;
  const said = plot.part.querySelector(".chosen-points");
  const rect = plot.picture.querySelector(".brush");
  if (!range) {
    said.textContent = "";
    rect.setAttribute("width", 0);
    return;
  }
  const brush = brushOf(range);
  const inside = plot.points.flat().filter(([x, y]) => within(brush, x, y));
  const images = new Set(inside.map(([, , image]) => image)).size;
  said.textContent = `${counted(inside.length, "caption")} of ${counted(images, "image")}.`;
  const places = (ends, { low, high, place }) =>
    ends.map((end, at) => place(between(end ?? [low, high][at], low, high)));
  const [left, right] = places(brush.x, plot.x);
  const [bottom, top] = places(brush.y, plot.y);
  const box = { x: left, y: top, width: Math.max(right - left, 0), height: Math.max(bottom - top, 0) };
  for (const [name, value] of Object.entries(box)) rect.setAttribute(name, value);
}

if (plot.part) {
  const find = (name) => plot.part.querySelector(name);
  Object.assign(plot, {
    controls: find("form").elements, ends: [...plot.part.querySelectorAll(".ranges input")],
    frame: find(".plot"), canvas: find("canvas"), picture: find(".plot svg"),
  });
  find("form").addEventListener("input", () => {
    writeRange([]);
    drawPlot();
  });
  find("form").addEventListener("submit", (event) => event.preventDefault());
  for (const end of plot.ends) end.addEventListener("input", drawRange);
  find("[name=see]").addEventListener("click", () => {
    listRange();
    reveal();
  });
  find("[name=clear]").addEventListener("click", () => {
    writeRange([]);
    drawRange();
    if (!brushOf(aside)) return;
    aside = {};
    update();
  });
  // Drawn when it is first seen, and again when its width changes.
  whenSeen(plot.frame, () => new ResizeObserver(drawPlot).observe(plot.frame));
  addEventListener("beforeprint", () => plot.drawn || drawPlot());

  // Dragging over points chooses them; the list follows, and the plot stays in sight.
  let from = null;
  const at = (event) => {
    const { left, top } = plot.frame.getBoundingClientRect();
    return [between(event.clientX - left, LEFT, plot.width - MARGIN),
      between(event.clientY - top, MARGIN, plot.height - BOTTOM)];
  };
  plot.frame.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !plot.drawn) return;
    from = at(event);
    plot.frame.setPointerCapture(event.pointerId);
  });
  plot.frame.addEventListener("pointermove", (event) => {
    if (!from) return;
    const to = at(event);
    const ends = (of, { value }) => [from[of], to[of]].map(value).sort((a, b) => a - b);
    writeRange([...ends(0, plot.x), ...ends(1, plot.y)].map((end) => Number(end.toPrecision(3))));
    drawRange();
  });
  plot.frame.addEventListener("pointerup", (event) => {
    if (!from) return;
    const to = at(event);
    const moved = Math.hypot(to[0] - from[0], to[1] - from[1]) > 4;
    from = null;
    if (moved) listRange();
  });
  plot.frame.addEventListener("pointercancel", () => (from = null));
}
