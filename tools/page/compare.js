// SPDX-License-Identifier: Apache-2.0
// From one run to another: what changed, by how much of the step, and what became of the advice.
const compared = raw.comparison || null;
const MOST_BARS = 8, MOST_CHANGES = 10, SAME_CHANGE = 0.25;

const signed = (value, show) => (value === null || value === undefined ? UNKNOWN : value === 0 ? "0" : (value > 0 ? "+" : "−") + show(Math.abs(value)));
const signedTime = ns => signed(ns, duration);
const signedPercent = share => signed(share, percent);
// What only one of the runs has took no time in the other.
const sideOf = (row, side) => row.time_ns[side] ?? (row.match === (side === "a" ? "new" : "gone") ? 0 : null);
const differenceOf = row => (sideOf(row, "a") === null || sideOf(row, "b") === null ? null : sideOf(row, "b") - sideOf(row, "a"));
const gainOrLoss = ns => (ns < 0 ? "gain" : ns > 0 ? "loss" : "");

const comparedRows = () => (compared.layers.length > 1 ? compared.layers : compared.kernels);

// Equal layers that changed alike are one: {rows, name, a, b, difference}.
function changesOf(rows) {
  const tookAlike = (first, row) => ["a", "b"].every(side => sideOf(first, side) !== null && alike(sideOf(first, side), sideOf(row, side), SAME_CHANGE));
  const start = sharedStart(rows.map(row => ({ path: row.name })));
  return grouped(rows, row => [row.device, row.direction, row.match, row.layer, ...endOf(row.name)], tookAlike).map(group => {
    const [a, b] = ["a", "b"].map(side => (group.some(row => sideOf(row, side) === null) ? null : d3.sum(group, row => sideOf(row, side))));
    return { rows: group, a, b, difference: a === null || b === null ? null : b - a,
      name: groupName(group.map(row => ({ path: row.name.slice(start.length) || row.name }))) };
  }).sort((a, b) => Math.abs(b.difference || 0) - Math.abs(a.difference || 0));
}

// What the two runs are measured by: their steps, or without steps all kernels' time.
function wholeOf() {
  for (const name of ["step_wall_ns", "step_host_ns"]) {
    const step = compared[name];
    if (step && step.a !== null && step.b !== null) return { ...step, what: name === "step_wall_ns" ? "a step" : "a step on the host", step: true };
  }
  const [a, b] = ["a", "b"].map(side => (compared.wholes.length && compared.wholes.every(row => sideOf(row, side) !== null) ? d3.sum(compared.wholes, row => sideOf(row, side)) : null));
  const noise = compared.wholes.every(row => row.time_ns.noise !== null) ? d3.sum(compared.wholes, row => row.time_ns.noise) : null;
  return { a, b, change: a > 0 && b !== null ? b / a - 1 : null, noise, what: "the kernels of a run", step: false };
}

function compareVerdict(whole) {
  if (whole.a === null || whole.b === null) return "How long a step takes is unknown in one of the runs.";
  const within = whole.noise !== null && Math.abs(whole.b - whole.a) <= whole.noise;
  const change = whole.a === whole.b ? "as long as before" : `${signedTime(whole.b - whole.a)} (${signedPercent(whole.change)})`;
  return `${capital(whole.what)}: ${duration(whole.a)} → ${duration(whole.b)}, ${change}${within ? ", within the noise" : whole.noise !== null ? `, noise ${duration(whole.noise)}` : ""}.`;
}

// [what, ns] from A to B; the last before B is what layers' times do not explain.
function stepsBetween(whole, changes) {
  const told = changes.filter(change => change.difference && !change.rows.every(row => row.within_noise)).slice(0, MOST_BARS);
  const bars = told.map(change => ({ name: change.name + (change.rows.length > 1 ? ` ×${change.rows.length}` : "") + (change.rows[0].direction === "none" ? "" : ` ${change.rows[0].direction}`), ns: change.difference, note: noteOf(change) }));
  const others = d3.sum(changes.filter(change => !told.includes(change)), change => change.difference || 0);
  if (others) bars.push({ name: "all other layers", ns: others });
  if (!whole.step) return bars;
  const idle = compared.step_idle_ns;
  if (idle && idle.a !== null && idle.b !== null && idle.a !== idle.b) bars.push({ name: "the GPU is idle", ns: idle.b - idle.a });
  const rest = whole.b - whole.a - d3.sum(bars, bar => bar.ns);
  if (Math.abs(rest) > 1e-3 * Math.max(whole.a, whole.b)) bars.push({ name: "copies, overlap and the rest", ns: rest });
  return bars;
}

