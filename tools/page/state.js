// SPDX-License-Identifier: Apache-2.0
// What is shown. Parts of the page listen to changes: "chart" (other points or roofs), "mark" (what is pinned, hovered or
// searched for), "table".
const present = of => [...new Set(reports.flatMap(report => report.dots.layers.concat(report.dots.kernels).map(of)))].filter(each => each);
const limitsOfPoints = Object.keys(LIMITS).filter(limit => present(dot => limitOf(dot.bound)).includes(limit));
const hasLayers = reports.some(report => report.dots.layers.length > 1);
const roofSets = [...new Set(roofs.map(roof => roof.set))];

// Measured roofs come first, then theoretical ones at the clock that was measured. A set all of whose roofs a better set has,
// too, is shown when asked for.
const usedTypes = new Set(present(dot => dot.precision));
const rankOf = roof => (roof.set.startsWith("measured") ? 2 : roof.set.includes("boost") ? 0 : 1);
function isFirstChoice(set) {
  return roofs.some(roof => roof.set === set && (roof.kind === "memory" || usedTypes.has(roof.name)) && !roofs.some(other => rankOf(other) > rankOf(roof) && other.device === roof.device && other.name === roof.name));
}

const state = {
  view: "roofline",
  rows: hasLayers ? "layers" : "kernels",
  levels: new Set(["dram"]),
  directions: new Set(present(dot => dot.direction)),
  precisions: new Set(present(dot => dot.precision)),
  limits: new Set(limitsOfPoints),
  roofSets: new Set(roofSets.filter(isFirstChoice)),
  reports: new Set(areOneRun ? [slowestReport().index] : reports.map(report => report.index)),
  headroom: false,
  join: false,
  search: "",
  hovered: null, // a dot
  spread: null, // the place whose points stand apart, by the key of its first one
  pinned: null, // {report, layer, key}: a layer with all below it, or one dot; with {keys, layers} several layers' dots
  flat: true, // the table lists what layers do themselves, or kernels; else the tree
  sort: { column: "saving", down: true },
  open: new Set(), // layers whose children are shown, "report:id"
};

const listeners = { chart: [], mark: [], table: [] };
const listen = (what, callback) => listeners[what].push(callback);
const changed = (...what) => what.forEach(each => listeners[each].forEach(callback => callback()));

function shownDots() {
  return reports.filter(report => state.reports.has(report.index)).flatMap(report => report.dots[state.rows]).filter(
    dot => state.directions.has(dot.direction) && state.limits.has(limitOf(dot.bound)) && (!dot.precision || state.precisions.has(dot.precision)));
}

function isBelow(report, id, ancestor) {
  for (let layer = reports[report].byId.get(id); layer; layer = reports[report].byId.get(layer.parent)) {
    if (layer.id === ancestor) return true;
  }
  return false;
}

// Whether the dot belongs to what is pinned.
function isPinned(dot) {
  const { pinned } = state;
  if (!pinned || pinned.report !== dot.report) return false;
  if (pinned.keys) return pinned.keys.has(dot.key) || (dot.kernel && pinned.layers.has(dot.layer));
  return pinned.key ? pinned.key === dot.key : isBelow(dot.report, dot.layer, pinned.layer);
}

const isFound = dot => !state.search || dot.search.includes(state.search);

function pin(pinned) {
  const same = pinned && state.pinned && !state.pinned.keys && pinned.report === state.pinned.report && pinned.layer === state.pinned.layer && pinned.key === state.pinned.key;
  state.pinned = same ? null : pinned;
  changed("mark");
}
