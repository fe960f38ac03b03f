// SPDX-License-Identifier: Apache-2.0
// The chart's frame: axes, zoom, and the points of the view that is chosen.
const svg = d3.select("#chart");
const MARGIN = { top: 18, right: 20, bottom: 52, left: 78 }, STRIP = 54;
const SHAPES = { none: d3.symbolCircle, forward: d3.symbolCircle, backward: d3.symbolTriangle, recompute: d3.symbolDiamond };
const LARGEST = 2600, SMALLEST = 16; // area of a point with all of the time, and of the smallest, px²
const area = dot => Math.max(SMALLEST, LARGEST * Math.min(1, dot.share || 0));

let current = { points: [], unknown: [], scales: null };
let transform = d3.zoomIdentity;
// The wheel and one finger scroll the page; Ctrl and the wheel, or two fingers, zoom.
const wantsZoom = event => (event.type === "wheel" ? event.ctrlKey : event.touches ? event.touches.length > 1 : !event.button);
const zoom = d3.zoom().scaleExtent([0.2, 60]).filter(event => wantsZoom(event && event.type ? event : d3.event)).on("zoom", event => {
  transform = (event && event.transform) || d3.event.transform;
  place();
});

function logScale(values, range) {
  const known = values.filter(value => value > 0 && Number.isFinite(value));
  const low = known.length ? d3.min(known) : 1, high = known.length ? d3.max(known) : 10;
  return d3.scaleLog().domain([low / 2, high * 2]).range(range);
}

// Draws everything anew.
function drawChart() {
  const view = views[state.view];
  const made = view.points();
  made.points.sort((a, b) => area(b.dot) - area(a.dot)); // small ones on top
  const node = svg.node(), width = Math.max(280, node.clientWidth), height = node.clientHeight || 600;
  const inner = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
  const hasStrip = made.points.some(point => point.strip);
  const left = hasStrip && view.strip === "left" ? STRIP : 0;
  const bottom = hasStrip && view.strip === "bottom" ? STRIP : 0;
  const extent = view.extent(made.points);
  current = {
    ...made, view, inner, left, plotHeight: inner.height - bottom,
    x0: logScale(extent.x, [left, inner.width]), y0: logScale(extent.y, [inner.height - bottom, 0]),
    strip: d3.scaleLog().domain([0.001, 2]).range([inner.height, 0]).clamp(true),
  };
  svg.attr("viewBox", null).selectAll("*").remove();
  const root = svg.append("g").attr("transform", `translate(${MARGIN.left},${MARGIN.top})`);
  svg.append("defs").append("clipPath").attr("id", "clip").append("rect").attr("x", left).attr("width", inner.width - left).attr("height", inner.height - bottom);
  root.append("rect").attr("class", "pane").attr("width", inner.width).attr("height", inner.height).attr("fill", "transparent");
  if (left) drawStrip(root, 0, 0, STRIP - 8, inner.height, "0 FLOP");
  if (bottom) drawStrip(root, 0, inner.height - STRIP + 8, inner.width, STRIP - 8, "0 FLOP");
  if (made.points.length === 0) return drawNothing(root, inner);
  root.append("g").attr("class", "grid");
  root.append("g").attr("class", "background").attr("clip-path", "url(#clip)");
  root.append("g").attr("class", "lines").attr("clip-path", "url(#clip)");
  root.append("g").attr("class", "axis x").attr("transform", `translate(0,${inner.height})`);
  root.append("g").attr("class", "axis y");
  root.append("g").attr("class", "dots").attr("clip-path", "url(#clip)");
  root.append("g").attr("class", "strip-dots");
  root.append("text").attr("class", "axis-title").attr("x", inner.width / 2).attr("y", inner.height + 42).attr("text-anchor", "middle").text(view.x);
  root.append("text").attr("class", "axis-title").attr("transform", `translate(-60,${inner.height / 2}) rotate(-90)`).attr("text-anchor", "middle").text(view.y);
  svg.call(zoom).on("dblclick.zoom", null);
  place();
  describe();
  return undefined;
}

