// SPDX-License-Identifier: Apache-2.0
// The roofline: performance over intensity. Points without a FLOP stand in a strip beside it, by their share of the memory
// roof.
const FAR_BELOW = 0.25; // of a roof: as in docs/limits.md
const rooflineView = {
  name: "Roofline",
  x: "Arithmetic intensity [FLOP/byte]",
  y: "Performance [FLOP/s]",
  strip: "left",

  points() {
    const points = [], unknown = [];
    for (const dot of shownDots()) {
      const before = points.length;
      for (const level of LEVELS.filter(each => state.levels.has(each.id))) {
        const x = dot[level.intensity];
        if (dot.flops === 0 && dot.fraction !== null && dot.fraction > 0 && level.id === "dram") {
          points.push({ dot, level: level.id, x: null, y: dot.fraction, strip: true });
        } else if (x > 0 && dot.rate > 0) points.push({ dot, level: level.id, x, y: dot.rate, open: dot.analytic === 1 });
      }
      if (points.length === before) unknown.push(dot);
    }
    return { points, unknown };
  },

  extent(points) {
    const { compute, memory } = mainRoofs();
    const xs = points.filter(point => !point.strip).map(point => point.x), ys = points.filter(point => !point.strip).map(point => point.y);
    if (compute && memory) xs.push(compute.value / memory.value * 12, compute.value / memory.value / 12);
    const tops = computeRoofs().map(roof => roof.value);
    if (compute) ys.push(compute.value * 1.6, compute.value / 30);
    return { x: xs, y: ys.concat(tops.map(value => value * 1.3)) };
  },

  background(layer, { x, y, width, height, left }, room) {
    const memory = memoryRoofs(), compute = computeRoofs();
    const main = mainRoofs();
    const bottom = height, regions = [];
    if (main.compute && main.memory) {
      const ridge = x(main.compute.value / main.memory.value);
      const clip = value => Math.max(left, Math.min(width, value));
      // Below a quarter of what the roofs allow neither of them is the limit.
      const quarter = value => y(Math.min(main.compute.value, value * main.memory.value) * FAR_BELOW);
      const [first, middle, last] = [left, clip(ridge), width].map(at => ({ at, low: quarter(x.invert(at)) }));
      const draw = (name, ...corners) => layer.append("polygon").attr("class", `region ${name}`).attr("points", corners.map(corner => corner.join()).join(" "));
      draw("memory", [first.at, 0], [middle.at, 0], [middle.at, middle.low], [first.at, first.low]);
      draw("compute", [middle.at, 0], [last.at, 0], [last.at, last.low], [middle.at, middle.low]);
      draw("latency", [first.at, bottom], [first.at, first.low], [middle.at, middle.low], [last.at, last.low], [last.at, bottom]);
      regions.push(["memory-bound", { x: left + 8, y: Math.min(bottom - 24, first.low - 8) }, middle.at - left],
        ["compute-bound", { x: width - 8, y: last.low - 8, anchor: "end" }, width - middle.at],
        ["latency: below 25 % of the roofs", { x: width - 8, y: bottom - 8, anchor: "end" }, width - left]);
    }
    const top = Math.max(0, ...compute.map(roof => roof.value));
    const [from, to] = x.domain(), labels = [];
    for (const roof of memory) {
      const end = top > 0 ? Math.min(to, top / roof.value) : to;
      if (end <= from) continue;
      const [x1, y1, x2, y2] = [x(from), y(from * roof.value), x(end), y(end * roof.value)];
      drawRoof(layer, roof, x1, y1, x2, y2);
      const angle = Math.atan2(y2 - y1, x2 - x1) * 180 / Math.PI;
      const along = [];
      for (const away of [-6, 15]) { // above the line, then below it
        for (let k = 1; k < 20; ++k) along.push({ x: x1 + (x2 - x1) * k / 20, y: y1 + (y2 - y1) * k / 20 + away, angle });
      }
      labels.push([roof, along]);
    }
    const highest = Math.max(0, ...memory.map(roof => roof.value));
    for (const roof of compute.slice().sort((a, b) => b.value - a.value)) {
      const start = highest > 0 ? Math.max(from, roof.value / highest) : from;
      if (start >= to) continue;
      drawRoof(layer, roof, x(start), y(roof.value), width, y(roof.value));
      const along = [];
      for (const away of [-5, 14]) {
        for (let at = width - 4; at > Math.max(left, x(start)); at -= 30) along.push({ x: at, y: y(roof.value) + away, anchor: "end" });
      }
      labels.unshift([roof, along]); // lower ones first: they have less room
      for (const other of memory) {
        const ridge = roof.value / other.value;
        if (ridge < from || ridge > to) continue;
        layer.append("path").attr("class", "ridge").attr("d", d3.symbol().type(d3.symbolDiamond).size(60)())
          .attr("transform", `translate(${x(ridge)},${y(roof.value)})`)
          .append("title").text(`Ridge point of ${roofName(roof.name)} and ${roofName(other.name)}: ${digits(ridge)} FLOP/byte`);
      }
    }
    // In words where they fit; else how a roof is known stands below the chart alone.
    const bare = Math.max(0, width - left) < 420;
    const marks = largestDiscs();
    for (const [roof, places] of labels) {
      const write = (words, others) => placeText(layer, room, "roof-label", words, places, 12, others);
      const text = (bare ? null : write(roofLabel(roof), marks)) || write(roofValue(roof), marks) || write(roofValue(roof), []);
      if (text) text.attr("data-roof", roof.name);
    }
    for (const [text, place, wide] of regions) {
      if (wide > 110 && place.y > 14) placeText(layer, room, "region-label", text, [place], 12, marks);
    }
  },

  how: "Up is faster, right is more work for each byte. A point on a roof has reached what that roof allows.",

  // From a point up to what its roofs would allow.
  headroom: point => (point.strip || !point.dot.fraction ? null : { x: point.x, y: point.y / point.dot.fraction }),
};

// Dashed: a better one of its name is shown, too.
const isSecond = roof => shownRoofs().some(other => other !== roof && other.name === roof.name && other.device === roof.device && rankOf(other) > rankOf(roof));

function drawRoof(layer, roof, x1, y1, x2, y2) {
  layer.append("line").attr("class", `roof ${roof.kind === "memory" ? roof.name : "compute"}${isSecond(roof) ? " extra" : ""}`)
    .attr("data-roof", roof.name).attr("x1", x1).attr("y1", y1).attr("x2", x2).attr("y2", y2)
    .append("title").text(`${roofLabel(roof)}; ${roof.source}`);
}
