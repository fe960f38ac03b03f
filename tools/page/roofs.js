// SPDX-License-Identifier: Apache-2.0
// The roofs that are drawn, and which of them a point is under.
function shownRoofs() {
  const devices = new Set(shownDots().map(dot => dot.device));
  return roofs.filter(roof => state.roofSets.has(roof.set) && devices.has(roof.device) && [...roof.reports].some(index => state.reports.has(index)));
}

const computeRoofs = () => shownRoofs().filter(roof => roof.kind === "compute" && state.precisions.has(roof.name));
const memoryRoofs = () => shownRoofs().filter(roof => roof.kind === "memory" && state.levels.has(roof.name));

// The two roofs that the regions, the diagonal and the overhead box are drawn for: the compute roof that most of the time is
// under, and DRAM's; of several the highest.
function mainRoofs() {
  const times = new Map();
  for (const dot of shownDots()) times.set(dot.precision, (times.get(dot.precision) || 0) + (dot.time || 0));
  const highest = list => list.reduce((best, roof) => (!best || roof.value > best.value ? roof : best), null);
  const compute = computeRoofs();
  const most = [...times].filter(([name]) => compute.some(roof => roof.name === name)).sort((a, b) => b[1] - a[1])[0];
  return {
    compute: highest(most ? compute.filter(roof => roof.name === most[0]) : []),
    memory: highest(shownRoofs().filter(roof => roof.name === "dram")),
  };
}

// "theoretical at 1.98 GHz (boost clock)": how a roof is known, and at what clock.
function roofSource(roof) {
  const kind = roof.set.split(",")[0];
  const rate = /([\d.]+ [GM]Hz), the/.exec(roof.source || "");
  return kind + (roof.clock ? ` at ${rate ? `${rate[1]} (${roof.clock} clock)` : `the ${roof.clock} clock`}` : "");
}
const roofValue = roof => `${roofName(roof.name)}: ${withPrefix(roof.value, roof.kind === "memory" ? "B/s" : "FLOP/s")}`
  + (new Set(roofs.map(each => each.device)).size > 1 ? `, GPU ${roof.device}` : "");
const roofLabel = roof => `${roofValue(roof)}, ${roofSource(roof)}`;
