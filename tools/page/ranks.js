// SPDX-License-Identifier: Apache-2.0
// The ranks of one run beside each other: how long each one's kernels take, which one is slow, and in which layers they differ.
const MOST_RANKS = 64, MOST_SPREADS = 3, SPREAD_MATTERS = 0.05;

// What a rank computes in a step, without waiting for others.
function computing(report) {
  return report.dots.kernels.filter(dot => !dot.again && dot.bound !== "communication" && dot.time > 0);
}
function rankWork(report) {
  return d3.sum(computing(report), dot => dot.time);
}

// Which rank the others wait for: that with the most work.
function slowestReport() {
  return reports.reduce((most, report) => (rankWork(report) > rankWork(most) ? report : most));
}

// Layers by how much longer the slowest rank takes than the ranks do on average: {name, direction, report, longest, mean}.
function spreadsOf() {
  const layers = new Map();
  for (const report of reports) {
    for (const dot of report.dots.layers) {
      if (dot.time === null || dot.again || dot.bound === "communication") continue;
      const key = `${dot.direction} ${dot.path} ${dot.name}`;
      layers.set(key, (layers.get(key) || []).concat({ dot, report }));
    }
  }
  return [...layers.values()].filter(rows => rows.length === reports.length).map(rows => {
    const slowest = rows.reduce((most, row) => (row.dot.time > most.dot.time ? row : most)), mean = d3.mean(rows, row => row.dot.time);
    return { name: slowest.dot.path, direction: slowest.dot.direction, report: slowest.report, longest: slowest.dot.time, mean };
  }).filter(row => row.longest > row.mean * (1 + SPREAD_MATTERS)).sort((a, b) => (b.longest - b.mean) - (a.longest - a.mean)).slice(0, MOST_SPREADS);
}

function showReport(report) {
  state.reports = new Set([report.index]);
  drawControls();
  drawVerdict();
  drawAdvice();
  drawMemory();
  changed("chart", "table");
}

function drawRanks() {
  const ranks = reports.map(report => ({ report, work: rankWork(report) })).filter(rank => rank.work > 0);
  if (ranks.length < 2) return "";
  const longest = d3.max(ranks, rank => rank.work), mean = d3.mean(ranks, rank => rank.work);
  const [slowest] = ranks.slice().sort((a, b) => b.work - a.work);
  const word = reports.every(report => report.run.rank !== null) ? "rank" : "process";
  const differs = slowest.work > mean * (1 + SPREAD_MATTERS);
  const strip = ranks.slice(0, MOST_RANKS).map(({ report, work }) => element("button", { type: "button", class: "rank", title: `${report.label}: ${duration(work)} of kernels a ${unitOf(report)}; a click shows it`, onclick: () => showReport(report) },
    element("span", { class: "soft" }, shortenedMiddle(report.label.replace(/^rank /, ""), 16)),
    element("span", { class: "stack", style: `width:${100 * work / longest}%` }, ...inOrder(timeByLimit(computing(report))).map(([limit, ns]) => element("span", { class: `limit-${limit}`, style: `flex-grow:${ns / work}` })))));
  const spreads = spreadsOf().map(row => `${shortPath(row.name.split("/"))}${row.direction === "none" ? "" : ` ${row.direction}`}: ${duration(row.longest)} on ${row.report.label}, ${duration(row.mean)} on average`);
  return element("div", { class: "ranks" },
    element("p", {}, element("strong", {}, differs ? `${word === "rank" ? capital(slowest.report.label) : slowest.report.label} is the slowest` : `No ${word} is slow`),
      `: its kernels take ${duration(slowest.work)} a ${unitOf(slowest.report)}, those of all ${ranks.length} take ${duration(mean)} on average, communication left out.`),
    element("div", { class: "strip-of-ranks", style: `columns:${Math.min(4, Math.ceil(strip.length / 8))} 180px`, role: "group", "aria-label": "Kernels' time of each, by what limits it" }, ...strip),
    ranks.length > MOST_RANKS ? element("p", { class: "soft" }, `${ranks.length - MOST_RANKS} more`) : "",
    spreads.length ? element("p", {}, `${word === "rank" ? "Ranks" : "Processes"} differ most in ${spreads.join("; ")}.`) : "");
}
