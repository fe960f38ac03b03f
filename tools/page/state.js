// SPDX-License-Identifier: Apache-2.0
// What is shown. Parts of the page listen to changes: "chart" (other points or roofs), "mark" (what is pinned, hovered or
// searched for), "table".
const present = of => [...new Set(reports.flatMap(report => report.dots.layers.concat(report.dots.kernels).map(of)))].filter(each => each);
const hasLayers = reports.some(report => report.dots.layers.length > 1);
const roofSets = [...new Set(roofs.map(roof => roof.set))];

const state = {
  view: "roofline",
  rows: hasLayers ? "layers" : "kernels",
  levels: new Set(["dram"]),
  directions: new Set(present(dot => dot.direction)),
  precisions: new Set(present(dot => dot.precision)),
  roofSets: new Set(roofSets.filter(set => !set.includes("boost") || !roofSets.some(other => other !== set && other.startsWith("theoretical")))),
  reports: new Set(reports.map(report => report.index)),
  headroom: false,
  join: false,
  search: "",
  hovered: null, // a dot
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
    dot => state.directions.has(dot.direction) && (!dot.precision || state.precisions.has(dot.precision)));
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
