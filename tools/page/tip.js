// SPDX-License-Identifier: Apache-2.0
// What is known of a point, in a pane of its own: it covers no neighbour.
const tip = document.getElementById("tip");

// What --metrics collected: only what is known.
function metricLines(dot) {
  const lines = [];
  const add = (name, ...parts) => {
    const texts = parts.filter(([value]) => value !== null).map(([value, text]) => text(value));
    if (texts.length) lines.push([name, texts.join(", ")]);
  };
  const kinds = mix => mix.slice().sort((a, b) => b[1] - a[1]).map(([kind, share]) => `${kind.replace(/_/g, " ")} ${percent(share)}`).join(", ");
  add("occupancy", [dot.occupancy, value => `${percent(value)} of the warps that an SM holds`]);
  add("warps", [dot.warp_efficiency, value => `${digits(32 * value)} of 32 threads active`],
    [dot.warp_efficiency_predicated, value => `${digits(32 * value)} with their predicate true`],
    [dot.branch_uniformity, value => `${percent(value)} of branch targets uniform`]);
  add("cache hits", [dot.l1_hit_rate, value => `L1 ${percent(value)}`], [dot.l2_hit_rate, value => `L2 ${percent(value)}`]);
  add("sectors", [dot.sectors_per_load, value => `${digits(value)} for each load`], [dot.sectors_per_store, value => `${digits(value)} for each store`],
    [dot.l2_sectors_per_request, value => `${digits(value)} for each request to L2`]);
  add("throughput by ncu", [dot.compute_throughput, value => `SMs ${percent(value)}`], [dot.memory_throughput, value => `memory units ${percent(value)}`],
    [dot.dram_throughput, value => `DRAM ${percent(value)}`]);
  if (dot.mix.length) lines.push(["thread instructions", kinds(dot.mix)]);
  if (dot.memory_mix.length) lines.push(["warp instructions", kinds(dot.memory_mix)]);
  return lines;
}

// Why a row counts as bound by what it does (docs/limits.md).
function why(dot) {
  const { bound, time } = dot;
  const throughputs = [dot.compute_throughput, dot.memory_throughput];
  if (dot.fraction === null && bound !== "communication" && bound !== "overhead" && throughputs.every(each => each !== null)) {
    return `By ncu's throughputs its SMs do ${percent(throughputs[0])} of what they can, and its memory units ${percent(throughputs[1])}. ${missingParts([dot]) ? `Unknown: ${missingParts([dot])}.` : "A roof is unknown."}`;
  }
  if (bound === "communication") return "It exchanges data with other ranks.";
  if (bound === "overhead") return dot.box === null ? "Its kernels are shorter than their launches." : `Its launches cost ${duration(dot.box)}, and its kernels take ${duration(time)}.`;
  if (dot.computeTime === null || !(dot.overRoof > 0)) {
    return bound === "memory" || bound === "compute" ? `It reaches ${percent(dot.fraction)} of ${roofName(dot.ceiling || "its roof")}.` : bound !== "unknown" ? "" : missingParts([dot]) ? `Unknown: ${missingParts([dot])}.` : "A roof is unknown.";
  }
  const [compute, memory] = [dot.computeTime, dot.memoryTime].map(ns => ns / dot.overRoof);
  const needs = `Its FLOPs need ${duration(compute)} at their roof, its DRAM bytes ${duration(memory)} at theirs`;
  if (bound === "compute" || bound === "memory") return `${needs}. It takes ${duration(time)}.`;
  if (bound === "small") return `${needs}, less than a quarter of its ${duration(time)}, and its grids do not fill the GPU.`;
  return bound === "latency" ? `${needs}, less than a quarter of its ${duration(time)}: neither roof holds it.` : "";
}

const MOST_KERNELS = 4;
// The kernels that a layer launches itself, longest first.
function kernelsOf(layer) {
  const kernels = layer.kernels.filter(kernel => !kernel.again).sort((a, b) => (b.time || 0) - (a.time || 0));
  return kernels.slice(0, MOST_KERNELS).map(kernel => `${shortenedMiddle(kernel.name, 60)} ${duration(kernel.time)}${kernel.launches === null ? "" : ` ×${digits(kernel.launches)}`}`).join("; ")
    + (kernels.length > MOST_KERNELS ? ` and ${kernels.length - MOST_KERNELS} more` : "");
}

// The operators of the framework that launch them: on which shapes, how often, from which line.
function operatorsOf(layer) {
  return layer.operators.map(([name, shapes, place, calls, time]) => `${name}${calls === 1 ? "" : ` ×${digits(calls)}`}${shapes ? ` on ${shortenedMiddle(shapes, 80)}` : ""}`
    + `${time === null ? "" : `, ${duration(time)}`}${place ? `, ${shortenedMiddle(place, 60)}` : ""}`).join("; ") + (layer.moreOperators ? ` and ${layer.moreOperators} more` : "");
}

