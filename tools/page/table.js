// SPDX-License-Identifier: Apache-2.0
// The tree of layers with its kernels. A row pins its points in the chart, and what is pinned there is marked here.
const MOST_ROWS = 300, TOP_ROWS = 10;
let rowsShown = MOST_ROWS;
let topOnly = true; // of the flat list
const rowsWanted = () => (state.flat && topOnly && !state.search ? TOP_ROWS : rowsShown);

const unknownSpan = () => element("span", { class: "unknown" }, UNKNOWN);
const anyRow = of => reports.some(report => report.layers.concat(report.dots.kernels).some(row => of(row) !== null));
// What --metrics collects, where some report has it.
const METRIC_COLUMNS = [
  { id: "occupancy", head: "occupancy", show: percent, hint: "warps on an active SM, of those that it can hold" },
  { id: "warp_efficiency", head: "warp eff.", show: percent, hint: "threads of a warp's instruction that are active, of 32" },
  { id: "branch_uniformity", head: "uniform branches", show: percent, hint: "branch targets that all active threads of a warp take together" },
  { id: "l1_hit_rate", head: "L1 hits", show: percent, hint: "of sectors" },
  { id: "l2_hit_rate", head: "L2 hits", show: percent, hint: "of sectors" },
  { id: "sectors_per_load", head: "sectors/load", show: digits, hint: "L1 sectors for each warp's load: 4 when coalesced at 4 bytes a thread, 16 at 16 bytes" },
  { id: "sectors_per_store", head: "sectors/store", show: digits, hint: "L1 sectors for each warp's store" },
  { id: "compute_throughput", head: "SM thr.", show: percent, hint: "of the most that the SMs can do, as ncu has it" },
  { id: "memory_throughput", head: "mem. thr.", show: percent, hint: "of the most that the memory units of all levels can do, as ncu has it" },
].map(column => ({ ...column, of: row => row[column.id] })).filter(column => anyRow(column.of));
const COLUMNS = [
  { id: "name", head: "layer", text: true, of: row => (row.kernel ? row.name : row.path) },
  { id: "direction", head: "direction", text: true, of: row => row.direction },
  { id: "time", head: "time", of: row => row.time, show: (_, row) => timeText(row), hint: "GPU time, overlap counted twice" },
  { id: "share", head: "share", of: row => row.share, show: percent, hint: "of the time that is known" },
  { id: "host", head: "host", of: row => row.host, show: duration, hint: "host time between entering and leaving the layer" },
  { id: "span", head: "span", of: row => row.span, show: duration, hint: "from the first start to the last end on the GPU" },
  { id: "wait", head: "wait", of: row => row.wait, show: duration, hint: "host time in synchronisation" },
  { id: "flops", head: "FLOP", of: row => row.flops, show: (value, row) => rowSum(value, row.coverFlops, each => withPrefix(each, "")) },
  { id: "dram", head: "DRAM", of: row => row.dram, show: (value, row) => rowSum(value, row.coverBytes, each => withPrefix(each, "B")) },
  { id: "intensity", head: "FLOP/B", of: row => row.intensity, show: digits },
  { id: "rate", head: "FLOP/s", of: row => row.rate, show: value => withPrefix(value, "") },
  { id: "fraction", head: "of roof", of: row => row.fraction, show: percent },
  { id: "bound", head: "bound", text: true, of: row => row.bound },
  { id: "saving", head: "saving", of: row => row.rankSaving, show: (_, row) => savingText(row),
    hint: "how much shorter a step would be at the roof, from low to high; where no step was recorded, how much shorter its kernels" },
  { id: "source", head: "work", text: true, of: row => sourceOf(row), hint: "how FLOPs and bytes are known: counted on the GPU, or by formula" },
  ...METRIC_COLUMNS,
  { id: "flags", head: "flags", text: true, of: row => (row.kernel ? (row.flags || "").split(" ").join(", ") : row.wait > 0.1 * row.span ? "waits" : ""),
    hint: "of kernels as the report flags them; waits: the host waits for more than a tenth of the layer's span" },
];

// The flat list answers the reader's questions and leaves the numbers behind them to the tree and to what is selected.
const FLAT = ["name", "direction", "saving", "bound", "fraction", "time", "source"];
const shownColumns = () => (state.flat ? FLAT.map(id => COLUMNS.find(column => column.id === id)) : COLUMNS.filter(column => column.id !== "source"));
// The part of a bar that is full.
const gauge = (part, limit) => (part >= 0 ? element("span", { class: `gauge limit-${limit}`, "aria-hidden": "true" }, element("i", { style: `width:${Math.min(100, part * 100)}%` })) : "");
let largestSaving = 0; // of the rows
function gaugeOf(column, row) {
  if (!state.flat) return "";
  if (column.id === "fraction") return gauge(row.fraction === null ? -1 : row.fraction, limitOf(row.bound));
  if (column.id === "saving" && row.rankSaving !== null && largestSaving > 0) return gauge(row.rankSaving / largestSaving, limitOf(row.bound));
  return "";
}
// Where a row's work is from.
function sourceOf(row) {
  if (row.flops !== null && reports[row.report].run.source === "predicted") return "predicted";
  return row.analytic ? "by formula" : row.flops === null ? UNKNOWN : "counted";
}

