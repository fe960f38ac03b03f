// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them; unknown is "unknown", never 0.
const UNKNOWN = "unknown";
const PREFIXES = [[1e18, "E"], [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];

function digits(value) {
  if (value === null || value === undefined) return UNKNOWN;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(2).replace("e+", "e");
  return size >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

function withPrefix(value, unit) {
  if (value === null || value === undefined) return UNKNOWN;
  const [scale, prefix] = PREFIXES.find(([least]) => Math.abs(value) >= least * 0.9995) || [1, ""];
  return `${digits(value / scale)} ${prefix}${unit}`;
}

// How much shorter a step would be: "1.2 ms", "0-900 us".
function rangeText(low, high) {
  const [first, last] = [duration(low), duration(high)];
  if (first === last) return last;
  const [number, unit] = first.split(" ");
  return (low === 0 || last.endsWith(` ${unit}`) ? number : first) + "-" + last;
}

function duration(ns) {
  if (ns === null || ns === undefined) return UNKNOWN;
  if (ns === 0) return "0";
  for (const [scale, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]]) {
    if (ns >= scale * 0.9995) return `${digits(ns / scale)} ${unit}`;
  }
  return `${digits(ns)} ns`;
}

const percent = share => (share === null || share === undefined ? UNKNOWN : `${digits(share * 100)} %`);
const capital = text => text[0].toUpperCase() + text.slice(1);
const plural = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
// Nothing is cut within a letter of two units.
const head = (text, length) => text.slice(0, /[\uD800-\uDBFF]/.test(text[length - 1]) ? length - 1 : length);
const tail = (text, from) => text.slice(/[\uDC00-\uDFFF]/.test(text[from]) ? from + 1 : from);
const shortened = (text, most) => (text.length > most ? head(text, most - 1) + "…" : text);
// Keeps both ends, which tell names apart.
const shortenedMiddle = (text, most) => (text.length > most ? head(text, Math.floor(most / 2) - 1) + "…" + tail(text, text.length - Math.ceil(most / 2)) : text);
// "bf16_tensor" -> "BF16 tensor"
const roofName = name => (name === "dram" || name === "l2" || name === "l1" ? name.toUpperCase()
  : name.replace("_no_fma", " without FMA").replace(/_/g, " ").replace(/^[a-z]+\d+/, type => type.toUpperCase()));

// An element with attributes and children; texts never become markup.
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

// Of a step, in the order of the bar. The colours are --limit-NAME everywhere.
const LIMITS = {
  compute: "compute", memory: "memory", latency: "latency", small: "small grids", overhead: "launch overhead",
  communication: "communication", copies: "copies", idle: "idle", unknown: "limit unknown",
};

// "overhead" for an element of that colour; unknown words get the colour of what is unknown.
const limitOf = bound => (bound in LIMITS ? bound : "unknown");
const swatch = limit => element("i", { class: `swatch limit-${limit}`, "aria-hidden": "true" });
