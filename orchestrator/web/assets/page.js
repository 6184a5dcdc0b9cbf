// What pages do beyond what they do without a script: `/` goes to the search.
"use strict";

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof Element && event.target.closest("input, textarea, select, [contenteditable]")) return;
  const search = document.querySelector("[data-search]");
  if (search instanceof HTMLElement) {
    event.preventDefault();
    search.focus();
  }
});
