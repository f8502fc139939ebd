// Everything that waits for the user.

document.documentElement.classList.add("script");
let typing;
const changed = (event) => {
  Object.assign(aside, { image: "" });
  if (["system", "captions"].includes(event.target.name)) Object.assign(aside, { thing: "", half: "" });
  form.elements.page.value = 1;
  clearTimeout(typing);
  typing = setTimeout(update, event.target.name === "q" ? 200 : 0);
};
form.addEventListener("input", changed);
form.elements.metric.addEventListener("input", changed); // which is above, in the bar
form.elements.open?.addEventListener("click", () =>
  cards.querySelectorAll("details.plan").forEach((plan) => (plan.open = true)));
cards.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step || !event.target.matches("h3 a")) return;
  event.preventDefault();
  if (event.shiftKey) besideNext(step, event.target.closest("article"));
  else stepCard(step, event.target.closest("article"));
});
form.addEventListener("submit", (event) => event.preventDefault());
form.querySelector("[type=reset]").addEventListener("click", (event) => {
  event.preventDefault();
  clear();
  update();
  plotAgain();
});
pages.querySelector("[name=previous]").addEventListener("click", () => turnTo(page() - 1));
pages.querySelector("[name=next]").addEventListener("click", () => turnTo(page() + 1));
form.elements.page.addEventListener("change", (event) => turnTo(event.target.value));

const menu = document.getElementById("sections");
menu.addEventListener("click", () => menu.matches(":popover-open") && menu.hidePopover());
addEventListener("hashchange", recall);
// A link to what is shown already brings it into sight.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a");
  if (link?.hash.startsWith(BEGINNING) && link.hash === location.hash) recall();
});
if (!recall()) update();