function known(dot) {
  const unit = unitOf(reports[dot.report]);
  const layer = reports[dot.report].byId.get(dot.layer);
  const size = value => withPrefix(value, "B");
  // A layer's intensity at a level is known where the level's bytes are.
  const bytes = level => rowSum(dot[level.id], dot.kernel || dot[level.intensity] !== null ? undefined : 0, size);
  const share = dot.share !== null ? `${percent(dot.share)} of the ${timeOfShares()}` : dot.again ? "time of other rows" : "share unknown";
  const lines = [
    ["layer", dot.path + (layer && layer.dotted ? ` (${layer.dotted})` : "")],
    ["direction", dot.direction],
    ["bound", [dot.bound, why(dot)].filter(each => each).join(". ")],
    ["saving", `${savingText(dot)} a ${unit}${dot.bestLow === null ? "" : `, of kernels' time ${duration(dot.saving)}`}`],
    layer && !dot.kernel && layer.operators && ["operators", operatorsOf(layer)],
    layer && !dot.kernel && layer.kernels.length > 0 && ["kernels", kernelsOf(layer)],
    reports.length > 1 && ["report", reports[dot.report].label],
    ["time", `${timeText(dot)} a ${unit}, ${share}${dot.timeSource === "hw" ? ", from counter windows" : ""}`],
    ["launches", `${digits(dot.launches)} a ${unit}`],
    dot.kernel && ["launch", dot.shape],
    dot.kernel && dot.place && ["written at", dot.place],
    dot.kernel && dot.registers !== null && ["a block takes", `${digits(dot.registers)} registers a thread, ${size(dot.shared)} of shared memory; an SM holds ${dot.perSm === null ? "an unknown number" : `at most ${digits(dot.perSm)}`}`],
    dot.kernel && dot.waves !== null && ["waves", digits(dot.waves)],
    dot.kernel && dot.exchange && ["exchanges", dot.exchange],
    dot.analytic ? ["work", `${withPrefix(workOf(dot, "flops", "rate"), "FLOP")} by formula, not counted`] : ["work", `${rowSum(dot.flops, dot.coverFlops, each => withPrefix(each, "FLOP"))}${dot.types.length ? ": " + dot.types.map(([type, value]) => `${type} ${withPrefix(value, type.endsWith("operations") ? "" : "FLOP")}`).join(", ") : ""}`],
    dot.analytic ? ["bytes", `${withPrefix(workOf(dot, "dram", "bandwidth"), "B")} by formula`] : ["bytes", `DRAM ${rowSum(dot.dram, dot.coverBytes, size)}, ${LEVELS.slice(1).map(level => `${level.name} ${bytes(level)}`).join(", ")}`],
    ["intensity", `${digits(dot.intensity)} FLOP/byte at DRAM`],
    ["performance", `${withPrefix(dot.rate, "FLOP/s")}, ${withPrefix(dot.bandwidth, "B/s")} of DRAM`],
    ["of the roof", `${percent(dot.fraction)}${dot.ceiling ? ` of ${roofName(dot.ceiling)}, ${dot.source}` : ""}`],
    ...metricLines(dot),
    dot.onPath !== null && ["critical path", duration(dot.onPath)],
    layer && layer.hostPath > 0 && !dot.kernel && ["the host before it", `${duration(layer.hostPath)} of the critical path (layers below included)`],
    dot.analytic && ["source", "analytic: FLOPs and bytes by formula, time measured"],
    dot.computeTime !== null && ["time-based", `computing takes ${duration(dot.computeTime)}, memory ${duration(dot.memoryTime)}`],
    dot.box !== null && ["overhead box", `launches cost ${duration(dot.box)}`],
    dot.kernel && ["samples", `${dot.samplesHw} hw, ${dot.samplesFlops} flops, ${dot.samplesTime} time`],
    dot.kernel && dot.flags && ["flags", dot.flags.split(" ").join(", ")],
    layer && layer.modules && ["compiled from", layer.modules],
    layer && layer.inputs && !dot.kernel && ["tensors", `${shortened(layer.inputs, 120)} → ${shortened(layer.outputs, 120)}`],
    layer && layer.modelFlops !== null && !dot.kernel && ["by formula", `${rowSum(layer.modelFlops, layer.modelFlopsCover, each => withPrefix(each, "FLOP"))}, ${rowSum(layer.modelBytes, layer.modelBytesCover, size)} (layers below included)`],
    layer && layer.flopsRatio !== null && !dot.kernel && ["counted / formula", `${digits(layer.flopsRatio)} of the FLOPs, ${digits(layer.bytesRatio)} of the bytes (layers below included)`],
  ];
  return lines.filter(line => line);
}

// What is pinned itself: of a layer its own point, none of those below it.
function pinnedDots() {
  const { pinned } = state;
  if (!pinned) return [];
  return shownDots().filter(dot => isPinned(dot) && (pinned.keys ? pinned.keys.has(dot.key) : pinned.key ? true : !dot.kernel && dot.layer === pinned.layer));
}

function showTip() {
  const dots = state.hovered ? [state.hovered] : pinnedDots();
  tip.hidden = dots.length === 0;
  if (tip.hidden) return;
  const title = dots.length > 1 ? `${groupName(dots)} ×${dots.length}; below, the first of them` : dots[0].name;
  const unit = unitOf(reports[dots[0].report]), saving = dots.length > 1 ? savingOf(dots) : null;
  const together = dots.length > 1 ? [["all together", `${sumText(sumOf(dots.map(dot => [dot.time, dot.coverTime])), duration)} a ${unit}, ${saving.high === null ? "saving unknown" : `saving up to ${duration(saving.high)} under the roofs that hold them`}`]] : [];
  const facts = [...together, ...known(dots[0])].map(([name, text]) => element("div", {}, element("dt", {}, name), element("dd", { dir: "auto" }, shortened(String(text), 400))));
  tip.replaceChildren(element("strong", {}, shortened(title, 300)), element("dl", {}, ...facts));
}
