// Everything that waits for the user.

function start() {
  document.documentElement.classList.add("script");
  // A browser that comes back to the page has its own idea of what was chosen.
  clear();
  let typing;
  form.addEventListener("input", (event) => {
    aside.image = null;
    if (["system", "judged"].includes(event.target.name)) Object.assign(aside, { word: "", thing: "" });
    clearTimeout(typing);
    typing = setTimeout(update, event.target.name === "text" ? 200 : 0);
  });
  form.elements.open?.addEventListener("click", () =>
    cards.querySelectorAll("details.plan").forEach((plan) => (plan.open = true)));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.querySelector("[type=reset]").addEventListener("click", (event) => {
    event.preventDefault();
    clear();
    update();
    plotAgain();
  });
  pages.querySelector("[name=previous]").addEventListener("click", () => turnTo(page - 1));
  pages.querySelector("[name=next]").addEventListener("click", () => turnTo(page + 1));
  pages.querySelector("input").addEventListener("change", (event) => turnTo(Math.floor(event.target.valueAsNumber) || 1));
  for (const preset of section.querySelectorAll("[data-worst]"))
    preset.addEventListener("click", () => showOnly({ system: preset.dataset.worst, sort: "worst" }));
  // A word or object of "Words and objects" shows the captions that it is about.
  for (const text of document.querySelectorAll("[data-find]"))
    becomeButton(text, ({ find: what, kind, system }) => (kind === "absent"
      ? showOnly({ system, judged: "absent" }, { word: what })
      : kind === "thing"
        ? showOnly({ system, judged: "absent" }, { thing: what })
        : showOnly({ system, judged: "leaves", object: what })));

  for (const text of document.querySelectorAll("[data-id]"))
    text.replaceChildren(html("a", { href: link(text.textContent) }, text.textContent));

  listenToWidths();
  listenToWords();
  listenToPictures();
  listenToCategories();
  listenToPlot();
  addEventListener("hashchange", () => recall() && plotAgain());
  if (recall()) plotAgain();
  else update();
}

start();
