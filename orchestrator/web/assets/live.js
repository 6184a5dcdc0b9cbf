// Follows a run in progress: each event brings the sentence, and the changing part of the page as HTML, escaped by the server.
"use strict";

const now = document.getElementById("now");
const connection = document.getElementById("connection");
const source = new EventSource(now.dataset.events);

source.addEventListener("open", () => { connection.hidden = true; });
source.addEventListener("error", () => { connection.hidden = false; });
source.addEventListener("message", (event) => {
  const { is_going, title, sentence, html } = JSON.parse(event.data);
  document.title = `${title} · live · orch`;
  document.getElementById("sentence").textContent = sentence;
  now.innerHTML = html;
  if (!is_going) source.close();
});
