// SPDX-License-Identifier: Apache-2.0
// What holds the GPU's memory in a step (gable profile --memory): how much after each operator, and what was held when it was most.
// Colours are those of the limits.
const PURPOSES = { parameters: "memory", gradients: "overhead", "optimizer state": "small", activations: "compute", "gradients of activations": "latency",
  inputs: "communication", buffers: "copies", "not seen in tensors": "unknown" };
const MEMORY_WIDTH = 900, MEMORY_HEIGHT = 250;

function memoryPlace(report, [, layer, operator]) {
  const row = report.byId.get(layer);
  const where = row && row.name ? `${row.path}${row.direction === "none" ? "" : ` ${row.direction}`}` : "";
  return [where && `in ${where}`, operator && `after ${operator}`].filter(part => part).join(", ");
}

function memoryChart(report, say) {
  const { timeline, peak } = report.memory, edge = { left: 84, right: 16, top: 26, bottom: 46 };
  const made = d3.select(document.createElementNS("http://www.w3.org/2000/svg", "svg")).attr("class", "memory").attr("viewBox", `0 0 ${MEMORY_WIDTH} ${MEMORY_HEIGHT}`).attr("role", "img")
    .attr("aria-label", `Memory over the operators of a step: ${withPrefix(timeline[0][3], "B")} at its beginning, ${withPrefix(peak[3], "B")} at most, ${withPrefix(timeline[timeline.length - 1][3], "B")} at its end`);
  const last = Math.max(1, timeline[timeline.length - 1][0]), floor = MEMORY_HEIGHT - edge.bottom;
  const x = d3.scaleLinear().domain([0, last]).range([edge.left, MEMORY_WIDTH - edge.right]);
  const y = d3.scaleLinear().domain([0, peak[3] * 1.05 || 1]).range([floor, edge.top]);
  const backward = timeline.filter(([, layer]) => (report.byId.get(layer) || {}).direction === "backward");
  if (backward.length) {
    const from = x(backward[0][0]), to = x(backward[backward.length - 1][0]);
    made.append("rect").attr("class", "strip").attr("x", from).attr("y", edge.top).attr("width", Math.max(1, to - from)).attr("height", floor - edge.top);
    made.append("text").attr("class", "region-label").attr("x", from + 5).attr("y", floor - 6).text("backward");
  }
  // Until the next operator it stays as it is.
  const steps = timeline.map(([at, , , bytes], i) => `${i ? `H${x(at)}V` : `M${x(at)},`}${y(bytes)}`).join("");
  made.append("path").attr("class", "held-area").attr("d", `${steps}V${y(0)}H${x(timeline[0][0])}Z`);
  made.append("path").attr("class", "held-line").attr("d", steps);
  const text = `${withPrefix(peak[3], "B")} ${memoryPlace(report, peak)}`, right = x(peak[0]) > MEMORY_WIDTH / 2;
  made.append("circle").attr("class", "held-peak").attr("cx", x(peak[0])).attr("cy", y(peak[3])).attr("r", 4);
  made.append("text").attr("class", "label").attr("x", x(peak[0]) + (right ? -8 : 8)).attr("y", 16).attr("text-anchor", right ? "end" : "start").text(shortenedMiddle(text, 90));
  made.append("g").attr("class", "axis").attr("transform", `translate(0,${floor})`).call(d3.axisBottom(x).ticks(8).tickFormat(at => (Number.isInteger(at) ? at : "")));
  made.append("g").attr("class", "axis").attr("transform", `translate(${edge.left},0)`).call(d3.axisLeft(y).ticks(5).tickFormat(bytes => withPrefix(bytes, "B")));
  made.append("text").attr("class", "axis-title").attr("x", (edge.left + MEMORY_WIDTH - edge.right) / 2).attr("y", MEMORY_HEIGHT - 8).attr("text-anchor", "middle").text("Operators of the step, in their order");
  made.append("text").attr("class", "axis-title").attr("transform", `translate(16,${(edge.top + floor) / 2}) rotate(-90)`).attr("text-anchor", "middle").text("Memory taken [byte]");
  const cursor = made.append("line").attr("class", "headroom").attr("y1", edge.top).attr("y2", floor).attr("visibility", "hidden");
  made.node().addEventListener("mousemove", event => {
    const box = made.node().getBoundingClientRect(), at = x.invert((event.clientX - box.left) * MEMORY_WIDTH / box.width);
    const point = timeline.reduce((nearest, each) => (Math.abs(each[0] - at) < Math.abs(nearest[0] - at) ? each : nearest));
    cursor.attr("visibility", "visible").attr("x1", x(point[0])).attr("x2", x(point[0]));
    say(`${withPrefix(point[3], "B")} ${memoryPlace(report, point)}`);
  });
  made.node().addEventListener("mouseleave", () => {
    cursor.attr("visibility", "hidden");
    say("");
  });
  return made.node();
}

