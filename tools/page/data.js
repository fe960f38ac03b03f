// SPDX-License-Identifier: Apache-2.0
// The reports as page_data.h wrote them, with rows as objects.
const raw = JSON.parse(document.getElementById("data").textContent);

function rowsOf(table) {
  const names = Object.keys(table.same);
  const same = names.map(name => table.same[name]);
  const columns = [...table.columns, ...names].map(name => ({ kind: name[0], name: name.replace(/^[$%]/, "") }));
  return table.rows.map(cells => {
    const row = {};
    columns.forEach(({ kind, name }, i) => {
      const cell = i < cells.length ? cells[i] : same[i - cells.length];
      if (kind === "$") row[name] = raw.strings[cell];
      else if (kind === "%") {
        row[name] = [];
        for (let k = 0; k < cell.length; k += 2) row[name].push([raw.strings[cell[k]], cell[k + 1]]);
      } else row[name] = cell;
    });
    if (row.types && row.types.length === 1 && row.types[0][1] === undefined) row.types[0][1] = row.flops;
    return row;
  });
}

const FULL_COVERAGE = 0.95; // as in tables: a sum of less than this share of its row is "at least" so much
const covers = coverage => coverage !== null && coverage >= FULL_COVERAGE;

// Sums over parts that may be unknown.
function sumOf(parts) {
  const known = parts.filter(([value]) => value !== null);
  return { value: known.length ? d3.sum(known, ([value]) => value) : null, unknown: parts.length - known.length,
    partial: known.length < parts.length || parts.some(([, coverage]) => coverage !== undefined && !covers(coverage)) };
}
const sumText = (sum, show) => `${sum.value !== null && sum.partial ? "at least " : ""}${show(sum.value)}`;
// A row's own sum, which is of its known parts. Without launches nothing of a time is missing.
const rowSum = (value, coverage, show) => sumText(sumOf([[value, coverage]]), show);
const timeText = row => rowSum(row.time, row.coverTime === null ? undefined : row.coverTime, duration);

// What follows from a point's own numbers.
function complete(dots, latency) {
  const over = (top, bottom, scale = 1) => (top === null || !(bottom > 0) ? null : top / bottom * scale);
  const whole = d3.sum(dots, dot => (dot.again ? 0 : dot.time));
  for (const dot of dots) {
    dot.share = dot.again ? null : over(dot.time, whole);
    dot.box = latency === null || dot.launches === null ? null : dot.launches * latency;
    completeSaving(dot);
    if (!dot.kernel) continue;
    dot.intensity = over(dot.flops, dot.dram);
    dot.intensityL2 = over(dot.flops, dot.l2);
    dot.intensityL1 = over(dot.flops, dot.l1);
    dot.rate = over(dot.flops, dot.time, 1e9);
    dot.bandwidth = over(dot.dram, dot.time, 1e9);
  }
}

// What was not replayed saves at most what its kernels would be shorter, and at most what they have on the critical path.
function completeSaving(row) {
  if (row.savingLow === null && row.onPath !== null && row.saving !== null) {
    row.bestLow = 0;
    row.bestHigh = Math.min(row.onPath, row.saving);
  } else {
    row.bestLow = row.savingLow;
    row.bestHigh = row.savingHigh;
  }
  row.rankSaving = row.bestLow === null ? row.saving : (row.bestLow + row.bestHigh) / 2;
}

const savingText = row => (row.bestLow === null ? duration(row.saving) : rangeText(row.bestLow, row.bestHigh));

const reports = raw.reports.map((each, index) => {
  const { run } = each.report;
  const label = raw.comparison ? "AB"[index] : run.rank !== null ? `rank ${run.rank}` : raw.reports.length > 1 ? each.file || `process ${run.pid}` : "";
  const layers = rowsOf(each.layers);
  const byId = new Map(layers.map(layer => [layer.id, layer]));
  for (const layer of layers) {
    layer.report = index;
    completeSaving(layer);
    layer.children = [];
    layer.kernels = [];
  }
  for (const layer of layers) {
    const parent = byId.get(layer.parent);
    if (parent) parent.children.push(layer);
    layer.path = (parent && parent.name ? parent.path + "/" : "") + (layer.name || "(no layer)");
  }
  for (const [id, shown, more] of each.operators) {
    const layer = byId.get(id);
    if (layer) Object.assign(layer, { operators: shown, moreOperators: more });
  }
  const dots = {};
  for (const kind of ["layers", "kernels"]) {
    dots[kind] = rowsOf(each.dots[kind]).map((dot, i) => {
      const layer = byId.get(dot.layer);
      Object.assign(dot, { report: index, key: `${index}${kind[0]}${i}`, kernel: kind === "kernels", path: layer ? layer.path : "(no layer)" });
      dot.search = (dot.name + " " + dot.path).toLowerCase();
      if (dot.kernel && layer) layer.kernels.push(dot);
      return dot;
    });
  }
  for (const kind of ["layers", "kernels"]) complete(dots[kind], each.report.step.launch_latency_ns);
  return { ...each.report, index, label, file: each.file, command: each.command, advice: each.advice, path: each.path, memory: each.memory, layers, byId, roots: layers.filter(layer => !byId.has(layer.parent)), dots };
});

// The least coverage among the roots of a report's devices.
const coverageOf = (report, part) => d3.min([1, ...report.roots.map(root => root[part] || 0)]);
// What shares are of.
const timeOfShares = () => (reports.some(report => state.reports.has(report.index) && !covers(coverageOf(report, "coverTime"))) ? "known time" : "time");

const unitOf = report => (report.run.unit === "step" ? "step" : "run");
const LEVELS = [
  { id: "dram", name: "DRAM", intensity: "intensity" },
  { id: "l2", name: "L2", intensity: "intensityL2" },
  { id: "l1", name: "L1", intensity: "intensityL1" },
];

// Roofs of all reports, each once: {device, kind, name, value, source, set}.
const roofs = [];
for (const report of reports) {
  for (const ceiling of report.ceilings) {
    const source = (ceiling.source || "").split(":")[0];
    const set = ceiling.clock ? `${source}, ${ceiling.clock} clock` : source;
    const known = roofs.find(each => each.device === ceiling.device && each.name === ceiling.name && each.set === set && each.value === ceiling.value);
    if (known) known.reports.add(report.index);
    else roofs.push({ ...ceiling, set, reports: new Set([report.index]) });
  }
}

// Processes of one run: ranks, or processes that ran the same command on one host and started together.
const ONE_START = 10 * 60 * 1000; // ms
const areOneRun = (() => {
  const runs = reports.map(report => report.run), [first] = runs;
  if (raw.comparison || runs.length < 2 || new Set(runs.map(run => run.rank ?? run.pid)).size < runs.length) return false;
  const apart = d3.max(runs, run => Math.abs(Date.parse(run.started_at) - Date.parse(first.started_at)));
  return runs.every(run => run.command.join(" ") === first.command.join(" ") && (run.rank !== null || run.hostname === first.hostname)) && apart < ONE_START;
})();
