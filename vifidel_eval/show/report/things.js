// Words and objects: one kind of findings at a time.

const thingTable = document.querySelector("#things table");
if (thingTable) {
  const { kind } = document.querySelector("#things form").elements;
  const choose = () => {
    for (const part of thingTable.tBodies) part.hidden = part.dataset.kind !== kind.value;
  };
  kind.addEventListener("input", choose);
  for (const row of thingTable.querySelectorAll(".kind")) row.remove(); // the control says it
  for (const cell of thingTable.querySelectorAll("[data-share]")) cell.style.setProperty("--share", cell.dataset.share / 9);
  choose();
}
