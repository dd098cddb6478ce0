"use strict";
// A chart is drawn when it comes near the part of the page that is seen: a page of forty charts is there at once.
const shown = new Map();   // The range that the time axes of a run were zoomed to.
const drawn = new Set();
const hidden = new Set();  // The causes that the legend of the page has switched off.
let linking = false;

// Charts have the page's neutral colours: those of a dark page on one, light ones on paper.
const scheme = matchMedia("(prefers-color-scheme: dark)");
let printing = false;
function toned(value, name) {
  if (typeof value === "string") return (/color$/i.test(name) && DARK[value]) || value;
  if (value && typeof value === "object") for (const key in value) value[key] = toned(value[key], key === "0" || Number(key) ? name : key);
  return value;
}

// A narrow chart has as much room for its bars as a wide one: its legend takes more lines.
const WIDE = 1100, ENTRY = 190, LINE = 17, LETTER = 5.8;
function heightOf(place, chart) {
  const shown = chart.layout.showlegend === false ? [] : chart.data.filter((trace) => trace.name && trace.showlegend !== false && trace.visible !== false);
  const heat = chart.data.every((trace) => trace.type === "heatmap");
  const lines = (width) => Math.ceil(shown.length / Math.max(1, Math.floor((width - 20) / ENTRY)));
  return chart.layout.height + (heat ? 0 : LINE * Math.max(0, lines(place.clientWidth) - lines(WIDE)));
}

// A narrow page has narrow margins, and no tool bar: it is zoomed with two fingers.
const NARROW = 560;
function narrowed(place, { layout }) {
  if (place.clientWidth >= NARROW) return;
  const { margin = {}, yaxis = {} } = layout;
  layout.margin = { ...margin, l: Math.min(margin.l ?? 64, 78), r: 8 };
  layout.yaxis = { ...yaxis, tickfont: { size: 9 } };
  layout.modebar = { remove: ["zoom", "pan", "zoomin", "zoomout", "autoscale", "resetscale", "toimage"] };
}

function read(place) {
  const chart = JSON.parse(document.getElementById(place.id + "-data").textContent);
  chart.layout.template = structuredClone(TEMPLATE);
  for (const trace of chart.data) if (hidden.has(trace.name)) trace.visible = false;
  narrowed(place, chart);
  chart.layout.height = heightOf(place, chart);
  place.style.height = chart.layout.height + "px";
  const range = shown.get(place.dataset.time);
  if (range) chart.layout.xaxis.range = range.slice();
  else if (place.dataset.time) shown.set(place.dataset.time + " whole", chart.layout.xaxis.range.slice());
  return scheme.matches && !printing ? toned(chart, "") : chart;
}

function draw(place) {
  if (drawn.has(place.id)) return Promise.resolve();
  drawn.add(place.id);
  const chart = read(place);
  return Plotly.newPlot(place, chart.data, chart.layout, CONFIG).then(() => fit(place)).then(() => {
    place.dataset.drawn = "yes";
    if (place.closest("section").dataset.record) {
      place.on("plotly_hover", (event) => tell(place, event.points[0]));
      place.on("plotly_click", (event) => tell(place, event.points[0], true));
    }
    if (!place.dataset.time) return;
    place.on("plotly_relayout", (change) => link(place, change));
    place.on("plotly_doubleclick", () => { link(place, { whole: true }); return false; });
  });
}

// A legend takes at most half of a chart: where it would scroll, the chart becomes higher.
function fit(place) {
  const { legend, height, xaxis } = place._fullLayout;
  if (shown.has(place.dataset.time)) Plotly.relayout(place, { annotations: labels(place, xaxis.range) });
  if (!legend || legend._height <= legend._effHeight) return null;
  const wanted = Math.ceil(Math.max(height + legend._height - legend._effHeight, 2 * legend._height + 4));
  place.style.height = wanted + "px";
  return Plotly.relayout(place, { height: wanted });
}

function redraw() {
  for (const place of document.querySelectorAll(".chart[data-drawn]")) {
    const chart = read(place);
    Plotly.react(place, chart.data, chart.layout, CONFIG).then(() => fit(place));
  }
}
scheme.addEventListener("change", redraw);

