// SPDX-License-Identifier: Apache-2.0
// Files of what is shown: the chart as SVG, its points as CSV.
function save(name, type, text) {
  const link = element("a", { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const fileName = ending => `gable-${state.view}-${state.rows}.${ending}`;

function saveSvg() {
  const copy = svg.node().cloneNode(true);
  const box = svg.node().getBoundingClientRect();
  const colours = getComputedStyle(document.documentElement);
  const css = CHART_STYLE.replace(/var\((--[a-z0-9-]+)\)/g, (_, name) => colours.getPropertyValue(name).trim());
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", box.width);
  copy.setAttribute("height", box.height);
  const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  style.textContent = css;
  const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
  title.textContent = document.title;
  const back = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [key, value] of Object.entries({ width: "100%", height: "100%", fill: colours.getPropertyValue("--page").trim() })) back.setAttribute(key, value);
  copy.prepend(title, style, back);
  save(fileName("svg"), "image/svg+xml", new XMLSerializer().serializeToString(copy));
}

const CSV_COLUMNS = ["path", "name", "direction", "device", "launches", "time", "share", "flops", "dram", "l2", "l1", "intensity", "intensityL2", "intensityL1",
  "rate", "bandwidth", "fraction", "bound", "ceiling", "level", "source", "saving", "onPath", "savingLow", "savingHigh",
  "computeTime", "memoryTime", "analytic", "registers", "shared", "perSm", "waves", "flags",
  "occupancy", "warp_efficiency", "warp_efficiency_predicated", "branch_uniformity", "l1_hit_rate", "l2_hit_rate", "sectors_per_load",
  "sectors_per_store", "l2_sectors_per_request", "compute_throughput", "memory_throughput", "dram_throughput"];
const CSV_HEADS = { time: "time_ns", dram: "dram_bytes", l2: "l2_bytes", l1: "l1_bytes", intensity: "flop_per_byte_dram", intensityL2: "flop_per_byte_l2",
  intensityL1: "flop_per_byte_l1", rate: "flop_per_s", bandwidth: "dram_bytes_per_s", fraction: "roof_fraction", saving: "saving_ns",
  onPath: "path_ns", savingLow: "step_saving_low_ns", savingHigh: "step_saving_high_ns",
  computeTime: "compute_time_ns", memoryTime: "memory_time_ns", shared: "shared_bytes", perSm: "blocks_per_sm" };

// A text that a spreadsheet would take for a formula gets an apostrophe.
function csvCell(value) {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? "'" + value : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

function saveCsv() {
  const several = reports.length > 1;
  const source = [...new Set(reports.map(report => report.run.source))].join(" ");
  const lines = [["data", ...(several ? ["report"] : []), ...CSV_COLUMNS.map(column => CSV_HEADS[column] || column)].join(",")];
  for (const dot of shownDots().filter(isFound)) {
    lines.push([source, ...(several ? [reports[dot.report].label] : []), ...CSV_COLUMNS.map(column => dot[column])].map(csvCell).join(","));
  }
  save(fileName("csv"), "text/csv", lines.join("\n") + "\n");
}