const noteOf = ({ rows: [row] }) => (row.match === "same" ? "" : row.match);

function drawWaterfall(whole, bars) {
  const height = 26 * (bars.length + 2) + 44, width = 640, left = 250, right = 96;
  const made = d3.select(document.createElementNS("http://www.w3.org/2000/svg", "svg")).attr("class", "waterfall").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img")
    .attr("aria-label", `From ${duration(whole.a)} to ${duration(whole.b)}: ${bars.map(bar => `${bar.name} ${signedTime(bar.ns)}`).join(", ")}`);
  const points = [0, whole.a, whole.b];
  let at = whole.a;
  for (const bar of bars) points.push(at += bar.ns);
  const x = d3.scaleLinear().domain([Math.min(0, d3.min(points)), d3.max(points)]).range([left, width - right]);
  const row = (i, name, from, to, kind, value) => {
    const y = 8 + 26 * i;
    made.append("text").attr("class", "label").attr("x", left - 8).attr("y", y + 14).attr("text-anchor", "end").text(shortenedMiddle(name, 36)).append("title").text(shortened(name, 300));
    made.append("rect").attr("class", `bar ${kind}`).attr("x", x(Math.min(from, to))).attr("y", y + 2).attr("width", Math.max(1, Math.abs(x(to) - x(from)))).attr("height", 18);
    made.append("text").attr("class", "label").attr("x", x(Math.max(from, to)) + 5).attr("y", y + 15).text(value);
    if (i <= bars.length) made.append("line").attr("class", "headroom").attr("x1", x(to)).attr("x2", x(to)).attr("y1", y + 20).attr("y2", y + 28);
  };
  row(0, `A: ${whole.what}`, 0, whole.a, "whole", duration(whole.a));
  at = whole.a;
  bars.forEach((bar, i) => {
    row(i + 1, bar.name + (bar.note ? ` (${bar.note})` : ""), at, at + bar.ns, gainOrLoss(bar.ns), signedTime(bar.ns));
    at += bar.ns;
  });
  row(bars.length + 1, `B: ${whole.what}`, 0, whole.b, "whole", duration(whole.b));
  const axis = d3.axisBottom(x).ticks(5).tickFormat(ns => duration(ns));
  made.append("g").attr("class", "axis").attr("transform", `translate(0,${height - 30})`).call(axis);
  return made.node();
}

const SMALL_CHANGE = 0.005;
const isSame = pair => pair.change !== null && Math.abs(pair.change) < SMALL_CHANGE;
const COMPARED_COLUMNS = [
  { head: "A", cell: change => duration(change.a) },
  { head: "B", cell: change => duration(change.b) },
  { head: "change", cell: change => (change.rows.every(row => row.within_noise) ? "~ " : "") + signedTime(change.difference) },
  { head: "%", cell: change => (change.a > 0 && change.b !== null ? signedPercent(change.b / change.a - 1) : "") },
  { head: "launches", cell: ({ rows: [row] }) => (row.match === "same" && !isSame(row.launches) && row.launches.a !== null ? `${digits(row.launches.a)} → ${digits(row.launches.b)}` : "") },
  { head: "a launch", cell: ({ rows: [row] }) => (!isSame(row.launches) && row.time_per_launch_ns.change ? signedPercent(row.time_per_launch_ns.change) : "") },
  { head: "FLOP", same: row => isSame(row.flops), cell: ({ rows: [row] }) => (row.flops.change === null ? (row.match === "same" ? UNKNOWN : "") : signedPercent(row.flops.change)) },
  { head: "DRAM", same: row => isSame(row.bytes_dram), cell: ({ rows: [row] }) => (row.bytes_dram.change === null ? (row.match === "same" ? UNKNOWN : "") : signedPercent(row.bytes_dram.change)) },
  { head: "of roof", cell: ({ rows: [row] }) => (row.roof_fraction.a === null && row.roof_fraction.b === null ? UNKNOWN : `${percent(row.roof_fraction.a)} → ${percent(row.roof_fraction.b)}`) },
];