function compare(a, b) {
  const column = COLUMNS.find(each => each.id === state.sort.column);
  // Without a saving rows are in order of their time, whether nothing can be saved or it is unknown.
  const valueOf = row => (column.id === "saving" && state.sort.down && !(row.rankSaving > 0) ? null : column.of(row));
  const [x, y] = [valueOf(a), valueOf(b)];
  const unknown = value => value === null || value === undefined;
  if (x === y || (unknown(x) && unknown(y))) return (b.time || 0) - (a.time || 0); // else the longest first
  if (x === null || x === undefined) return 1; // unknown last, whichever way
  if (y === null || y === undefined) return -1;
  return (x < y ? -1 : 1) * (state.sort.down ? -1 : 1);
}

const openKey = layer => `${layer.report}:${layer.id}`;
const hasMore = layer => Boolean(layer.members) || layer.children.length > 0 || layer.kernels.length > 0;

// What the chart shows, each point a row: what layers do themselves, by formula where nothing was counted, or kernels. Equal
// layers are one row, which opens.
function flatRows() {
  const dots = shownDots();
  const layers = new Map();
  for (const dot of dots) if (!dot.kernel) layers.set(dot.report, (layers.get(dot.report) || []).concat(dot));
  const groups = [...layers.values()].flatMap(of => groupsOf(of)).filter(group => group.length > 1);
  const folded = new Set(groups.flat());
  const start = sharedStart(dots);
  return asRows(dots.filter(dot => !folded.has(dot)), start).concat(groups.map(group => foldedRow(asRows(group, start), start)));
}

function foldedRow(members, start) {
  const saving = savingOf(members), [first] = members, known = members.every(row => row.fraction !== null);
  const time = sumOf(members.map(row => [row.time, row.coverTime]));
  const added = of => (members.every(row => row[of] !== null) ? d3.sum(members, row => row[of]) : null);
  return { ...first, members, id: `${first.report}:${first.layer}:${members.length}`, time: time.value, coverTime: d3.min(members, row => row.coverTime),
    share: added("share"), saving: added("saving"), bestLow: saving.low, bestHigh: saving.low === null ? null : saving.high,
    rankSaving: saving.low === null ? saving.high : (saving.low + saving.high) / 2,
    fraction: known && time.value > 0 ? d3.sum(members, row => row.fraction * row.time) / time.value : first.fraction, // the same work: least time over time
    label: groupName(members.map(row => ({ path: row.path.slice(start.length) || row.path }))) };
}

function asRows(dots, start) {
  const devices = new Set(dots.map(dot => dot.device)).size > 1;
  return dots.map(dot => {
    const layer = dot.kernel ? null : reports[dot.report].byId.get(dot.layer), gpu = devices ? `GPU ${dot.device}: ` : "";
    if (dot.kernel) return Object.assign(dot, { label: gpu + dot.name });
    const own = Boolean(layer) && layer.children.length > 0;
    return { ...dot, id: dot.layer, children: [], kernels: [], flags: "", label: gpu + (dot.path.slice(start.length) || dot.path) + (own ? " (itself)" : "") };
  });
}

// The names that all of these paths begin with, as "Net/": they tell no row from another.
function sharedStart(rows) {
  const paths = rows.filter(row => !row.kernel).map(row => row.path.split("/"));
  if (paths.length < 2) return "";
  let shared = 0;
  while (paths.every(path => path.length > shared + 1 && path[shared] === paths[0][shared])) ++shared;
  return paths[0].slice(0, shared).map(name => name + "/").join("");
}

