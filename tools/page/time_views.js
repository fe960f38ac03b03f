// SPDX-License-Identifier: Apache-2.0
// The time-based roofline (arXiv 2009.04598): complexity, time, and both in one chart. Closed symbols are work, open ones the
// time that it takes, in units of work: what the roofs could do in that time. Points without a FLOP stand in a strip below.
function timeView(name, x, y, how, pointsOf, sides, tick = undefined) {
  return {
    name, x, y, how, tick,
    strip: "bottom",
    points() {
      const points = [], unknown = [];
      for (const dot of shownDots()) {
        const made = pointsOf(dot).filter(point => point.x > 0 && (point.y > 0 || point.y === 0));
        for (const point of made) points.push({ dot, level: "dram", strip: point.y === 0, ...point });
        if (made.length === 0) unknown.push(dot);
      }
      return { points, unknown };
    },
    extent(points) {
      const box = sides(largestBox());
      const known = points.filter(point => !point.strip);
      return {
        x: points.map(point => point.x).concat(box ? [box.x] : []),
        y: known.map(point => point.y).concat(box ? [box.y] : []),
      };
    },
    background(layer, { x: xScale, y: yScale, width, height, left }, room) {
      const balance = sides(1);
      if (balance) {
        const [from, to] = xScale.domain();
        const slope = balance.y / balance.x;
        layer.append("line").attr("class", "diagonal").attr("x1", xScale(from)).attr("y1", yScale(from * slope)).attr("x2", xScale(to)).attr("y2", yScale(to * slope))
          .append("title").text("Machine balance: above it compute decides, below it memory");
        const angle = Math.atan2(yScale(to * slope) - yScale(from * slope), xScale(to) - xScale(from)) * 180 / Math.PI;
        const along = [0.5, 0.35, 0.65, 0.25, 0.75].map(share => from * (to / from) ** share);
        placeText(layer, room, "roof-label", balance.label, along.map(at => ({ x: xScale(at), y: yScale(at * slope) - 8, angle, anchor: "middle" })));
      }
      const marked = state.hovered || state.pinned && shownDots().find(isPinned);
      const side = marked ? marked.box : largestBox();
      const box = sides(side);
      if (!box || !(side > 0)) return;
      const right = Math.min(width, xScale(box.x)), top = Math.max(0, yScale(box.y));
      if (right <= left || top >= height) return;
      layer.append("rect").attr("class", "box").attr("x", left).attr("y", top).attr("width", right - left).attr("height", height - top);
      const text = `overhead box${marked ? ` of ${shortened(marked.name, 40)}` : ", the largest"}: launches cost ${duration(side)}`;
      placeText(layer, room, "label", text, [{ x: left + 6, y: Math.max(14, top - 5) }, { x: left + 6, y: Math.max(28, top + 14) }]);
    },
    headroom: () => null,
  };
}

const largestBox = () => shownDots().reduce((most, dot) => Math.max(most, dot.box || 0), 0);

// What the two roofs do in so many ns.
function workSides(ns) {
  const { compute, memory } = mainRoofs();
  if (!compute || !memory) return null;
  return { x: ns * 1e-9 * memory.value, y: ns * 1e-9 * compute.value, label: `machine balance: ${digits(compute.value / memory.value)} FLOP/byte (${roofName(compute.name)})` };
}
const timeSides = ns => ({ x: ns, y: ns, label: "machine balance: compute and memory take equal time" });

const complexityPoints = dot => (dot.analytic ? [] : [{ x: dot.dram, y: dot.flops }]);
const views = {
  roofline: rooflineView,
  complexity: timeView("Complexity", "Bytes moved to and from DRAM [byte]", "Floating-point operations [FLOP]",
    "Above the diagonal computing decides, below it memory. Up and right is more work. A point in the box does less than its launches cost.", complexityPoints, workSides),
  time: timeView("Time", "Time that memory takes", "Time that computing takes",
    "Above the diagonal computing takes longer, below it memory. A point in the box takes less than its launches.",
    dot => (dot.computeTime === null ? [] : [{ x: dot.memoryTime, y: dot.computeTime, open: true }]), timeSides, duration),
  both: timeView("Both", "Bytes; time x memory roof [byte]", "FLOP; time x compute roof [FLOP]",
    "A closed point is the work, the open one the time that it takes, in units of work. The further they are apart, the more could be won.",
    dot => complexityPoints(dot).concat(dot.overRoof === null || dot.analytic ? [] : [{ x: dot.dram * dot.overRoof, y: dot.flops * dot.overRoof, open: true }]), workSides),
};
