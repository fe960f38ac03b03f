// SPDX-License-Identifier: Apache-2.0
// Points as marks: those at one place are one mark, with their number; a click spreads them. Many marks are drawn on a canvas.
const SHAPES = { none: d3.symbolCircle, forward: d3.symbolCircle, backward: d3.symbolTriangle, recompute: d3.symbolDiamond };
const LEVEL_SHAPES = { dram: d3.symbolSquare, l2: d3.symbolCircle, l1: d3.symbolTriangle };
const LARGEST = 2600, SMALLEST = 16; // area of a mark with all of the time, and of the smallest, px²
const CELL = 4; // points this close are at one place, px
const REACH = 40; // from how far a mark answers, px
const MOST_ELEMENTS = 2000; // more marks are drawn on a canvas
const LABELLED = 5, MOST_COUNTS = 60;
const ABOVE = 1.02; // of a roof: more than rounding

const areaOf = share => Math.max(SMALLEST, LARGEST * Math.min(1, share || 0));
const radiusOf = mark => Math.sqrt(mark.area / Math.PI) + 2;
// Where several levels are shown, shapes tell them apart; else shapes tell directions apart.
const severalLevels = () => state.view === "roofline" && state.levels.size > 1;
const shapeOf = point => (severalLevels() ? LEVEL_SHAPES[point.level] : SHAPES[point.dot.direction]) || d3.symbolCircle;
const isAbove = dot => dot.fraction > ABOVE;

// Marks of points that have their px and py.
function marksOf(points) {
  const places = new Map(), kinds = new Map();
  for (const point of points) {
    // What looks different stands apart.
    const { dot } = point, kind = `${point.level} ${dot.direction} ${dot.bound} ${point.open ? 1 : 0} ${dot.report} ${point.strip ? 1 : 0}`;
    if (!kinds.has(kind)) kinds.set(kind, kinds.size);
    const key = (kinds.get(kind) * 16384 + Math.round(point.px / CELL) + 4096) * 16384 + Math.round(point.py / CELL) + 4096;
    const mark = places.get(key);
    if (mark) mark.points.push(point);
    else places.set(key, { points: [point] });
  }
  const marks = [];
  for (const mark of places.values()) {
    mark.points.sort((a, b) => (b.dot.share || 0) - (a.dot.share || 0));
    [mark.point] = mark.points;
    mark.key = mark.point.dot.key + mark.point.level + (mark.point.open ? "o" : "");
    mark.count = mark.points.length;
    if (mark.count > 1 && state.spread === mark.key) marks.push(...spread(mark));
    else marks.push(Object.assign(mark, { px: mark.point.px, py: mark.point.py, area: areaOf(sumOver(mark, dot => dot.share)) }));
  }
  return marks.sort((a, b) => b.area - a.area); // small ones on top
}

// The points of a place, around it.
function spread(mark) {
  return mark.points.map((point, i) => {
    const far = 14 + 10 * Math.sqrt(i), turned = i * 2.39996; // the golden angle: none covers another
    return { points: [point], point, key: `${mark.key}/${i}`, count: 1, px: mark.point.px + far * Math.cos(turned), py: mark.point.py + far * Math.sin(turned),
      area: areaOf(point.dot.share), home: mark.point };
  });
}

const discOf = mark => ({ x: mark.px, y: mark.py, r: radiusOf(mark) });
// What texts of the background should not stand under.
const largestDiscs = () => current.marks.filter(mark => !mark.point.strip).slice(0, MOST_COUNTS).map(discOf);
const isOn = mark => mark.points.some(point => point.dot === state.hovered || isPinned(point.dot));
const isDim = mark => (state.pinned || state.search) && !mark.points.some(point => point.dot === state.hovered || (state.pinned ? isPinned(point.dot) : isFound(point.dot)));
const onCanvas = () => current.marks.length > MOST_ELEMENTS && !current.asElements;

function markClass({ point }) {
  const { dot } = point;
  return `dot ${point.level} limit-${limitOf(dot.bound)}${point.open ? " open" : ""}${dot.report > 0 ? " other" : ""}${isAbove(dot) ? " above" : ""}`;
}

function drawMarks() {
  const canvas = onCanvas();
  drawCanvas(canvas ? current.marks : []);
  const symbol = d3.symbol();
  const bind = (selector, list) => {
    const bound = svg.select(selector).selectAll("path").data(list, mark => mark.key + mark.count);
    bound.exit().remove();
    bound.enter().append("path").attr("d", mark => symbol.type(shapeOf(mark.point)).size(mark.area)())
      .attr("data-key", mark => mark.point.dot.key).attr("data-level", mark => mark.point.level).attr("data-count", mark => mark.count)
      .attr("data-name", mark => shortened(mark.point.dot.name, 300))
      .merge(bound).attr("class", mark => markClass(mark) + (isOn(mark) ? " on" : "") + (isDim(mark) ? " dim" : "")).attr("transform", mark => `translate(${mark.px},${mark.py})`);
  };
  const elements = canvas ? current.marks.filter(isOn) : current.marks; // what stands out is always an element
  bind(".dots", elements.filter(mark => !mark.point.strip));
  bind(".strip-dots", elements.filter(mark => mark.point.strip));
}

const outlines = new Map(); // of shapes, by area