// What the table shows now: [row, depth].
function visibleRows() {
  const rows = [];
  const shown = reports.filter(report => state.reports.has(report.index));
  if (state.flat) { // rows that do not contain each other
    const matches = row => (row.members || [row]).some(each => each.path.toLowerCase().includes(state.search));
    const found = flatRows().filter(row => !state.search || (row.kernel ? isFound(row) : matches(row)));
    const kernels = !state.search || state.rows === "kernels" ? [] : shown.flatMap(report => report.dots.kernels.filter(dot => dot.name.toLowerCase().includes(state.search)));
    return found.concat(kernels).sort(compare).flatMap(row => [[row, 0], ...(row.members && state.open.has(openKey(row)) ? row.members.map(member => [member, 1]) : [])]);
  }
  if (state.search) {
    for (const report of shown) {
      for (const layer of report.layers) if (layer.path.toLowerCase().includes(state.search)) rows.push([layer, 0]);
      for (const dot of report.dots.kernels) if (dot.name.toLowerCase().includes(state.search)) rows.push([dot, 0]);
    }
    return rows.sort(([a], [b]) => compare(a, b));
  }
  const visit = (layer, depth) => {
    rows.push([layer, depth]);
    if (!state.open.has(openKey(layer))) return;
    for (const child of layer.children.slice().sort(compare)) visit(child, depth + 1);
    for (const kernel of layer.kernels.slice().sort(compare)) rows.push([kernel, depth + 1]);
  };
  for (const report of shown) for (const root of report.roots.slice().sort(compare)) visit(root, 0);
  return rows;
}

// Opens the layers with the most to tell while the table stays short.
function openSome() {
  const queue = reports.flatMap(report => report.roots);
  let rows = queue.length;
  while (queue.length > 0) {
    const layer = queue.shift();
    if (layer.children.length === 0 || rows + layer.children.length > 40) continue;
    rows += layer.children.length + layer.kernels.length;
    state.open.add(openKey(layer));
    queue.push(...layer.children.slice().sort(compare));
  }
}

const NOT_OF_KERNELS = new Set(["host", "span", "wait"]);
function cellOf(column, row) {
  const value = column.of(row), empty = value === null || value === undefined;
  if (column.text) return element("td", { class: "text" }, value || "");
  return element("td", {}, !empty ? column.show(value, row) : row.kernel && NOT_OF_KERNELS.has(column.id) ? "" : unknownSpan(), gaugeOf(column, row));
}

// What a row is called where the table stands: in the flat list, among what was found, or in the tree.
function labelOfRow(row) {
  const report = reports.length > 1 ? reports[row.report].label : "";
  if (state.search && !row.members) return row.kernel ? row.name : row.path;
  if (state.flat) return (report ? report + ": " : "") + row.label;
  return row.name || report || "whole program";
}

// All of a name, and of all names of a row of several.
function fullName(row) {
  if (row.members) return row.members.map(member => member.path).join("\n");
  return (row.kernel ? row.name : row.path) + (row.dotted ? `  (${row.dotted})` : "");
}

function nameCell(row, depth) {
  const label = labelOfRow(row);
  const space = element("span", { style: `padding-left:${depth * 16}px` });
  const open = !row.kernel && state.open.has(openKey(row));
  const turn = !row.kernel && (row.members || !state.search) && hasMore(row)
    ? element("button", { type: "button", "aria-expanded": String(open), "aria-label": `${open ? "Close" : "Open"} ${shortened(label, 80)}`, onclick: event => {
      event.stopPropagation();
      if (open) state.open.delete(openKey(row));
      else state.open.add(openKey(row));
      changed("table");
    } }, open ? "▾" : "▸")
    : state.flat && depth === 0 ? "" : element("span", { style: "display:inline-block;width:20px" });
  const shown = state.flat ? shortenedMiddle(label, row.members ? 28 : 36) : shortened(label, 300);
  return element("td", { class: "name", title: shortened(fullName(row), 600) }, space, turn, element("bdi", {}, shown), row.members ? ` ×${row.members.length}` : "");
}

const pinOf = row => ({ report: row.report, layer: row.kernel ? row.layer : row.id, key: row.kernel ? row.key : null });

function rowElement([row, depth]) {
  const choose = () => {
    if (row.kernel && state.rows !== "kernels") state.rows = "kernels";
    if (row.members) {
      pinAll(row.members);
      changed("mark");
    } else {
      pin(pinOf(row));
    }
    changed("chart");
  };
  return Object.assign(element("tr", { class: row.kernel ? "kernel" : null, tabindex: "0", onclick: choose, onkeydown: event => {
    if (event.key === "Enter" && event.target.tagName === "TR") choose();
    const next = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (next && event.target.tagName === "TR" && event.currentTarget[next]) {
      event.preventDefault();
      event.currentTarget[next].focus();
    }
  }, onmouseenter: () => hover(row), onmouseleave: () => hover(null) }, nameCell(row, depth), ...shownColumns().slice(1).map(column => cellOf(column, row))), { row });
}

// The row's own point, where it has one.
function hover(row) {
  state.hovered = row && (shownDots().find(dot => (row.members ? dot.key === row.key : row.kernel ? dot === row : !dot.kernel && dot.report === row.report && dot.layer === row.id)) || null);
  changed("mark");
}

// Sums over layers and GPUs: how many of them do not know their part.
const withUnknown = (sum, show) => sumText(sum, show) + (sum.partial && sum.value !== null ? `, ${sum.unknown} unknown` : "");

