// Draws the figures of a page, and lets `/` go to the search.
"use strict";

// Draw each figure below `root` in the colours of the page: figures name them as var(--name).
function draw(root) {
  const style = getComputedStyle(document.documentElement);
  for (const place of root.querySelectorAll("[data-figure]")) {
    const text = place.dataset.figure.replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
    const { data, layout } = JSON.parse(text);
    Plotly.react(place, data, layout, { displayModeBar: false, responsive: true });
  }
}

document.addEventListener("DOMContentLoaded", () => draw(document));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(document));

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof Element && event.target.closest("input, textarea, select")) return;
  const search = document.querySelector("[data-search]");
  if (search instanceof HTMLElement) {
    event.preventDefault();
    search.focus();
  }
});