// Without a point there is nothing to measure axes by. It says why, and what would help.
function drawNothing(root, inner) {
  const hint = reports.every(report => report.run.source === "import") ? "A run with gable profile counts them; an import of ncu's or of formulas knows them, too."
    : "The notes below say what was not measured, and why.";
  [current.unknown.length > 0 ? `No point can be drawn: of ${plural(current.unknown.length, state.rows === "layers" ? "layer" : "kernel")} the FLOPs, bytes or times are unknown.`
    : "No point is chosen, or no kernel ran.", hint].forEach((text, line) => {
    root.append("text").attr("class", "label nothing").attr("x", inner.width / 2 - MARGIN.left / 2).attr("y", inner.height / 2 + 20 * line).attr("text-anchor", "middle").text(text);
  });
  document.getElementById("legend").replaceChildren();
  document.getElementById("not-shown").textContent = notShown(current);
}

function drawStrip(root, x, y, width, height, text) {
  const strip = root.append("g").attr("class", "strip-frame");
  strip.append("rect").attr("class", "strip").attr("x", x).attr("y", y).attr("width", width).attr("height", height);
  strip.append("text").attr("class", "region-label").attr("x", x + 4).attr("y", y + 14).text(text);
  if (width > height) return;
  for (const share of [1, 0.1, 0.01]) {
    strip.append("text").attr("class", "region-label").attr("x", x + width - 3).attr("y", current.strip(share) + 4).attr("text-anchor", "end").text(`${share * 100} %`);
  }
}

// Colours tell limits apart, and levels where several are shown.
const coloursAreLimits = () => state.view !== "roofline" || state.levels.size < 2;

// Puts everything where the zoom wants it.
function place() {
  if (current.points.length === 0) return;
  const { view, inner, left, plotHeight, points } = current;
  const x = transform.rescaleX(current.x0), y = transform.rescaleY(current.y0);
  const scales = { x, y, width: inner.width, height: plotHeight, left };
  current.scales = scales;
  const decades = (axis, count) => axis.ticks(count).tickFormat(value => (Number.isInteger(Math.round(Math.log10(value) * 1e6) / 1e6) ? (view.tick || tick)(value) : ""));
  svg.select(".axis.x").call(decades(d3.axisBottom(x), 12));
  svg.select(".axis.y").call(decades(d3.axisLeft(y), 10));
  const grid = svg.select(".grid");
  grid.selectAll("*").remove();
  const powers = scale => scale.ticks(10).filter(value => Number.isInteger(Math.round(Math.log10(value) * 1e6) / 1e6));
  grid.selectAll(null).data(powers(x)).enter().append("line").attr("x1", x).attr("x2", x).attr("y1", 0).attr("y2", plotHeight);
  grid.selectAll(null).data(powers(y)).enter().append("line").attr("x1", left).attr("x2", inner.width).attr("y1", y).attr("y2", y);
  const background = svg.select(".background");
  background.selectAll("*").remove();
  view.background(background, scales);
  for (const point of points) {
    point.px = point.strip && view.strip === "left" ? (STRIP - 8) / 2 - 8 : x(point.x);
    point.py = point.strip ? (view.strip === "left" ? current.strip(point.y) : inner.height - STRIP / 2 + 8) : y(point.y);
  }
  const symbol = d3.symbol();
  const byLimit = coloursAreLimits();
  const bind = (selector, list) => {
    const bound = svg.select(selector).selectAll("path").data(list, point => point.dot.key + point.level + (point.open ? "o" : ""));
    bound.exit().remove();
    return bound.enter().append("path")
      .attr("d", point => symbol.type(SHAPES[point.dot.direction] || d3.symbolCircle).size(area(point.dot))())
      .attr("class", point => `dot ${point.level}${byLimit ? ` limit-${limitOf(point.dot.bound)}` : ""}${point.open ? " open" : ""}${point.dot.report > 0 ? " other" : ""}`)
      .attr("data-key", point => point.dot.key).attr("data-level", point => point.level).attr("data-name", point => shortened(point.dot.name, 300))
      .merge(bound).attr("transform", point => `translate(${point.px},${point.py})`);
  };
  bind(".dots", points.filter(point => !point.strip));
  bind(".strip-dots", points.filter(point => point.strip));
  drawLines();
  mark();
}

const tick = value => withPrefix(value, "").trim().replace("unknown", "");