// Copies and idle time: what no layer's kernels are.
function extraRows() {
  const rows = [];
  for (const report of reports.filter(each => state.reports.has(each.index))) {
    const name = text => `${reports.length > 1 ? report.label + ": " : ""}${text}`;
    const byKind = new Map();
    for (const copy of report.copies) {
      byKind.set(copy.kind, (byKind.get(copy.kind) || []).concat(copy));
    }
    for (const [kind, copies] of byKind) {
      const [bytes, time] = ["bytes", "time_ns"].map(part => sumOf(copies.map(copy => [copy[part]])));
      rows.push([name(`copies, ${kind}: ${digits(d3.sum(copies, copy => copy.count))}, ${withUnknown(bytes, each => withPrefix(each, "B"))}`), withUnknown(time, duration)]);
    }
    if (report.run.unit === "step") rows.push([name("no kernel runs (copies may)"), duration(report.step.idle_ns)]);
  }
  return rows.map(([text, time]) => element("tr", { class: "extra" }, element("td", { class: "name" }, text),
    ...shownColumns().slice(1).map(column => element("td", {}, column.id !== "time" ? "" : time === UNKNOWN ? unknownSpan() : time))));
}

// A flat list of the ten that could save most, or the tree.
function drawArrangement() {
  const pick = (flat, text) => choice("arrangement", text, text, state.flat === flat, () => {
    state.flat = flat;
    topOnly = true;
    changed("table");
    changed("chart", "mark"); // the chart has another width then
  });
  document.getElementById("arrangement").replaceChildren(group("Rows", pick(true, "by saving"), pick(false, "tree")));
}

const headOf = column => (column.id === "name" && state.flat && state.rows === "kernels" ? "kernel" : column.head);

function drawTable() {
  document.querySelector("main").classList.toggle("tree", !state.flat); // it needs the whole width
  const head = element("tr", {}, ...shownColumns().map(column => element("th", { class: column.text ? "text" : null, scope: "col", title: column.hint || null,
    "aria-sort": state.sort.column === column.id ? (state.sort.down ? "descending" : "ascending") : null },
  element("button", { type: "button", onclick: () => {
    state.sort = { column: column.id, down: state.sort.column === column.id ? !state.sort.down : !column.text };
    changed("table");
  } }, headOf(column) + (state.sort.column === column.id ? (state.sort.down ? " ▼" : " ▲") : "")))));
  document.querySelector("#table thead").replaceChildren(head);
  const rows = visibleRows();
  largestSaving = d3.max(rows, ([row]) => row.rankSaving) || 0;
  document.querySelector("#table tbody").replaceChildren(...rows.slice(0, rowsWanted()).map(rowElement), ...(state.search ? [] : extraRows()));
  document.getElementById("found").textContent = state.search ? `${plural(rows.length, "row")} found` : "";
  const rest = rows.length - rowsWanted();
  document.getElementById("more").replaceChildren(...(rest > 0 ? [element("button", { type: "button", onclick: () => {
    if (rowsWanted() < rowsShown) topOnly = false;
    else rowsShown += 1000;
    drawTable();
  } }, `Show more of ${rest} further rows`)] : []));
  markTable();
}

function isRowPinned(row, pinned) {
  if (row.members) return Boolean(pinned.keys) && row.members.every(member => pinned.keys.has(member.key));
  if (pinned.keys) return row.kernel ? pinned.keys.has(row.key) : pinned.layers.has(row.id);
  return pinned.key && row.kernel ? row.key === pinned.key : !row.kernel && row.id === pinned.layer;
}

function markTable() {
  const { pinned } = state;
  for (const line of document.querySelectorAll("#table tbody tr")) {
    const { row } = line;
    const on = row && pinned && row.report === pinned.report && isRowPinned(row, pinned);
    line.classList.toggle("pinned", Boolean(on));
    if (on) line.setAttribute("aria-selected", "true");
    else line.removeAttribute("aria-selected");
  }
}

// Opens the way to a layer and shows its row.
function reveal(report, id, withKernels) {
  if (state.flat) {
    topOnly = topOnly && visibleRows().slice(0, TOP_ROWS).some(([row]) => row.report === report && (row.kernel ? row.layer : row.id) === id);
    drawTable();
    return;
  }
  for (let layer = reports[report].byId.get(id), first = true; layer; layer = reports[report].byId.get(layer.parent), first = false) {
    if (!first || withKernels) state.open.add(openKey(layer));
  }
  drawTable();
  const line = document.querySelector("#table tr.pinned");
  if (!line) return;
  // Only the table's own box scrolls: the page stays where the reader has it.
  const box = document.querySelector(".scroll"), head = document.querySelector("#table thead").offsetHeight;
  box.scrollTop = Math.min(Math.max(box.scrollTop, line.offsetTop + line.offsetHeight - box.clientHeight), line.offsetTop - head);
}