function drawMemory() {
  const section = document.getElementById("memory");
  const known = reports.filter(report => report.memory && report.memory.timeline.length > 0 && state.reports.has(report.index));
  section.hidden = known.length === 0;
  if (known.length === 0) return;
  const report = known.reduce((most, each) => (each.memory.peak[3] > most.memory.peak[3] ? each : most)), { memory } = report;
  const pointed = element("p", { class: "soft pointed" }, "");
  const source = memory.source === "allocator" ? "as PyTorch's allocator counts it" : "as the sum of the tensors that were seen";
  const facts = [`Device ${memory.device}${report.label ? ` of ${report.label}${known.length > 1 ? ", which has the highest peak" : ""}` : ""}, ${source}, after each operator.`,
    memory.allocatorPeak === null ? "" : `The allocator's own highest since the program began, within operators too: ${withPrefix(memory.allocatorPeak, "B")}.`,
    memory.reserved === null ? "" : `It has ${withPrefix(memory.reserved, "B")} of the GPU's memory.`,
    memory.explained ? "" : "The tensors are together more than there is: some were made smaller."];
  const whole = d3.sum(memory.purposes, ([, bytes]) => bytes);
  section.replaceChildren(element("h2", {}, `Memory of a step: ${withPrefix(memory.peak[3], "B")} at most`), element("p", { class: "soft" }, facts.filter(fact => fact).join(" ")),
    memoryChart(report, text => { pointed.textContent = text; }), pointed,
    element("div", { class: "division" }, element("div", { class: "stack", role: "img", "aria-label": "What is held at the highest point" },
      ...memory.purposes.map(([name, bytes]) => element("span", { class: `limit-${PURPOSES[name]}`, style: `flex-grow:${whole > 0 ? bytes / whole : 0}`, title: `${name}: ${withPrefix(bytes, "B")}` }))),
    element("p", {}, "At the highest point: ", ...memory.purposes.flatMap(([name, bytes], i) => [i ? " · " : "", swatch(PURPOSES[name]), `${name} ${withPrefix(bytes, "B")}`]))),
    element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "What is held at the highest point" }, element("table", {},
      element("thead", {}, element("tr", {}, ...["layer", "held for", "tensors", "bytes", "share"].map((name, i) => element("th", { scope: "col", class: i < 2 ? "text" : "" }, name)))),
      element("tbody", {}, ...memory.held.map(([name, purpose, tensors, bytes]) => element("tr", {}, element("td", { class: "name", title: name }, element("bdi", {}, name)), element("td", { class: "text" }, swatch(PURPOSES[purpose]), purpose),
        element("td", {}, digits(tensors)), element("td", {}, withPrefix(bytes, "B")), element("td", {}, percent(memory.peak[3] > 0 ? bytes / memory.peak[3] : null))))))),
    element("p", { class: "soft" }, memory.more > 0 ? `${plural(memory.more, "smaller row")}: gable report --memory --top ${memory.held.length + memory.more}` : ""));
}
