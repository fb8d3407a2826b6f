"use strict";
// Sorts and filters the tables of the page. Without this script they are as the run wrote them.
for (const box of document.querySelectorAll(".table")) {
  const table = box.querySelector("table");
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const rows = [...body.rows];

  // Labels for a narrow screen, where each row is a list.
  if (box.hasAttribute("data-list")) {
    for (const row of rows) {
      [...row.cells].forEach((cell, i) => {
        if (cell.classList.contains("run")) return;
        cell.dataset.label = heads[i].textContent;
        cell.classList.toggle("none", cell.textContent === "" || cell.textContent === "-");
      });
    }
  }

  const key = (row, i) => {
    const cell = row.cells[i];
    const text = cell.dataset.key ?? cell.textContent;
    const number = Number(text.replaceAll(",", ""));
    return text.trim() === "" || Number.isNaN(number) ? { text } : { number };
  };
  const order = (a, b) => {
    if ("number" in a && "number" in b) return a.number - b.number;
    if ("number" in a) return 1;
    if ("number" in b) return -1;
    return a.text.localeCompare(b.text);
  };
  heads.forEach((head, i) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      // What is largest is looked for first among numbers, and the beginning of the alphabet among words.
      const first = head.classList.contains("n") ? "descending" : "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const direction = head.getAttribute("aria-sort") === first ? other : first;
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", direction);
      const sign = direction === "ascending" ? 1 : -1;
      const keyed = rows.map((row) => [key(row, i), row]);
      keyed.sort((a, b) => sign * order(a[0], b[0]));
      body.append(...keyed.map(([, row]) => row));
    });
  });

  const input = box.querySelector(".filter input");
  if (!input) continue;
  const output = box.querySelector(".filter output");
  const texts = rows.map((row) => row.textContent.toLowerCase());
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, i) => {
      row.hidden = !words.every((word) => texts[i].includes(word));
      shown += row.hidden ? 0 : 1;
    });
    output.textContent = shown === rows.length ? `${shown} rows` : `${shown} of ${rows.length} rows`;
  });
}

// A part that a link leads into is opened, and everything is for paper.
const open = (part) => {
  for (let at = part; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
};
const follow = () => open(document.getElementById(decodeURIComponent(location.hash.slice(1))));
window.addEventListener("hashchange", follow);
follow();
window.addEventListener("beforeprint", () => {
  document.querySelectorAll("details.part").forEach((part) => {
    part.open = true;
  });
});
