"use strict";
// Draws the charts that come into view, in the colours of the theme. The page is complete without it.
(() => {
  const root = document.documentElement;
  const charts = [...document.querySelectorAll(".chart")];
  const specs = new Map(); // chart -> its figure as JSON, or a promise while it is unpacked
  const drawn = new Set();
  const PRINTED_WIDTH = 680; // pixels that fit on A4 and Letter
  const CONFIG = {
    displaylogo: false,
    showSendToCloud: false,
    plotlyServerURL: "",
    responsive: true,
    locale: "en-US",
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
  };

  // ---- charts

  const unpack = (base64) => {
    const bytes = Uint8Array.from(atob(base64.trim()), (char) => char.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  };

  let library = null;
  const loadLibrary = async () => {
    const script = document.createElement("script");
    script.textContent = await unpack(document.getElementById("library").textContent);
    document.head.append(script);
  };

  // Unpacking takes a moment and painting none, so that everything unpacked can be painted at once for the printer.
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

  const paint = (chart, width) => {
    if (!drawn.has(chart)) {
      drawn.add(chart);
      chart.replaceChildren();
    }
    const { data, layout } = coloured(JSON.parse(specs.get(chart)), getComputedStyle(root));
    return window.Plotly.react(chart, data, width ? { ...layout, width } : layout, CONFIG);
  };

  const repaint = () => drawn.forEach((chart) => paint(chart));

  const say = (text) => charts.forEach((chart) => { chart.querySelector(".fallback").textContent = text; });

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
    let place = document.getElementById(location.hash.slice(1));
    for (; place; place = place.parentElement) {
      if (place.tagName === "DETAILS") place.open = true;
    }
  };
  window.addEventListener("hashchange", reveal);
  reveal();

  // ---- what a wide table hides to its right

  root.dataset.script = "on";
  const regions = [...document.querySelectorAll(".scroll")];
  const mark = (region) => {
    const isMore = region.scrollLeft + region.clientWidth < region.scrollWidth - 2;
    region.parentElement.toggleAttribute("data-more", isMore);
  };
  const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => mark(target)));
  regions.forEach((region) => {
    sizes.observe(region);
    region.addEventListener("scroll", () => mark(region), { passive: true });
  });

  // ---- paper shows every group, and what did not pass, in light colours; what else is closed stays so (page.css)

  let onScreen = null;
  const isPrinted = (chart) => !chart.closest("#timings, #first, details:not([open])");
  window.addEventListener("beforeprint", () => {
    onScreen = { theme: root.dataset.theme, closed: [...document.querySelectorAll("details.group:not([open]), .check.fail:not([open]), .check.warn:not([open])")] };
    root.dataset.theme = "light";
    onScreen.closed.forEach((each) => { each.open = true; });
    charts.filter((chart) => typeof specs.get(chart) === "string" && isPrinted(chart))
      .forEach((chart) => paint(chart, PRINTED_WIDTH));
  });
  window.addEventListener("afterprint", () => {
    if (onScreen.theme) root.dataset.theme = onScreen.theme;
    else delete root.dataset.theme;
    onScreen.closed.forEach((each) => { each.open = false; });
    repaint();
  });

  if (typeof DecompressionStream === "undefined") {
    say("This browser cannot unpack the chart: it has no DecompressionStream, which browsers have had since 2023. " +
        "The tables hold its numbers.");
  } else if (charts.length) {
    say("Drawing …");
    drawWhenSeen();
  }
})();
