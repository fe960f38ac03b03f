// SPDX-License-Identifier: Apache-2.0
// The chart's frame: axes, zoom, and the points of the view that is chosen.
const svg = d3.select("#chart");
const STRIP = 46; // of points without a FLOP: their width, or height
// Left of the plot stand its axis and, before it, the strip with its own.
const margin = () => ({ top: 18, right: 16, bottom: 52, left: svg.node().clientWidth < 480 ? 72 : 78 });

let current = { points: [], marks: [], unknown: [], scales: null };
let transform = d3.zoomIdentity;
// The wheel and one finger scroll the page; Ctrl and the wheel, or two fingers, zoom.
const wantsZoom = event => (event.type === "wheel" ? event.ctrlKey : event.touches ? event.touches.length > 1 : !event.button);
const LEAST_ZOOM = 0.2, MOST_ZOOM = 60;
const zoom = d3.zoom().scaleExtent([LEAST_ZOOM, MOST_ZOOM]).filter(event => wantsZoom(event && event.type ? event : d3.event)).on("zoom", event => {
  transform = (event && event.transform) || d3.event.transform;
  place();
  writeAddress();
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
  svg.classed("empty", made.points.length === 0); // it leaves room for the notes
  const node = svg.node(), width = Math.max(280, node.clientWidth), height = node.clientHeight || 600;
  const edge = margin();
  const inner = { width: width - edge.left - edge.right, height: height - edge.top - edge.bottom };
  const hasStrip = made.points.some(point => point.strip);
  const left = hasStrip && view.strip === "left" ? edge.left : 0;
  const bottom = hasStrip && view.strip === "bottom" ? STRIP + 8 : 0;
  const extent = view.extent(made.points);
  current = {
    ...made, marks: [], view, inner, left, plotHeight: inner.height - bottom,
    x0: logScale(extent.x, [left, inner.width]), y0: logScale(extent.y, [inner.height - bottom, 0]),
    strip: d3.scaleLog().domain([0.001, 2]).range([inner.height, 0]).clamp(true),
  };
  svg.attr("viewBox", `0 0 ${width} ${height}`).selectAll("*").remove();
  const root = svg.append("g").attr("class", "root").attr("transform", `translate(${edge.left},${edge.top})`);
  svg.append("defs").append("clipPath").attr("id", "clip").append("rect").attr("x", left).attr("width", inner.width - left).attr("height", inner.height - bottom);
  root.append("rect").attr("class", "pane").attr("x", -edge.left).attr("width", width).attr("height", height - edge.top).attr("fill", "transparent");
  if (made.points.length === 0) return drawNothing(root, inner);
  if (left) drawStrip(root, inner.height);
  if (bottom) drawStripBelow(root, inner);
  root.append("g").attr("class", "grid");
  root.append("g").attr("class", "background").attr("clip-path", "url(#clip)");
  root.append("g").attr("class", "lines").attr("clip-path", "url(#clip)");
  root.append("g").attr("class", "axis x").attr("transform", `translate(0,${inner.height})`);
  root.append("g").attr("class", "axis y").attr("transform", `translate(${left},0)`);
  root.append("g").attr("class", "dots").attr("clip-path", "url(#clip)");
  root.append("g").attr("class", "strip-dots");
  root.append("g").attr("class", "labels").attr("pointer-events", "none");
  const title = edge.left < 78 ? 54 : 60;
  root.append("text").attr("class", "axis-title").attr("x", (left + inner.width) / 2).attr("y", inner.height + 42).attr("text-anchor", "middle").text(view.x);
  root.append("text").attr("class", "axis-title").attr("transform", `translate(${left - title},${inner.height / 2}) rotate(-90)`).attr("text-anchor", "middle").text(view.y);
  svg.call(zoom).on("dblclick.zoom", null);
  place();
  describe();
  return undefined;
}

// What is unknown of rows, in words: "the FLOPs of all kernels and the times of 2 kernels"; empty where all is known.
function missingParts(dots) {
  const kind = dots.length && dots[0].kernel ? "kernel" : "layer";
  const parts = [["FLOPs", dot => dot.flops === null && dot.rate === null], ["DRAM bytes", dot => dot.dram === null && dot.bandwidth === null], ["times", dot => dot.time === null]]
    .map(([name, isMissing]) => [name, dots.filter(isMissing).length]).filter(([, count]) => count > 0)
    .map(([name, count]) => `the ${name} of ${count < dots.length ? plural(count, kind) : dots.length === 1 ? `the ${kind}` : dots.length === 2 ? `both ${kind}s` : `all ${dots.length} ${kind}s`}`);
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}`;
}

// Without a point there is nothing to measure axes by. It says why; the notes say what would help.
function drawNothing(root, inner) {
  const missing = missingParts(current.unknown), hasNotes = reports.some(report => report.run.notes.length > 0);
  const lines = current.unknown.length === 0 ? [reports.some(report => report.dots.kernels.length > 0) ? "Nothing is chosen above: what the chart shows." : "No kernel ran."]
    : [missing ? `No point can be drawn. Unknown: ${missing}.` : "No point has a place on these axes.", hasNotes ? "The notes say more." : ""];
  const wide = wrapped(lines.filter(line => line).join(" "), inner.width, 12);
  wide.forEach((text, line) => {
    root.append("text").attr("class", "label nothing").attr("x", inner.width / 2 - margin().left / 2).attr("y", 40 + 20 * line).attr("text-anchor", "middle").text(text);
  });
  document.getElementById("legend").replaceChildren();
  document.getElementById("how").textContent = "";
  document.getElementById("not-shown").textContent = notShown(current);
}

// Beside the plot, with an axis of its own: without a FLOP a point has no FLOP/s.
function drawStrip(root, height) {
  const strip = root.append("g").attr("class", "strip-frame"), right = 10;
  strip.append("rect").attr("class", "strip").attr("x", right - STRIP).attr("width", STRIP).attr("height", height);
  const axis = d3.axisLeft(current.strip).tickValues([1, 0.1, 0.01, 0.001]).tickFormat(share => `${digits(share * 100)} %`).tickSize(3);
  strip.append("g").attr("class", "axis strip-axis").attr("transform", `translate(${right - STRIP},0)`).call(axis);
  strip.append("text").attr("class", "axis-title").attr("x", right - STRIP / 2).attr("y", height + 18).attr("text-anchor", "middle").text("0 FLOP");
  strip.append("text").attr("class", "region-label").attr("x", right - STRIP / 2).attr("y", height + 34).attr("text-anchor", "middle").text("of DRAM roof");
}

function drawStripBelow(root, inner) {
  const strip = root.append("g").attr("class", "strip-frame");
  strip.append("rect").attr("class", "strip").attr("y", inner.height - STRIP).attr("width", inner.width).attr("height", STRIP);
  strip.append("text").attr("class", "region-label").attr("x", 4).attr("y", inner.height - STRIP + 14).text("0 FLOP");
}

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
  for (const point of points) {
    point.px = point.strip && view.strip === "left" ? 10 - STRIP / 2 : x(point.x);
    point.py = point.strip ? (view.strip === "left" ? current.strip(point.y) : inner.height - STRIP / 2 + 4) : y(point.y);
  }
  current.marks = marksOf(points);
  svg.classed("by-level", severalLevels());
  const room = new Room(left, 0, inner.width, plotHeight);
  const background = svg.select(".background");
  background.selectAll("*").remove();
  view.background(background, scales, room);
  drawLabels(room);
  drawLines();
  drawMarks();
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
  const drawn = state.headroom ? points : points.filter(marked);
  for (const point of drawn) {
    const roof = view.headroom(point);
    if (roof) line(point, { px: scales.x(roof.x), py: scales.y(roof.y) }, "headroom");
  }
  for (const mark of current.marks) if (mark.home) line(mark, mark.home, "join");
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
    : [unknown.length > without && `${without > 0 ? `${unknown.length - without} with ` : ""}work, bytes or time unknown`, without > 0 && `${without} without a place on these axes: 0 bytes, or 0 FLOP while DRAM is not shown`];
  return `${plural(unknown.length, state.rows === "layers" ? "layer" : "kernel")} of ${all} not shown (${sumText(time, percent)} of the ${timeOfShares()}): ${reasons.filter(each => each).join("; ")}.`;
}

// The chart in words, below it.
function describe() {
  const { points } = current;
  document.getElementById("not-shown").textContent = notShown(current);
  const { marks } = current;
  const words = [`area: share of the ${timeOfShares()}`];
  if (severalLevels()) words.push(...[...state.levels].map(level => `${{ dram: "square", l2: "circle", l1: "triangle" }[level]}: ${level.toUpperCase()}`));
  else {
    const shapes = { forward: "circle: forward or none", backward: "triangle: backward", recompute: "diamond: recompute" };
    words.push(...Object.keys(shapes).filter(direction => points.some(({ dot }) => dot.direction === direction)).map(direction => shapes[direction]));
  }
  if (marks.some(mark => mark.count > 1)) words.push("×4: four points at one place, a click spreads them");
  if (points.some(point => point.strip)) words.push("strip: no FLOP" + (state.view === "roofline" ? ", by share of the memory roof" : ""));
  if (points.some(point => point.dot.report > 0)) words.push("dashed edge: further reports");
  if (state.view === "roofline" && points.some(point => point.dot.analytic)) words.push("hollow: by formula, not counted");
  if (points.some(point => isAbove(point.dot))) words.push("! above its roof: a faster clock than the roof's, or an algorithm that does less than the formula says");
  if (state.view === "both") words.push("closed: work, open: time");
  if (state.view === "time") words.push("open: time");
  const limits = severalLevels() ? [] : Object.keys(LIMITS).filter(limit => points.some(point => limitOf(point.dot.bound) === limit));
  document.getElementById("legend").replaceChildren(...limits.flatMap(limit => [swatch(limit), LIMITS[limit] + " · "]), words.join(" · "));
  document.getElementById("how").textContent = [current.view.how, missingRoofs()].filter(each => each).join(" ");
}

// A level whose points have no roof of their own is said so: DRAM's roof is not theirs.
function missingRoofs() {
  if (state.view !== "roofline") return "";
  const known = new Set(shownRoofs().map(roof => roof.name));
  const without = LEVELS.filter(level => state.levels.has(level.id) && !known.has(level.id)).map(level => level.name);
  const hint = without.includes("DRAM") ? "" : "; gable ceilings measures it";
  return without.length ? `No roof of ${without.join(" and ")} is known${hint}.` : "";
}
