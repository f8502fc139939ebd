// Pictures: the boxes of their objects, and the large one in a dialog.

const dialog = document.getElementById("picture");

const hasBoxes = (image) => image in boxes();
const source = (image) => `data:image/jpeg;base64,${pictures()[image]}`;

// Boxes of one label, in thousandths of the picture (pictures.py).
function boxesOf(image, label) {
  return grouped(boxes()[image] ?? [], 6).filter(([of]) => of === label)
    .map(([, x, y, width, height, score]) => {
      const name = data().labels[label];
      const box = html("span", { class: "box", "data-of": label },
        html("span", {}, score < 0 ? name : `${name} ${supportText(score)}`));
      for (const [side, value] of Object.entries({ left: x, top: y, width, height }))
        box.style[side] = `${value / 10}%`;
      return box;
    });
}

// A frame shows the labels that are switched on, and for a moment that of a word.
function showBoxes(place, momentary) {
  const card = place.closest("[data-image]");
  const frame = card.querySelector(".frame");
  const image = Number(card.dataset.image);
  for (const chip of card.querySelectorAll(".objects [data-label]"))
    chip.classList.toggle("meant", momentary !== null && Number(chip.dataset.label) === momentary);
  if (!frame || !hasBoxes(image)) return;
  const on = [...card.querySelectorAll(".objects [aria-pressed=true]")]
    .map((button) => Number(button.parentElement.dataset.label));
  frame.querySelector(".boxes")?.remove();
  const labels = [...new Set(momentary === null ? on : [...on, momentary])];
  const drawn = labels.flatMap((label) => boxesOf(image, label));
  if (!drawn.length) return;
  const layer = html("span", { class: "boxes", "aria-hidden": "true" }, drawn);
  for (const box of drawn) box.classList.toggle("meant", Number(box.dataset.of) === momentary);
  frame.append(layer);
}

// Objects that have boxes are switches.
function livenObjects(card) {
  const image = Number(card.dataset.image);
  if (!card.querySelector(".frame") || !hasBoxes(image)) return;
  const boxed = new Set(grouped(boxes()[image], 6).map(([label]) => label));
  for (const chip of card.querySelectorAll(".objects [data-label]")) {
    if (!boxed.has(Number(chip.dataset.label))) continue;
    const button = html("button", { type: "button", "aria-pressed": "false", title: "Show its boxes" },
      ...chip.childNodes);
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
      showBoxes(card, null);
    });
    chip.replaceChildren(button);
  }
}

// The dialog: the picture as large as there is room for, with objects, captions and all boxes.
function enlarge(image) {
  const { ids, systems, captions } = data();
  dialog.dataset.image = image;
  document.getElementById("picture-title").textContent = `Image ${ids[image]}`;
  const frame = dialog.querySelector(".frame");
  const picture = html("img", { src: source(image), alt: `Image ${ids[image]}` });
  // The frame is as wide as the picture, so that boxes lie where they belong.
  picture.addEventListener("load", () => frame.style.setProperty("--ratio", picture.naturalWidth / picture.naturalHeight));
  frame.replaceChildren(picture);
  const spoken = choice.systems.filter((system) => captions[system][image] !== null);
  dialog.querySelector(".about").replaceChildren(
    ...objectList(image),
    html("ul", { class: "candidates" }, spoken.map((system) => html("li", { "data-system": system },
      html("h4", {}, systems[system]), html("p", { class: "caption", dir: "auto" }, marked(system, image))))));
  livenObjects(dialog);
  dialog.querySelectorAll(".caption").forEach(liven);
  const switches = [...dialog.querySelectorAll(".objects [aria-pressed]")];
  if (switches.length) {
    const all = html("button", { type: "button", class: "more" }, "Show all boxes");
    all.addEventListener("click", () => {
      const on = switches.some((one) => one.getAttribute("aria-pressed") !== "true");
      for (const one of switches) one.setAttribute("aria-pressed", on);
      all.textContent = on ? "Hide all boxes" : "Show all boxes";
      showBoxes(dialog, null);
    });
    dialog.querySelector(".objects").after(all);
    all.click();
  }
  dialog.showModal();
  dialog.querySelector("[name=close]").focus();
}

function listenToPictures() {
  cards.addEventListener("click", (event) => {
    const button = event.target.closest(".enlarge");
    if (button) enlarge(Number(button.closest("[data-image]").dataset.image));
  });
  dialog.querySelector("[name=close]").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", hideTip);
}
