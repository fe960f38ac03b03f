// SPDX-License-Identifier: Apache-2.0
// Texts that keep clear of each other and of what they must not cover. Lengths in px.
const LETTER = 6.4; // the width of an average letter at 12 px; measured where the browser can
const textWidth = (() => {
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return (text, size) => text.length * LETTER * size / 12;
  return (text, size) => {
    context.font = `600 ${size}px system-ui, "DejaVu Sans", sans-serif`; // the widest of what is written
    return context.measureText(text).width;
  };
})();

// What is taken of a box: discs, whose centres stand along a text or at a mark.
class Room {
  constructor(left, top, right, bottom) {
    Object.assign(this, { left, top, right, bottom, discs: [] });
  }

  isFree(discs, others) {
    return discs.every(one => one.x >= this.left && one.x <= this.right && one.y >= this.top && one.y <= this.bottom
      && this.discs.concat(others).every(other => (one.x - other.x) ** 2 + (one.y - other.y) ** 2 >= (one.r + other.r) ** 2));
  }

  take(discs) {
    this.discs.push(...discs);
  }
}

// The discs below a text that begins at a place, at an angle in degrees; `size` is its font's.
function discsOf(text, { x, y, angle = 0, anchor = "start" }, size) {
  const width = textWidth(text, size), radius = size * 0.5, turned = angle * Math.PI / 180;
  const from = anchor === "end" ? -width : anchor === "middle" ? -width / 2 : 0;
  const discs = [];
  for (let at = radius * 0.6; at <= width; at += radius * 1.2) {
    const along = from + at, up = -size * 0.35; // the middle of its letters, above the line that it stands on
    discs.push({ x: x + along * Math.cos(turned) - up * Math.sin(turned), y: y + along * Math.sin(turned) + up * Math.cos(turned), r: radius });
  }
  return discs;
}

// Writes a text at the first of its places that is free, of `others` too, and takes it: the text with its place as datum, or null.
function placeText(layer, room, name, text, places, size = 12, others = []) {
  for (const place of places) {
    const discs = discsOf(text, place, size);
    if (!room.isFree(discs, others)) continue;
    room.take(discs);
    return layer.append("text").datum(place).attr("class", name).attr("text-anchor", place.anchor || "start")
      .attr("transform", `translate(${place.x},${place.y})${place.angle ? ` rotate(${place.angle})` : ""}`).text(text);
  }
  return null;
}

// Words in lines that are no wider than so many px.
function wrapped(text, width, size) {
  const lines = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line ? `${line} ${word}` : word;
    if (line && textWidth(longer, size) > width) {
      lines.push(line);
      line = word;
    } else {
      line = longer;
    }
  }
  return lines.concat(line || []);
}