// A layer's points in both runs.
function showCompared({ rows }) {
  const names = new Set(rows.map(row => row.name)), [{ direction }] = rows;
  const dots = reports[1].dots.layers.filter(dot => names.has(dot.path) && dot.direction === direction);
  if (dots.length === 0) return;
  pinAll(dots);
  changed("mark");
}

let allChanges = false;
function drawChanges(changes) {
  const beyond = changes.filter(change => !change.rows.every(row => row.within_noise)), within = changes.length - beyond.length;
  const listed = allChanges ? changes : beyond.slice(0, MOST_CHANGES);
  const same = COMPARED_COLUMNS.filter(column => column.same && listed.length && listed.every(change => column.same(change.rows[0])));
  const columns = COMPARED_COLUMNS.filter(column => !same.includes(column) && listed.some(change => !["", UNKNOWN].includes(column.cell(change))));
  const line = change => element("tr", { tabindex: "0", onclick: () => showCompared(change), onkeydown: event => { if (event.key === "Enter") showCompared(change); } },
    element("td", { class: "name", title: shortened(change.rows.map(row => (row.before ? `${row.before} → ` : "") + row.name).join("\n"), 600) }, element("bdi", {}, shortenedMiddle(change.name, 44)),
      change.rows.length > 1 ? ` ×${change.rows.length}` : "", change.rows[0].direction === "none" ? "" : element("span", { class: "soft" }, ` ${change.rows[0].direction}`),
      noteOf(change) ? element("strong", {}, ` ${noteOf(change)}`) : ""),
    ...columns.map(column => {
      const text = column.cell(change);
      return element("td", { class: column.head === "change" ? gainOrLoss(change.rows.every(row => row.within_noise) ? 0 : change.difference) : null }, text === UNKNOWN ? unknownSpan() : text);
    }));
  const rest = changes.length - listed.length;
  const table = element("table", {}, element("thead", {}, element("tr", {}, element("th", { class: "text", scope: "col" }, "layer"), ...columns.map(column => element("th", { scope: "col" }, column.head)))),
    element("tbody", {}, ...listed.map(line)));
  const more = rest > 0 ? element("button", { type: "button", onclick: () => { allChanges = true; drawComparison(); } }, `Show all ${changes.length} rows`) : "";
  return element("div", {}, listed.length ? element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "What changed" }, table) : element("p", {}, "No layer changed beyond the noise."),
    element("p", { class: "soft" }, [within > 0 ? `${plural(within, "row")} within the noise (~), by the spread within both runs. ` : "", same.length ? `${same.map(column => column.head).join(" and ")} of these rows are the same in both.` : ""].join(""), more));
}

function drawComparison() {
  const section = document.getElementById("compare");
  section.hidden = false;
  const whole = wholeOf(), changes = changesOf(comparedRows());
  const careful = [...compared.obstacles, ...(compared.other_work ? [`${compared.other_work}, so times are of different work.`] : []), ...compared.throttled.map(text => `${text}.`)];
  const scores = compared.advice.map(({ id, predicted_ns: promised, measured_ns: saved, remark, not_followed: left }) =>
    `${capital(id.replace(/_/g, " "))}: promised up to ${duration(promised)}, ${duration(saved)} came true${remark}${left.length ? `; not in ${left.slice(0, 3).join(", ")}${left.length > 3 ? ` and ${left.length - 3} more` : ""}` : ""}.`);
  const bars = whole.a === null || whole.b === null ? [] : stepsBetween(whole, changes);
  section.replaceChildren(element("p", { class: "win" }, compareVerdict(whole)),
    ...careful.map(text => element("p", { class: "loss" }, `Careful: ${text}`)),
    element("div", { class: "sides" },
      element("div", {}, element("h2", {}, "From A to B"), bars.length ? drawWaterfall(whole, bars) : element("p", {}, "Nothing differs.")),
      element("div", {}, element("h2", {}, "What changed"), drawChanges(changes))),
    ...(scores.length ? [element("h2", {}, "What became of the advice of A"), element("ul", {}, ...scores.map(text => element("li", { dir: "auto" }, text)))] : []),
    ...compared.remarks.map(text => element("p", { class: "soft" }, text)),
    element("h2", {}, "Both runs in one chart"));
}
