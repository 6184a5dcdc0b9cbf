// Follows a run in progress: writes what the server's events say into the page, and draws the latencies of its trials.
// Everything from the server becomes text or a number, never markup.
"use strict";

(() => {
  const page = document.getElementById("live");
  if (!page) return;
  const NS = "http://www.w3.org/2000/svg";
  const MOST_ROWS_DRAWN = 24;
  const MOST_POINTS = 2000;
  const at = (id) => document.getElementById(id);
  const write = (id, text) => {
    const place = at(id);
    if (place && place.textContent !== text) place.textContent = text;
  };
  let points = []; // [trial, row, median in ms or null, whether it went well]
  let cells = [];
  let leftUntil = null; // by performance.now(), in ms
  let width = 0;

  const three = (value) => String(Number(value.toPrecision(3)));
  function inUnit(ms) {
    if (ms >= 1000) return `${three(ms / 1000)} s`;
    return ms >= 1 ? `${three(ms)} ms` : `${three(ms * 1000)} µs`;
  }

  function duration(seconds) {
    const whole = Math.round(seconds);
    const hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60, rest = whole % 60;
    if (hours) return minutes ? `${hours} h ${minutes} min` : `${hours} h`;
    if (minutes) return rest ? `${minutes} min ${rest} s` : `${minutes} min`;
    return `${rest} s`;
  }

  function showLeft() {
    write("left", leftUntil === null ? "–" : `about ${duration(Math.max(0, (leftUntil - performance.now()) / 1000))}`);
  }

  function showCells() {
    const made = cells.map((cell) => {
      const row = document.createElement("tr");
      const name = document.createElement("th");
      name.scope = "row";
      name.textContent = cell.label;
      row.append(name);
      const figures = [
        ["Trials", `${cell.done} of ${cell.planned}`],
        ["Median", cell.median || "–"],
        ["Range", cell.range || "–"],
        ["Failed", String(cell.failed)],
      ];
      for (const [label, text] of figures) {
        const field = document.createElement("td");
        field.className = label === "Failed" && cell.failed ? "number fail" : "number";
        field.dataset.label = label;
        field.textContent = text;
        row.append(field);
      }
      return row;
    });
    at("cells").replaceChildren(...made);
  }

  function drawn(name, attributes, text) {
    const made = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function axis(values, from, to) {
    const least = Math.min(...values), most = Math.max(...values);
    const isLog = most / least > 5;
    const scale = isLog ? Math.log10 : (value) => value;
    let low = scale(least), high = scale(most);
    const margin = (high - low) * 0.05 || Math.abs(high) * 0.05 || 0.05;
    low -= margin;
    high += margin;
    const place = (value) => from + ((scale(value) - low) / (high - low)) * (to - from);
    const ticks = [];
    if (isLog) {
      for (let power = Math.floor(low); power <= Math.ceil(high); power += 1) {
        for (const digit of high - low > 2 ? [1] : [1, 2, 5]) ticks.push(digit * 10 ** power);
      }
    } else {
      const raw = (high - low) / 4, power = 10 ** Math.floor(Math.log10(raw));
      const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= raw);
      // Counted: a step that is lost in rounding would never arrive.
      for (let number = 0, first = Math.ceil(low / step); number < 10; number += 1) ticks.push((first + number) * step);
    }
    return { isLog, place, ticks: ticks.filter((tick) => scale(tick) >= low && scale(tick) <= high) };
  }

  function draw() {
    const figure = at("plot");
    const known = points.filter((point) => point[2] !== null && point[2] > 0 && cells[point[1]]);
    figure.hidden = !known.length;
    if (!known.length) return;
    width = Math.max(280, Math.min(736, figure.clientWidth || 736));
    const rows = [...new Set(known.map((point) => point[1]))].sort((a, b) => a - b);
    const shown = rows.slice(0, MOST_ROWS_DRAWN);
    const height = 34 * shown.length + 44;
    const { isLog, place, ticks } = axis(known.map((point) => point[2]), 12, width - 12);
    const kind = isLog ? "logarithmic axis" : "linear axis, not from 0";
    const told = `Median latency of ${known.length} trials, ${kind}; further left is faster. The table below has the figures.`;
    const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": told });
    let lastLabel = -Infinity;
    for (const tick of ticks) {
      const x = place(tick);
      svg.append(drawn("line", { x1: x, x2: x, y1: 0, y2: height - 40 }));
      if (x - lastLabel < 56) continue;
      lastLabel = x;
      const anchor = x > width - 40 ? "end" : x < 40 ? "start" : "middle";
      svg.append(drawn("text", { x, y: height - 26, "text-anchor": anchor, class: "tick" }, inUnit(tick)));
    }
    shown.forEach((row, number) => {
      const y = 34 * number;
      const letters = Math.floor(width / 7);
      const name = cells[row].label;
      svg.append(drawn("text", { x: 12, y: y + 12 }, name.length > letters ? `${name.slice(0, letters - 1)}…` : name));
      const median = cells[row].median_ms;
      if (median) {
        const x = place(median);
        svg.append(drawn("line", { x1: x, x2: x, y1: y + 16, y2: y + 32, class: "median" }));
      }
      for (const point of known.filter((each) => each[1] === row)) {
        const newest = point === known[known.length - 1];
        const dot = drawn("circle", { cx: place(point[2]), cy: y + 24, r: newest ? 5 : 4, class: newest ? "newest" : "trial" });
        dot.append(drawn("title", {}, `trial ${point[0]}: ${inUnit(point[2])}`));
        svg.append(dot);
      }
    });
    const beyond = rows.length - shown.length;
    const more = beyond ? `; ${beyond} more ${beyond === 1 ? "cell" : "cells"} in the table` : "";
    const words = `Median latency of each trial (${kind}), faster to the left; line: median of trials${more}`;
    const caption = document.createElement("figcaption");
    caption.textContent = words;
    figure.replaceChildren(svg, caption);
  }

  function show(news) {
    page.dataset.state = news.state;
    write("sentence", news.sentence);
    write("cell", news.cell || "–");
    write("trials", `${news.done} of ${news.trials}`);
    write("blocks", `${news.blocks_done} of ${news.blocks}`);
    const bar = at("done");
    bar.max = news.trials || 1;
    bar.value = news.done;
    bar.textContent = `${news.done} of ${news.trials}`;
    leftUntil = news.left_s === null ? null : performance.now() + news.left_s * 1000;
    showLeft();
    points = (news.is_anew ? news.points : points.concat(news.points)).slice(-MOST_POINTS);
    cells = news.cells;
    showCells();
    draw();
    at("warnings").replaceChildren(...news.warnings.map((text) => {
      const said = document.createElement("p");
      said.className = "warn";
      said.textContent = text;
      return said;
    }));
    if (news.is_stopping && at("stop")) at("stop").hidden = true;
    document.title = `${news.done}/${news.trials} ${news.experiment || news.run} · live · orch`;
  }

  const source = new EventSource(page.dataset.events);
  const countdown = setInterval(showLeft, 1000);
  const trouble = (text) => {
    at("connection").hidden = !text;
    write("connection", text);
  };
  source.addEventListener("open", () => trouble(""));
  source.addEventListener("error", () => {
    trouble(
      source.readyState === EventSource.CLOSED
        ? "This page no longer follows the run: load it again. The run itself goes on."
        : "The connection is lost, and is being made again. The run itself goes on.",
    );
  });
  source.addEventListener("now", (event) => show(JSON.parse(event.data)));
  source.addEventListener("end", (event) => {
    source.close();
    clearInterval(countdown);
    leftUntil = null;
    showLeft();
    page.dataset.state = JSON.parse(event.data).state;
    at("ended").hidden = false;
    if (at("stop")) at("stop").hidden = true;
  });
  window.addEventListener("resize", () => {
    if (Math.abs(at("plot").clientWidth - width) > 4) draw();
  });
})();
