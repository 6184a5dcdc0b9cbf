"use strict";
// Draws the charts that come into view, in the colours of the theme. The page is complete without it.
(() => {
  const root = document.documentElement;
  const charts = [...document.querySelectorAll(".chart")];
  const specs = new Map(); // chart -> its figure as JSON, or a promise while it is unpacked
  const config = {
    displaylogo: false, showSendToCloud: false, plotlyServerURL: "", responsive: true, locale: "en-US",
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]], scrollZoom: false, doubleClick: "reset",
  };

  const unpack = (base64) => {
    const bytes = Uint8Array.from(atob(base64.trim()), (c) => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };

  let library = null;
  const loadLibrary = () => (library ??= unpack(document.getElementById("library").textContent).then((source) => {
    const script = document.createElement("script");
    script.textContent = source;
    document.head.append(script);
  }));

  // Figures name colours as var(--name); Plotly wants the colours themselves, also in lists such as marker.color.
  const coloured = (value, style) => {
    if (typeof value === "string") return value.startsWith("var(--") ? style.getPropertyValue(value.slice(4, -1)).trim() : value;
    if (Array.isArray(value)) return typeof value[0] === "number" ? value : value.map((each) => coloured(each, style));
    if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, coloured(each, style)]));
    return value;
  };

  const paint = (chart, width) => {
    const { data, layout } = coloured(JSON.parse(specs.get(chart)), getComputedStyle(root));
    return window.Plotly.react(chart, data, width ? { ...layout, width } : layout, config);
  };

  // Unpacking takes a moment, painting none, so that everything unpacked can be painted at once for the printer.
  const ready = (chart) => {
    if (!specs.has(chart)) {
      const packed = chart.querySelector("script").textContent;
      specs.set(chart, Promise.all([unpack(packed), loadLibrary()]).then(([spec]) => { specs.set(chart, spec); }));
    }
    return specs.get(chart);
  };
  const drawn = new Set();
  const draw = async (chart) => {
    await ready(chart);
    if (!drawn.has(chart)) { drawn.add(chart); chart.replaceChildren(); }
    return paint(chart);
  };
  const repaint = () => drawn.forEach((chart) => paint(chart));

  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const toggle = document.getElementById("theme");
  const isDark = () => (root.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
  const named = () => { toggle.textContent = isDark() ? "Light" : "Dark"; toggle.setAttribute("aria-label", `Switch to ${toggle.textContent.toLowerCase()} colours`); };
  const wanted = new URLSearchParams(location.search).get("theme");
  if (wanted === "dark" || wanted === "light") root.dataset.theme = wanted;
  toggle.hidden = false;
  named();
  toggle.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; named(); repaint(); });
  dark.addEventListener("change", () => { named(); repaint(); });

  // A link to something inside a closed part opens it; paper shows everything.
  const reveal = () => {
    let place = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (; place; place = place.parentElement) if (place.tagName === "DETAILS") place.open = true;
  };
  window.addEventListener("hashchange", reveal);
  reveal();
  let before = null;
  window.addEventListener("beforeprint", () => {
    before = { theme: root.dataset.theme, closed: [...document.querySelectorAll("details:not([open])")] };
    root.dataset.theme = "light";
    before.closed.forEach((each) => { each.open = true; });
    charts.filter((chart) => typeof specs.get(chart) === "string").forEach((chart) => {
      if (!drawn.has(chart)) { drawn.add(chart); chart.replaceChildren(); }
      paint(chart, 680);
    });
  });
  window.addEventListener("afterprint", () => {
    if (before.theme) root.dataset.theme = before.theme; else delete root.dataset.theme;
    before.closed.forEach((each) => { each.open = false; });
    repaint();
  });

  if (!charts.length) return;
  if (typeof DecompressionStream === "undefined") {
    charts.forEach((chart) => { chart.querySelector(".fallback").textContent = "This browser cannot unpack the chart (it has no DecompressionStream, which browsers have had since 2023). The tables hold its numbers."; });
    return;
  }
  charts.forEach((chart) => { chart.querySelector(".fallback").textContent = "Drawing …"; });
  const seen = new IntersectionObserver((entries) => {
    entries.filter((entry) => entry.isIntersecting).forEach((entry) => { seen.unobserve(entry.target); draw(entry.target); });
  }, { rootMargin: "600px" });
  charts.forEach((chart) => seen.observe(chart));
  const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 500));
  idle(() => charts.forEach(ready));
})();
