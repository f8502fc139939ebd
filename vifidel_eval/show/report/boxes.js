// Pictures: the boxes of their objects, and the large one in a dialog.

const dialog = document.getElementById("picture");

const source = (image) => `data:image/jpeg;base64,${pictures[image]}`;

const boxesIn = (image) => records("Box", boxes[image] ?? []);

function drawBox({ label, score, ...sides }, meant) {
  const name = data.labels[label];
  const box = html("span", { class: meant ? "box meant" : "box" },
    html("span", {}, score < 0 ? name : `${name} ${supportText(score)}`));
  for (const [side, value] of Object.entries(sides)) box.style[side] = `${value / 10}%`;
  return box;
}

// A frame shows the labels that are switched on, and for a moment that of a word.
function showBoxes(place, momentary) {
  const card = place.closest("[data-image]");
  const frame = card.querySelector(".frame");
  const on = [];
  for (const chip of card.querySelectorAll(".objects [data-label]")) {
    const label = Number(chip.dataset.label);
    chip.classList.toggle("meant", label === momentary);
    if (chip.querySelector("[aria-pressed=true]")) on.push(label);
  }
  if (momentary !== null && !on.includes(momentary)) on.push(momentary);
  frame?.querySelector(".boxes")?.remove();
  const shown = boxesIn(card.dataset.image);
  const drawn = on.flatMap((label) => shown.filter((box) => box.label === label))
    .map((box) => drawBox(box, box.label === momentary));
  if (drawn.length) frame?.append(html("span", { class: "boxes", "aria-hidden": "true" }, drawn));
}

// The dialog: the picture as large as there is room for, with objects, captions and all boxes.
function enlarge(image) {
  const { ids } = data;
  dialog.dataset.image = image;
  document.getElementById("picture-title").textContent = `Image ${ids[image]}`;
  const frame = dialog.querySelector(".frame");
  const picture = html("img", { src: source(image), alt: `Image ${ids[image]}` });
  // The frame is as wide as the picture, so that boxes lie where they belong.
  picture.addEventListener("load", () => frame.style.setProperty("--ratio", picture.naturalWidth / picture.naturalHeight));
  frame.replaceChildren(picture);
  dialog.querySelector(".about").replaceChildren(
    ...objectList(image),
    html("ul", { class: "candidates" }, captioned(image).map((row) => candidate(row, image))));
  const switches = [...dialog.querySelectorAll(".objects [aria-pressed]")];
  if (switches.length) {
    const all = html("button", { type: "button", class: "more" }, "Show all boxes");
    all.addEventListener("click", () => {
      const on = switches.some(({ ariaPressed }) => ariaPressed !== "true");
      for (const one of switches) one.ariaPressed = String(on);
      all.textContent = on ? "Hide all boxes" : "Show all boxes";
      showBoxes(dialog, null);
    });
    dialog.querySelector(".objects").after(all);
    all.click();
  }
  dialog.showModal();
  dialog.querySelector("[name=close]").focus();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.(".enlarge");
  if (button) enlarge(Number(button.closest("[data-image]").dataset.image));
});
dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
dialog.addEventListener("close", hideTip);
