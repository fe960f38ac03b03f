// SPDX-License-Identifier: Apache-2.0
// Puts the page together.
// What a step takes on the GPU, and apart from that on the host, which may run ahead.
function stepText(step, path) {
  const wall = step.wall_ns.mean;
  const host = step.host_ns.mean;
  if (wall === null && host === null) return "";
  const ofStep = share => (wall > 0 && share !== null ? ` (${percent(share / wall)})` : "");
  const rate = wall > 0 ? `, ${withPrefix(step.model_flops / wall * 1e9, "FLOP/s")}` : "";
  const utilisation = [step.mfu === null ? "" : `Model FLOP utilisation ${percent(step.mfu)}. `,
    step.model_flops > 0 ? `${withPrefix(step.model_flops, "FLOP")} a step by formula${rate}. ` : "", step.hfu === null ? "" : `FLOP utilisation as counted ${percent(step.hfu)}. `];
  // Of the step itself: kernels of one step may run beside those of the next.
  const busy = wall > 0 && step.idle_ns !== null ? wall - step.idle_ns : step.busy_ns;
  const parts = [`A step: ${!(wall > 0) ? "unknown on the GPU" : duration(wall)}`, `GPU busy ${duration(busy)}${ofStep(busy)}`,
    `idle ${duration(step.idle_ns)}${ofStep(step.idle_ns)}`, `copies ${duration(step.copy_ns)}`,
    `host ${duration(host)} (waiting ${duration(step.sync_ns)})`, `launch latency ${duration(step.launch_latency_ns)}`];
  return utilisation.join("") + [parts.join(", "), ...path].join(". ") + (path.length ? "." : "");
}

// What a run is: its GPU, host, start and sums.
function factsOf(of) {
  const [{ run }] = of;
  const total = (part, coverage, show) => sumText(sumOf(of.map(each => [each.run.total[part], coverageOf(each, coverage)])), show);
  const gpus = [...new Set(of.flatMap(report => report.devices.map(device => device.name)))].join(", ");
  return [gpus || "GPU unknown", run.hostname, run.started_at, of.length > 1 ? plural(of.length, "report") : "",
    `${total("flops", "coverFlops", value => (value === null ? "FLOPs unknown" : withPrefix(value, "FLOP")))}, `
      + `${total("bytes_dram", "coverBytes", value => (value === null ? "DRAM bytes unknown" : `${withPrefix(value, "B")} DRAM`))}, `
      + `${total("gpu_time_ns", "coverTime", value => (value === null ? "GPU time unknown" : `${duration(value)} GPU time (${of.every(each => each.run.total.basis === "measured") ? "measured" : "extrapolated"})`))}`].filter(each => each).join(" · ");
}

function drawHead() {
  const [first] = reports;
  if (!first) return;
  const sources = [...new Set(reports.map(report => report.run.source))].filter(source => source !== "cupti");
  const oneRun = reports.length === 1 || areOneRun;
  const title = oneRun ? first.command || first.file || "Gable"
    : compared ? `A: ${reports[0].file} → B: ${reports[1].file}` : `${reports.length} runs: ${reports.map(report => report.label).join(", ")}`;
  document.getElementById("title").replaceChildren(...sources.map(source => element("span", { class: "source" }, `[${source}] `)), shortened(title, 400));
  // Sums are of one run alone.
  const facts = oneRun ? [factsOf(reports)] : reports.map(report => `${compared ? "AB"[report.index] : report.label}: ${report.command ? `${shortened(report.command, 120)} · ` : ""}${factsOf([report])}`);
  const most = 4;
  document.getElementById("facts").replaceChildren(...facts.slice(0, most).flatMap((line, i) => (i ? [element("br", {}), line] : [line])),
    ...(facts.length > most ? [element("br", {}), `and ${facts.length - most} more`] : []));
  document.getElementById("step").textContent = reports.length === 1 ? stepText(first.step, first.path)
    : oneRun ? "" : reports.slice(0, most).map(report => [report.label, stepText(report.step, [])]).filter(([, text]) => text).map(([label, text]) => `${label}: ${text}`).join(" — ");
}

function drawLost() {
  const parts = [];
  for (const report of reports) {
    for (const [name, count] of Object.entries(report.run.lost)) if (count > 0) parts.push(`${report.label ? report.label + ": " : ""}${plural(count, name.replace(/_/g, " ").replace(/s$/, ""))}`);
    if (!report.run.complete) parts.push(`${report.label ? report.label + ": " : ""}the program had not ended when this was written`);
  }
  const lost = document.getElementById("lost");
  lost.textContent = parts.length ? `Lost: ${parts.join("; ")}` : "Nothing was lost.";
  lost.classList.toggle("loss", parts.length > 0);
  if (parts.length === 0) document.getElementById("run").prepend(lost);
  const notes = [...new Set(reports.flatMap(report => report.run.notes))];
  const list = document.getElementById("notes");
  list.hidden = notes.length === 0;
  list.querySelector("summary").textContent = plural(notes.length, "note");
  list.querySelector("ul").replaceChildren(...notes.map(note => element("li", { dir: "auto" }, note)));
}

