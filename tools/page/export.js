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

// Behind the limits, which stand beside their colours.
const wordsOfLegend = () => document.getElementById("legend").lastChild.textContent;
// Of what a picture is, in lines: the program, the GPU, and how its roofs are known.
function pictureHead() {
  const bySource = new Map();
  for (const roof of computeRoofs().concat(memoryRoofs())) bySource.set(roofSource(roof), (bySource.get(roofSource(roof)) || []).concat(roofName(roof.name)));
  const sources = [...bySource].map(([source, names]) => `${[...new Set(names)].join(", ")} ${source}`).join("; ");
  return [document.getElementById("title").textContent, document.getElementById("facts").textContent,
    `${current.view.name} of ${state.rows === "layers" ? "layers" : "kernels"}. ${sources ? `Roofs: ${sources}.` : "No roof is known."}`];
}

// The chart with what one must know to read it elsewhere: {text, width, height}.
function wholePicture() {
  const svgElement = (name, attributes, text = "") => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    return made;
  };
  current.asElements = true; // a canvas cannot go along
  drawMarks();
  const chart = svg.node().cloneNode(true), { clientWidth: width, clientHeight: tall } = svg.node();
  current.asElements = false;
  drawMarks();
  const colours = getComputedStyle(document.documentElement), colour = name => colours.getPropertyValue(name).trim();
  const css = CHART_STYLE.replace(/var\((--[a-z0-9-]+)\)/g, (_, name) => colour(name));
  const whole = svgElement("svg", { xmlns: "http://www.w3.org/2000/svg", class: chart.getAttribute("class") || "" });
  const words = (lines, y, size, weight, parts = []) => lines.forEach((line, i) =>
    parts.push(svgElement("text", { x: 12, y: y + i * (size + 4), style: `font: ${weight} ${size}px system-ui, "DejaVu Sans", sans-serif; fill: ${colour("--text")}` }, line))) || parts;
  const [title, ...facts] = pictureHead();
  const head = [wrapped(title, width - 24, 15).slice(0, 2), facts.flatMap(line => wrapped(line, width - 24, 12))];
  const top = 12 + head[0].length * 19 + head[1].length * 16 + 6;
  const legend = wrapped(wordsOfLegend(), width - 24, 12), limits = [...document.querySelectorAll("#legend .swatch")];
  const bottom = top + tall + (limits.length ? 22 : 4), height = bottom + legend.length * 16 + 8;
  for (const [key, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) whole.setAttribute(key, value);
  for (const [key, value] of Object.entries({ x: 0, y: top, width, height: tall })) chart.setAttribute(key, value);
  whole.append(svgElement("title", {}, document.title), svgElement("style", {}, css), svgElement("rect", { width: "100%", height: "100%", fill: colour("--page") }),
    ...words(head[0], 24, 15, 600), ...words(head[1], 24 + head[0].length * 19 - 2, 12, 400), chart, ...words(legend, bottom + 12, 12, 400));
  let at = 12;
  for (const limit of limits) {
    whole.append(svgElement("rect", { x: at, y: bottom - 14, width: 10, height: 10, fill: getComputedStyle(limit).backgroundColor }));
    const name = limit.nextSibling.textContent.replace(" · ", "");
    whole.append(...words([name], bottom - 5, 12, 400).map(text => (text.setAttribute("x", at + 14), text)));
    at += textWidth(name, 12) + 30;
  }
  return { text: new XMLSerializer().serializeToString(whole), width, height };
}

const saveSvg = () => save(fileName("svg"), "image/svg+xml", wholePicture().text);

// Twice as sharp as the screen, for slides.
function savePng() {
  const { text, width, height } = wholePicture();
  const image = new Image();
  image.onload = () => {
    const canvas = Object.assign(document.createElement("canvas"), { width: width * 2, height: height * 2 });
    canvas.getContext("2d").drawImage(image, 0, 0, width * 2, height * 2);
    canvas.toBlob(blob => save(fileName("png"), "image/png", blob));
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
}

// The answer as text for a ticket: what a step is, the cards, and the rows that the table shows first.
function markdown() {
  const plain = text => text.replace(/\s+/g, " ").trim().replace(/[\\`*_|<>[\]]/g, "\\$&");
  const words = selector => [...document.querySelectorAll(selector)].map(each => plain(each.textContent));
  const lines = [`**${words("#title")[0]}**`, "", words("#facts")[0], ...words("#lost").filter(text => text !== "Nothing was lost."), "", ...words(".division p"), ""];
  for (const card of document.querySelectorAll(".card")) {
    const [place, ...parts] = [...card.querySelectorAll(".place, .win, .held, .soft, .todo")].map(each => plain(each.textContent));
    lines.push(`- **${place}**: ${parts.join("; ")}`);
  }
  const row = cells => `| ${cells.map(cell => plain(cell.replace(/[▸▾▼▲]/g, ""))).join(" | ")} |`;
  const heads = shownColumns();
  const texts = [...document.querySelectorAll("#table tbody tr:not(.extra)")].slice(0, TOP_ROWS).map(line => [line.row.members ? `${line.row.label} ×${line.row.members.length}` : line.row.kernel ? line.row.name : line.row.path,
    ...[...line.cells].slice(1).map(cell => cell.textContent)]);
  lines.push("", row(heads.map(column => column.head)), `|${heads.map(column => (column.text ? "---" : "--:")).join("|")}|`, ...texts.map(row), "");
  return lines.join("\n");
}

// Where a page has no access to the clipboard, a selected text does.
function copyMarkdown(event) {
  const button = event.currentTarget, text = markdown(), said = button.textContent;
  const tell = done => {
    button.textContent = done ? "Copied" : "Not allowed";
    setTimeout(() => { button.textContent = said; }, 1500);
  };
  const byHand = () => {
    const area = element("textarea", { "aria-hidden": "true", style: "position:fixed;top:0" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    tell(done);
  };
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => tell(true), byHand);
  else byHand();
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
