// Follows a run in progress: fetches its page every two seconds, and shows what has changed.
"use strict";

const EVERY_MS = 2000;
const connection = document.getElementById("connection");

async function look() {
  try {
    const answer = await fetch(location.href);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const id of ["sentence", "now"]) {
      const [old, fresh] = [document, page].map((each) => each.getElementById(id));
      if (old.innerHTML !== fresh.innerHTML) old.innerHTML = fresh.innerHTML;
    }
    document.title = page.title;
    connection.hidden = true;
    if (!page.querySelector("[data-going]")) return;
  } catch {
    connection.hidden = false;
  }
  setTimeout(look, EVERY_MS);
}

setTimeout(look, EVERY_MS);
