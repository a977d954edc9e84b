"use strict";
(() => {
  const lines = [...document.querySelectorAll(".line[data-l]")];
  const of = new Map();
  for (const line of lines)
    for (const key of line.dataset.l.split(" ")) {
      if (!of.has(key)) of.set(key, []);
      of.get(key).push(line);
    }
  const found = (element) => element.dataset.l.split(" ").flatMap((key) => of.get(key) || []);
  let lit = [], pinned = null;
  const light = (element) => {
    for (const line of lit) line.classList.remove("lit");
    lit = element ? found(element) : [];
    for (const line of lit) line.classList.add("lit");
  };
  const show = (element) => {
    const own = element.closest(".code");
    const seen = new Set();
    for (const line of found(element)) {
      const column = line.closest(".code");
      if (column === own || seen.has(column)) continue;
      seen.add(column);
      column.scrollTop = line.offsetTop - column.offsetTop - column.clientHeight / 3;
    }
  };
  const pin = (element) => {
    pinned = element;
    light(element);
    if (element) show(element);
  };
  const target = (event) => event.target.closest("[data-l]");
  document.addEventListener("mouseover", (event) => { const e = target(event); if (e) light(e); });
  document.addEventListener("mouseout", (event) => { if (target(event)) light(pinned); });
  document.addEventListener("focusin", (event) => { const e = target(event); if (e) light(e); });
  document.addEventListener("focusout", (event) => { if (target(event)) light(pinned); });
  document.addEventListener("click", (event) => { const e = target(event); if (e) pin(pinned === e ? null : e); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") pin(null);
    const line = document.activeElement.closest(".line");
    if (!line) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      pin(line);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const stops = [...line.closest(".code").querySelectorAll(".line[tabindex]")];
      const next = stops[stops.indexOf(line) + (event.key === "ArrowDown" ? 1 : -1)];
      if (next) {
        event.preventDefault();
        line.tabIndex = -1;
        next.tabIndex = 0;
        next.focus();
      }
    }
  });
})();