// The one legend of the causes switches them on and off in all charts.
for (const button of document.querySelectorAll("aside button")) button.addEventListener("click", () => {
  const cause = button.dataset.cause, off = !hidden.has(cause);
  if (off) hidden.add(cause); else hidden.delete(cause);
  button.setAttribute("aria-pressed", String(!off));
  for (const place of document.querySelectorAll(".chart[data-drawn]")) {
    const own = place.data.flatMap((trace, n) => trace.name === cause ? [n] : []);
    if (own.length) Plotly.restyle(place, { visible: !off }, own);
  }
});

// The command that makes the run again up to what is pointed at; a click takes it along.
const command = document.getElementById("command");
function tell(place, point, taken) {
  const points = place.dataset.points ? JSON.parse(place.dataset.points) : null;
  const at = points ? points[point.pointNumber] : place.dataset.time ? String(Math.round(point.x)) : "";
  if (!at) return;
  const kernel = /^AE (\d+) (bfs|intersection) (\d+)$/.exec(point.y);
  const scope = kernel ? ` --scope "engine${kernel[1]}.${kernel[2]}${kernel[3]}.*"` : "";
  command.textContent = `cyscc replay ${place.closest("section").dataset.record} --at ${at}${scope}`;
  command.hidden = false;
  if (!taken) return;
  getSelection().selectAllChildren(command);
  navigator.clipboard?.writeText(command.textContent).catch(() => {});
}

// The labels in the strip of phases: of the levels that are seen and have room, else of their phases.
function labels(place, [low, high]) {
  const [label] = place.layout.annotations ?? [], strip = place.data[0], pixels = place._fullLayout.xaxis._length;
  if (!label) return [];
  const found = [];
  for (const named of [(text) => text, (text) => text.replace(/^(\d+ \w+) \d+$/, "$1")]) {
    const texts = strip.text[0].map(named);
    for (let first = 0, end; first < texts.length; first = end) {
      for (end = first + 1; texts[end] === texts[first]; end++);
      const left = Math.max(low, strip.x0 + (first - 0.5) * strip.dx), right = Math.min(high, strip.x0 + (end - 0.5) * strip.dx);
      const taken = texts[first].startsWith("no ") || found.some((other) => left < other.right && other.left < right);
      if (taken || (right - left) * pixels < (high - low) * LETTER * (texts[first].length + 1)) continue;
      found.push({ ...label, text: texts[first], x: (left + right) / 2, left, right });
    }
  }
  return found;
}

// All charts over the time of one run show the same part of it.
function link(place, change) {
  if (linking) return;
  const run = place.dataset.time;
  let range = null;
  if ("xaxis.range[0]" in change) range = [change["xaxis.range[0]"], change["xaxis.range[1]"]];
  else if ("xaxis.range" in change) range = change["xaxis.range"];
  else if ("xaxis.autorange" in change || "whole" in change) range = shown.get(run + " whole");
  if (!range) return;
  shown.set(run, range.slice());
  linking = true;
  const others = [...document.querySelectorAll(`.chart[data-time="${run}"][data-drawn]`)];
  const changed = (other) => ({ "xaxis.range": range.slice(), annotations: labels(other, range) });
  Promise.all(others.map((other) => Plotly.relayout(other, changed(other))))
    .finally(() => { linking = false; });
}

const charts = [...document.querySelectorAll(".chart")];
const near = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) { near.unobserve(entry.target); draw(entry.target); }
}, { rootMargin: "600px" });

const links = new Map([...document.querySelectorAll("nav a[href^='#']")].map((a) => [a.hash.slice(1), a]));
const here = new IntersectionObserver((entries) => {
  for (const entry of entries) links.get(entry.target.id)?.classList.toggle("here", entry.isIntersecting);
}, { rootMargin: "-10% 0px -70% 0px" });
for (const section of document.querySelectorAll("section")) here.observe(section);

// What is seen first is drawn first, and the first chart wherever it is; then the page can be used.
const first = charts.filter((place, n) => !n || place.getBoundingClientRect().top < window.innerHeight);
Promise.all(first.map(draw)).then(() => {
  for (const place of charts) near.observe(place);
  document.documentElement.dataset.ready = "yes";
});
window.addEventListener("beforeprint", () => {
  printing = true;
  for (const folded of document.querySelectorAll("details")) folded.open = true;
  charts.forEach(draw);
  if (scheme.matches) redraw();
});
window.addEventListener("afterprint", () => {
  printing = false;
  if (scheme.matches) redraw();
});