function drawAdvice() {
  const items = reports.filter(report => state.reports.has(report.index)).flatMap(report => report.advice.map(each => ({ ...each, report })));
  items.sort((a, b) => (b.saving ?? -1) - (a.saving ?? -1));
  document.getElementById("advice").hidden = items.length === 0;
  document.querySelector("#advice ol").replaceChildren(...items.map(({ action, where, trigger, saving, report }) => element("li", {},
    element("strong", {}, `${report.label ? report.label + ": " : ""}${saving === null ? "" : `up to ${duration(saving)} a ${unitOf(report)}: `}`), `${action} ${where} `,
    element("span", { class: "trigger" }, trigger))));
}

function chooseTheme(theme) {
  document.documentElement.dataset.theme = theme;
}

function listenToChart() {
  const dots = svg.node();
  const markAt = event => {
    if (current.marks.length === 0) return null;
    const box = dots.getBoundingClientRect(), edge = margin();
    return nearestMark(event.clientX - box.left - edge.left, event.clientY - box.top - edge.top);
  };
  const hoverOver = dot => {
    if (dot === state.hovered) return;
    state.hovered = dot;
    changed("mark");
  };
  dots.addEventListener("mousemove", event => {
    if (event.buttons) return; // the chart is moved
    const mark = markAt(event);
    hoverOver(mark && mark.point.dot);
  });
  dots.addEventListener("mouseleave", () => hoverOver(null));
  dots.addEventListener("click", event => {
    if (event.defaultPrevented) return; // the end of a movement
    const mark = markAt(event);
    if (mark && mark.count > 1) {
      state.spread = mark.key;
      place();
    } else if (mark) {
      pinDot(mark.point.dot);
    } else {
      state.spread = state.pinned = null;
      place();
      changed("mark");
    }
  });
  dots.addEventListener("keydown", event => {
    const order = [...new Set(current.points.map(point => point.dot))].sort((a, b) => (b.share || 0) - (a.share || 0));
    const at = order.indexOf(state.hovered);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step && order.length) state.hovered = order[(at + step + order.length + (at < 0 && step < 0 ? 1 : 0)) % order.length];
    else if (event.key === "Enter" && state.hovered) return pinDot(state.hovered);
    else if (event.key === "Escape") state.hovered = null; // and what is pinned, below
    else if (event.key === "+" || event.key === "=") svg.call(zoom.scaleBy, 1.4);
    else if (event.key === "-") svg.call(zoom.scaleBy, 1 / 1.4);
    else if (event.key === "0") showAll();
    else return undefined;
    event.preventDefault();
    changed("mark");
    return undefined;
  });
}

function pinDot(dot) {
  pin({ report: dot.report, layer: dot.layer, key: dot.key });
  if (state.pinned) reveal(dot.report, dot.layer, dot.kernel);
}

chooseTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
document.getElementById("theme").addEventListener("click", () => chooseTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
document.getElementById("search").addEventListener("input", event => {
  state.search = event.target.value.trim().toLowerCase();
  rowsShown = MOST_ROWS;
  changed("table", "mark");
});
document.querySelector(".bar .buttons").append(
  element("button", { type: "button", id: "copy-markdown", onclick: copyMarkdown, title: "The answer and the first rows, for a ticket" }, "Copy as Markdown"),
  element("button", { type: "button", id: "save-svg", onclick: saveSvg, title: "Save the chart as SVG" }, "SVG"),
  element("button", { type: "button", id: "save-png", onclick: savePng, title: "Save the chart as PNG" }, "PNG"),
  element("button", { type: "button", id: "save-csv", onclick: saveCsv, title: "Save what is shown as CSV" }, "CSV"));
listen("chart", () => {
  drawChart();
  showTip();
  if (state.flat) drawTable(); // it lists what the chart shows
});
listen("mark", () => {
  drawLines();
  if (current.points.length) drawMarks();
  if (views[state.view] !== rooflineView) place();
  showTip();
  markTable();
});
listen("table", drawTable);
for (const what of ["chart", "mark", "table"]) listen(what, writeAddress);
takeAddress(location.hash.slice(1));
document.getElementById("search").value = state.search;
openSome();
drawHead();
drawLost();
if (compared) drawComparison();
else drawVerdict();
drawAdvice();
drawMemory();
drawControls();
drawArrangement();
drawChart();
drawTable();
showTip(); // what the address pins
listenToChart();
takeZoom(location.hash.slice(1));
addEventListener("resize", () => changed("chart"));
addEventListener("hashchange", () => location.reload()); // another link to this page
// From wherever something was pinned.
addEventListener("keydown", event => {
  if (event.key !== "Escape" || (!state.pinned && !state.spread)) return;
  state.pinned = state.spread = null;
  place();
  changed("mark");
});
// On paper the colours are those of light.
let themeBefore = null;
addEventListener("beforeprint", () => {
  themeBefore = document.documentElement.dataset.theme;
  chooseTheme("light");
  changed("mark");
});
addEventListener("afterprint", () => {
  chooseTheme(themeBefore);
  changed("mark");
});