// Headroom, joined levels, and sweeps over several reports.
function drawLines() {
  if (current.points.length === 0) return;
  const lines = svg.select(".lines");
  lines.selectAll("*").remove();
  const { view, points, scales } = current;
  const line = (from, to, name) => lines.append("line").attr("class", name).attr("x1", from.px).attr("y1", from.py).attr("x2", to.px).attr("y2", to.py);
  const marked = point => point.dot === state.hovered || state.pinned && state.pinned.key && isPinned(point.dot);
  for (const point of points) {
    if (!state.headroom && !marked(point)) continue;
    const roof = view.headroom(point);
    if (roof) line(point, { px: scales.x(roof.x), py: scales.y(roof.y) }, "headroom");
  }
  const group = (key, wanted, name, sort) => {
    const groups = d3.nest ? d3.nest().key(key).entries(points.filter(wanted)) : Array.from(d3.group(points.filter(wanted), key), ([, values]) => ({ values }));
    for (const { values } of groups) {
      values.sort(sort);
      for (let i = 1; i < values.length; ++i) line(values[i - 1], values[i], name(values[i]));
    }
  };
  if (view === rooflineView) {
    group(point => point.dot.key, point => !point.strip && (state.join || marked(point)), () => "join", (a, b) => a.x - b.x);
  }
  if (state.reports.size > 1) {
    group(point => `${point.dot.direction} ${point.dot.path} ${point.dot.name} ${point.level} ${point.open}`, point => !point.strip,
      point => (point.open ? "sweep open" : "sweep"), (a, b) => a.dot.report - b.dot.report);
  } else if (view === views.both) {
    group(point => point.dot.key, point => !point.strip && marked(point), () => "join", (a, b) => a.x - b.x);
  }
}

// What is pinned, hovered or searched for stands out.
function mark() {
  const any = state.pinned || state.search;
  svg.selectAll(".dot")
    .classed("on", point => point.dot === state.hovered || isPinned(point.dot))
    .classed("dim", point => any && point.dot !== state.hovered && !(state.pinned ? isPinned(point.dot) : isFound(point.dot)));
}

// Known, and still nowhere on these axes.
function hasNoPlace(dot) {
  const levels = state.view === "roofline" ? [...state.levels] : ["dram"];
  return dot.time !== null && (levels.every(level => dot[level] === 0) || (dot.flops === 0 && dot.dram !== null && !levels.includes("dram")));
}

// What is not shown, and why.
function notShown({ unknown, points }) {
  if (unknown.length === 0) return "";
  const all = unknown.length + new Set(points.map(point => point.dot.key)).size;
  const time = sumOf(unknown.filter(dot => !dot.again).map(dot => [dot.share]));
  const without = unknown.filter(hasNoPlace).length;
  const reasons = state.view === "roofline" && state.levels.size === 0 ? ["no level is chosen"]
    : [unknown.length > without && "work, bytes or time unknown", without > 0 && `${without} without a place on these axes: 0 bytes, or 0 FLOP while DRAM is not shown`];
  return `${plural(unknown.length, state.rows === "layers" ? "layer" : "kernel")} of ${all} not shown (${sumText(time, percent)} of the ${timeOfShares()}): ${reasons.filter(each => each).join("; ")}.`;
}

// The chart in words, below it.
function describe() {
  const { points } = current;
  document.getElementById("not-shown").textContent = notShown(current);
  const words = [`area: share of the ${timeOfShares()}`, "circle: forward or none", "triangle: backward", "diamond: recompute"];
  if (points.some(point => point.strip)) words.push(state.view === "roofline" ? "strip: no FLOP, by share of the roof" : "strip: no FLOP");
  if (points.some(point => point.dot.report > 0)) words.push("dashed edge: further reports");
  if (state.view === "roofline" && points.some(point => point.dot.analytic)) words.push("hollow: analytic, not counted");
  if (state.view === "both") words.push("closed: work, open: time");
  if (state.view === "time") words.push("open: time");
  const limits = coloursAreLimits() ? Object.keys(LIMITS).filter(limit => points.some(point => limitOf(point.dot.bound) === limit)) : [];
  document.getElementById("legend").replaceChildren(...limits.flatMap(limit => [swatch(limit), LIMITS[limit] + " · "]), words.join(" · "));
}
