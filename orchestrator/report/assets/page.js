"use strict";
// Draws the charts that come into view, in the colours of the theme. Without it the page has every table.
(() => {
  const root = document.documentElement;
  const charts = [...document.querySelectorAll(".chart")];
  const specs = new Map(); // chart -> its figure as JSON, or a promise while it is unpacked
  const drawn = new Set();
  const isPrecise = window.matchMedia("(pointer: fine)"); // a finger that drags scrolls the page
  const FAINT = 0.12;
  const FEWEST_ROWS = 5; // of a table that has a filter
  const CONFIG = {
    displayModeBar: false,
    displaylogo: false,
    showSendToCloud: false,
    plotlyServerURL: "",
    responsive: true,
    locale: "en-US",
  };

  // ---- charts

  const unpack = (text) => {
    const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  };

  let library = null;
  const loadLibrary = async () => {
    const script = document.createElement("script");
    script.textContent = await unpack(document.getElementById("library").textContent);
    document.head.append(script);
  };

  const ready = (chart) => {
    if (!specs.has(chart)) {
      library ??= loadLibrary();
      const packed = chart.querySelector("script").textContent;
      specs.set(chart, Promise.all([unpack(packed), library]).then(([spec]) => { specs.set(chart, spec); }));
    }
    return specs.get(chart);
  };

  // Figures name colours as var(--name); Plotly wants the colours themselves, also in lists such as marker.color.
  const coloured = (value, style) => {
    if (typeof value === "string") {
      return value.startsWith("var(--") ? style.getPropertyValue(value.slice(4, -1)).trim() : value;
    }
    if (Array.isArray(value)) {
      return typeof value[0] === "number" ? value : value.map((each) => coloured(each, style));
    }
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, coloured(each, style)]));
    }
    return value;
  };

  let alone = null; // the number of the series that is shown alone

  const isFaint = (series) => alone !== null && series !== undefined && String(series) !== alone;

  // The figure in the colours that are shown; on paper it has a width of its own.
  const specOf = (chart, width) => {
    const { data, layout } = coloured(JSON.parse(specs.get(chart)), getComputedStyle(root));
    for (const trace of data) {
      if (isFaint(trace.meta?.series)) trace.opacity = (trace.opacity ?? 1) * FAINT;
    }
    const dragmode = isPrecise.matches ? "zoom" : false;
    return { data, layout: width ? { ...layout, width, autosize: false } : { ...layout, dragmode } };
  };

  const paint = async (chart, width) => {
    const place = chart.querySelector(".live");
    const { data, layout } = specOf(chart, width);
    const isFirst = !drawn.has(chart);
    drawn.add(chart);
    chart.dataset.live = "on";
    await window.Plotly.react(place, data, layout, CONFIG);
    if (isFirst) {
      place.on("plotly_click", ({ points }) => {
        const series = points[0]?.data.meta?.series;
        if (series !== undefined) showAlone(String(series));
      });
    }
  };

  const repaint = () => drawn.forEach((chart) => paint(chart));

  const drawWhenSeen = () => {
    const observer = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        observer.unobserve(target);
        Promise.resolve(ready(target)).then(() => paint(target));
      }
    }, { rootMargin: "600px" });
    charts.forEach((chart) => observer.observe(chart));
    const whenIdle = window.requestIdleCallback ?? ((work) => setTimeout(work, 500));
    whenIdle(() => charts.forEach(ready));
  };

  // ---- one series alone, in all charts: by its line, its name in a legend, or the keyboard there; Escape shows all

  const names = [...document.querySelectorAll(".legend [data-series]")].map((item) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...item.childNodes);
    button.setAttribute("aria-pressed", "false");
    button.title = "Show it alone";
    item.append(button);
    button.addEventListener("click", () => showAlone(item.dataset.series));
    return { button, series: item.dataset.series, legend: item.parentElement };
  });

  const showAlone = (series) => {
    alone = alone === series ? null : series;
    names.forEach((name) => name.button.setAttribute("aria-pressed", String(name.series === alone)));
    repaint();
  };

  // ---- what has many stops of the Tab key has one; arrow keys go on within it

  // `next` says where a key leads from an item: the other's number, or undefined.
  const rove = (place, items, next) => {
    const choose = (chosen) => items.forEach((item) => { item.tabIndex = item === chosen ? 0 : -1; });
    place.dataset.rove = "";
    choose(items[0]);
    place.addEventListener("focusin", ({ target }) => { if (items.includes(target)) choose(target); });
    place.addEventListener("keydown", (event) => {
      const from = items.indexOf(document.activeElement);
      const to = from < 0 || event.ctrlKey || event.altKey || event.metaKey ? undefined : items[next(from, event.key)];
      if (!to) return;
      event.preventDefault();
      to.focus();
    });
  };

  const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  const inTurn = (items) => (from, key) => (STEPS[key] ? (from + STEPS[key] + items.length) % items.length : undefined);

  for (const legend of new Set(names.map((name) => name.legend))) {
    const buttons = names.filter((name) => name.legend === legend).map((name) => name.button);
    legend.setAttribute("role", "toolbar");
    [...legend.children].forEach((item) => item.setAttribute("role", "none"));
    rove(legend, buttons, inTurn(buttons));
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && alone !== null) showAlone(alone);
  });

  // ---- a picture as a file, in the colours that are shown, with its title and what no reader may miss

  const LINE_PX = 16;
  const PICTURE_PX = 640; // wide
  const LETTERS = 88; // of a line
  const TIMES = 2; // as many pixels

  const wrapped = (text) => text.trim().split(/\s+/).reduce((lines, word) => {
    const last = lines.at(-1);
    if (last && last.length + word.length < LETTERS) return [...lines.slice(0, -1), `${last} ${word}`];
    return [...lines, word];
  }, []);
  const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const titleOf = (chart) => chart.querySelector(".live").getAttribute("aria-label");

  const pictureOf = async (chart, format) => {
    await ready(chart);
    const { data, layout } = specOf(chart);
    const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
    const lines = (text, name) => wrapped(text).filter(Boolean).map((line) => `<span style="color:${colour(name)}">${escaped(line)}</span>`);
    const above = [
      ...lines(titleOf(chart), "--ink").map((line) => `<b>${line}</b>`),
      ...lines(document.getElementById("every-page")?.textContent ?? "", "--fail").map((line) => `<b>${line}</b>`),
    ];
    const height = layout.height + LINE_PX * (above.length + 1);
    const margin = { ...layout.margin, t: layout.margin.t + LINE_PX * (above.length + 1) };
    const title = {
      text: above.join("<br>"), font: { size: 12 }, x: 0, xref: "container", xanchor: "left", pad: { l: 8, t: 8 },
      y: 1, yref: "container", yanchor: "top", automargin: false,
    };
    const whole = { ...layout, title, margin, height, width: PICTURE_PX, autosize: false, paper_bgcolor: colour("--paper") };
    return window.Plotly.toImage({ data, layout: whole }, { format, width: PICTURE_PX, height, scale: format === "png" ? TIMES : 1 });
  };

  const save = async (chart) => {
    const link = document.createElement("a");
    link.href = await pictureOf(chart, "png");
    link.download = `${chart.id}.png`;
    link.click();
  };

  // What `orch report --pictures` opens: each picture becomes two links, SVG and PNG.
  const linkAll = async () => {
    for (const chart of charts) {
      for (const format of ["svg", "png"]) {
        const link = document.createElement("a");
        link.className = "picture";
        link.download = `${chart.id.replace("chart-", "")}.${format}`;
        link.href = await pictureOf(chart, format);
        document.body.append(link);
      }
    }
  };

  if (new URLSearchParams(location.search).has("pictures")) linkAll();
  charts.forEach((chart) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "save";
    button.textContent = "Save picture";
    button.setAttribute("aria-label", `Save picture: ${titleOf(chart)}`);
    button.addEventListener("click", () => save(chart));
    chart.append(button);
  });
  for (const list of document.querySelectorAll(".strips")) {
    const buttons = [...list.querySelectorAll(".save")];
    if (buttons.length > 1) rove(list, buttons, inTurn(buttons));
  }
  // ---- theme: the system's, unless the address or the button says otherwise

  const systemIsDark = window.matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  const isDark = () => (root.dataset.theme ?? (systemIsDark.matches ? "dark" : "light")) === "dark";

  const nameButton = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${button.textContent.toLowerCase()} colours`);
  };

  const themeChanged = () => {
    nameButton();
    repaint();
  };

  const wanted = new URLSearchParams(location.search).get("theme");
  if (wanted === "dark" || wanted === "light") root.dataset.theme = wanted;
  nameButton();
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    themeChanged();
  });
  systemIsDark.addEventListener("change", themeChanged);

  // ---- a link to something inside a closed part opens it

  const reveal = () => {
    let place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (; place; place = place.parentElement) {
      if (place.tagName === "DETAILS") place.open = true;
    }
  };
  window.addEventListener("hashchange", reveal);
  reveal();

  // ---- what a wide table hides to its right; one that hides nothing needs no stop of the Tab key

  root.dataset.script = "on";
  const regions = [...document.querySelectorAll(".scroll")];
  const mark = (region) => {
    const isMore = region.scrollLeft + region.clientWidth < region.scrollWidth - 2;
    region.parentElement.toggleAttribute("data-more", isMore);
    region.tabIndex = region.scrollWidth > region.clientWidth + 2 ? 0 : -1;
  };
  const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => mark(target)));
  regions.forEach((region) => {
    sizes.observe(region);
    region.addEventListener("scroll", () => mark(region), { passive: true });
  });

  // ---- the rows of a table by one of its columns, floors last

  const valueOf = (row, column) => {
    const cell = row.cells[column];
    const number = cell.querySelector("data")?.value;
    return number === undefined ? cell.textContent.trim() : Number(number);
  };
  const order = (one, other) => {
    if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
    return typeof one === "number" ? one - other : one.localeCompare(other);
  };
  for (const head of document.querySelectorAll("table.data thead th")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const direction = head.ariaSort === "ascending" ? "descending" : "ascending";
      [...head.parentElement.cells].forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", direction);
      const body = head.closest("table").tBodies[0];
      const rows = [...body.rows].filter((row) => row.className !== "floor" && !row.querySelector("th .invalid"));
      rows.sort((one, other) => order(valueOf(one, head.cellIndex), valueOf(other, head.cellIndex)));
      if (direction === "descending") rows.reverse();
      body.prepend(...rows);
    });
  }

  // ---- the rows of a table that hold a word

  for (const table of document.querySelectorAll("table.data")) {
    const rows = [...table.tBodies[0].rows].filter((row) => row.className !== "floor");
    if (rows.length < FEWEST_ROWS) continue;
    const input = document.createElement("input");
    input.className = "filter";
    input.type = "search";
    input.placeholder = "Filter rows";
    input.setAttribute("aria-label", `Filter rows: ${table.caption?.textContent.trim() ?? ""}`);
    input.addEventListener("input", () => {
      const word = input.value.trim().toLowerCase();
      rows.forEach((row) => { row.hidden = !row.textContent.toLowerCase().includes(word); });
    });
    table.closest(".wide").before(input);
  }

  // ---- paper shows light colours and what is open

  const PAPER_PX = { half: 480, whole: 900 }; // page.css shows them at two thirds
  let theme;
  window.addEventListener("beforeprint", () => {
    theme = root.dataset.theme;
    root.dataset.theme = "light";
    for (const chart of charts) {
      const isHalf = chart.closest(".multiples:not(.alone), .drawn");
      if (typeof specs.get(chart) === "string") paint(chart, isHalf ? PAPER_PX.half : PAPER_PX.whole);
    }
  });
  window.addEventListener("afterprint", () => {
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    repaint();
  });

  if (charts.length) drawWhenSeen();
})();