function drawCanvas(marks) {
  const canvas = document.getElementById("marks"), box = svg.node();
  const scale = window.devicePixelRatio || 1, width = box.clientWidth, height = box.clientHeight;
  canvas.hidden = marks.length === 0;
  if (canvas.hidden) return;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext("2d"), colours = getComputedStyle(document.documentElement);
  const { inner, left, plotHeight } = current;
  const edge = margin(), symbol = d3.symbol(), colourOf = {};
  const draw = mark => {
    const name = severalLevels() ? `--${mark.point.level}` : `--limit-${limitOf(mark.point.dot.bound)}`;
    colourOf[name] = colourOf[name] || colours.getPropertyValue(name).trim();
    context.fillStyle = context.strokeStyle = colourOf[name];
    context.setTransform(scale, 0, 0, scale, scale * (edge.left + mark.px), scale * (edge.top + mark.py));
    const area = Math.round(mark.area), shape = shapeOf(mark.point);
    if (!outlines.has(shape)) outlines.set(shape, []);
    const outline = outlines.get(shape)[area] = outlines.get(shape)[area] || new Path2D(symbol.type(shape).size(area)());
    const faded = isDim(mark) ? 0.12 : 1;
    context.globalAlpha = faded * 0.55;
    if (!mark.point.open) context.fill(outline);
    context.globalAlpha = faded;
    context.stroke(outline);
  };
  context.lineWidth = 1.2;
  marks.filter(mark => mark.point.strip).forEach(draw);
  context.setTransform(scale, 0, 0, scale, scale * edge.left, scale * edge.top);
  context.beginPath();
  context.rect(left, 0, inner.width - left, plotHeight);
  context.clip();
  marks.filter(mark => !mark.point.strip).forEach(draw);
}

// What a mark is called beside it: the layers' names without what all begin with, and how many they are.
function labelOf(mark, start) {
  const dots = mark.points.map(point => point.dot);
  const name = dots[0].kernel ? dots[0].name : groupName(dots.map(dot => ({ path: dot.path.slice(start.length) || dot.path })));
  return shortenedMiddle(name, 30) + (mark.count > 1 ? ` ×${mark.count}` : "");
}

function sumOver({ points }, of) {
  let sum = 0;
  for (const { dot } of points) sum += of(dot) || 0;
  return sum;
}

// Names of those that could save most (where that is unknown: that take most time), and numbers of points at one place.
function drawLabels(room) {
  const layer = svg.select(".labels");
  layer.selectAll("*").remove();
  const { width, height, left } = current.scales;
  const seen = current.marks.filter(mark => mark.point.strip || (mark.px >= left && mark.px <= width && mark.py >= 0 && mark.py <= height));
  const level = state.view === "roofline" ? [...state.levels][0] : "dram";
  const ranked = seen.filter(({ point }) => point.level === level && !point.strip && !(point.open && state.view === "both"))
    .map(mark => ({ mark, saving: sumOver(mark, dot => dot.rankSaving), time: sumOver(mark, dot => dot.time) }));
  const top = ranked.sort((a, b) => b.saving - a.saving || b.time - a.time).slice(0, LABELLED).map(({ mark }) => mark);
  const start = sharedStart(shownDots());
  room.take(top.map(discOf));
  const others = seen.filter(mark => !top.includes(mark)).slice(0, MOST_COUNTS).map(discOf); // better not on these
  const names = top.map(mark => labelOf(mark, start));
  for (const [i, mark] of top.entries()) {
    // Forward and backward of a layer have the same name.
    const twice = names.filter(name => name === names[i]).length > 1 && mark.point.dot.direction !== "none";
    const text = names[i] + (twice ? ` ${mark.point.dot.direction}` : ""), away = radiusOf(mark) + 5;
    const places = [];
    for (const more of [0, 14, 28, 44]) {
      places.push({ x: mark.px + away, y: mark.py + 4 - more }, { x: mark.px - away, y: mark.py + 4 - more, anchor: "end" },
        { x: mark.px + away, y: mark.py + 4 + more }, { x: mark.px - away, y: mark.py + 4 + more, anchor: "end" },
        { x: mark.px, y: mark.py - away - more, anchor: "middle" }, { x: mark.px, y: mark.py + away + 9 + more, anchor: "middle" });
    }
    const written = placeText(layer, room, "dot-label", text, places, 11.5, others) || placeText(layer, room, "dot-label", text, places, 11.5);
    mark.labelled = written !== null;
    const place = written && written.datum();
    if (!place || (Math.abs(place.y - mark.py) < 15 && place.anchor !== "middle") || Math.abs(place.y - mark.py) < away + 10) continue;
    layer.insert("line", "text").attr("class", "leader").attr("x1", mark.px).attr("y1", mark.py).attr("x2", place.x).attr("y2", place.y - 4);
  }
  for (const mark of seen.filter(each => !each.labelled && (each.count > 1 || isAbove(each.point.dot))).slice(0, MOST_COUNTS)) {
    const away = radiusOf(mark), text = (mark.count > 1 ? `×${mark.count}` : "") + (isAbove(mark.point.dot) ? "!" : "");
    placeText(layer, room, "dot-count", text, [{ x: mark.px + away, y: mark.py - 1 }, { x: mark.px - away, y: mark.py - 1, anchor: "end" }, { x: mark.px, y: mark.py + away + 9, anchor: "middle" }], 10.5);
  }
}

// The mark that is nearest to a place of the chart, where one is near.
function nearestMark(x, y) {
  let best = null, least = REACH;
  for (const mark of current.marks) {
    const { width, height, left } = current.scales;
    if (!mark.point.strip && (mark.px < left || mark.px > width || mark.py < 0 || mark.py > height)) continue;
    // Inside a mark its middle is as near as that of a small one beside it.
    const distance = Math.max(0, Math.hypot(mark.px - x, mark.py - y) - radiusOf(mark) / 2);
    if (distance < least || (distance === least && best && mark.area < best.area)) [best, least] = [mark, distance];
  }
  return best;
}
