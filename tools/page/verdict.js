// SPDX-License-Identifier: Apache-2.0
// The answer before the numbers: what a step consists of, and the three places where most of it could be saved.
const CARDS = 3, FEW = 3;
const DIFFERENT_WINDOWS = 0.05; // of a step
const COPIES_MATTER = 0.1; // of the kernels' time
const SAME_WORK = 0.01, SAME_TIME = 0.25; // by how much equal layers may differ

// Advice on the step as a whole; the other items name layers, which have cards of their own.
const WHOLE = { idle: "The GPU is idle", input: "Waiting for input", waits: "The host after waits for the GPU", copies: "Copies", communication: "Communication" };
const HIDEABLE = new Set(["copies", "communication"]); // whether something hides them is known where steps were recorded
const COLOUR_OF_WHOLE = { idle: "idle", input: "idle", waits: "idle", copies: "copies", communication: "communication" };

// What the step, or the kernels' time where no step is known, divides into: {parts: [[limit, ns]], whole, step}. null without a time.
function divisionOf(report) {
  // Formulas are of layers: where nothing was counted the limits of layers are known and those of kernels are not.
  const timed = ["kernels", "layers"].map(kind => report.dots[kind].filter(dot => dot.time > 0 && !dot.again));
  const knownOf = dots => d3.sum(dots, dot => (limitOf(dot.bound) === "unknown" ? 0 : dot.time));
  const kernels = knownOf(timed[1]) > knownOf(timed[0]) ? timed[1] : timed[0];
  const wall = report.run.unit === "step" ? report.step.wall_ns.mean : null;
  if (!(wall > 0) || report.step.idle_ns === null) {
    const whole = d3.sum(kernels, dot => dot.time);
    return whole > 0 ? { parts: inOrder(timeByLimit(kernels)), whole, step: false } : null;
  }
  const byLimit = new Map();
  const add = (limit, ns) => addTo(byLimit, limit, ns);
  const { exposed } = report.step;
  // Exposed parts add up to the recorded steps, which may be longer or shorter than the mean of all.
  const scale = exposed && report.step.graph && report.step.graph.wall_ns > 0 ? wall / report.step.graph.wall_ns : 1;
  add("idle", exposed ? scale * exposed.idle_ns : report.step.idle_ns);
  if (exposed) {
    add("communication", scale * exposed.communication_ns);
    add("copies", scale * exposed.copies_ns);
  }
  const computing = kernels.filter(dot => !exposed || dot.bound !== "communication");
  const busy = Math.max(0, wall - d3.sum([...byLimit.values()])), whole = d3.sum(computing, dot => dot.time);
  // Kernels may run beside each other: each limit gets the part of the busy time that its kernels have of all kernels' time.
  // Busy time without kernels is that of copies; what is then left is unknown, unless it is so little that windows differ by it.
  const rest = Math.max(0, busy - whole), isSmall = whole > 0 && rest < DIFFERENT_WINDOWS * wall;
  for (const [limit, ns] of timeByLimit(computing)) add(limit, ns * (isSmall || whole > busy ? busy / whole : 1));
  if (!isSmall) {
    const copies = exposed ? 0 : Math.min(rest, report.step.copy_ns || 0);
    add("copies", copies);
    add("unknown", rest - copies);
  }
  return { parts: inOrder(byLimit), whole: wall, step: true };
}

function addTo(byLimit, limit, ns) {
  if (ns > 0) byLimit.set(limit, (byLimit.get(limit) || 0) + ns);
}

function timeByLimit(dots) {
  const byLimit = new Map();
  for (const dot of dots) addTo(byLimit, limitOf(dot.bound), dot.time);
  return byLimit;
}

const inOrder = byLimit => Object.keys(LIMITS).filter(limit => byLimit.get(limit) > 0).map(limit => [limit, byLimit.get(limit)]);

const alike = (a, b, by) => a === b || (a !== null && b !== null && Math.abs(a - b) <= by * Math.max(a, b));

// By formula a row has its rates alone. What is unknown is like nothing else.
const workOf = (dot, amount, rate) => dot[amount] ?? (dot[rate] !== null && dot.time !== null ? dot[rate] * dot.time * 1e-9 : null);
function doesTheSame(a, b) {
  const flops = [a, b].map(dot => workOf(dot, "flops", "rate")), bytes = [a, b].map(dot => workOf(dot, "dram", "bandwidth"));
  if (flops[0] === null && bytes[0] === null) return false;
  return alike(...flops, SAME_WORK) && alike(...bytes, SAME_TIME) && alike(a.time, b.time, SAME_TIME);
}

// Items of one key in groups whose members are like the first one.
function grouped(items, keyOf, isLike) {
  const byKey = new Map(), made = [];
  for (const item of items) {
    const key = keyOf(item).join("\n");
    const same = (byKey.get(key) || []).find(([first]) => isLike(first, item));
    if (same) {
      same.push(item);
      continue;
    }
    const group = [item];
    made.push(group);
    byKey.set(key, (byKey.get(key) || []).concat([group]));
  }
  return made;
}

// How deep a path leads, and its last name.
function endOf(text) {
  const path = text.split("/");
  return [path.length, path[path.length - 1]];
}

// Layers that do the same work equally fast, such as a block's that recur: one group each.
const groupsOf = dots => grouped(dots, dot => [dot.device, dot.direction, dot.bound, dot.precision, dot.launches, ...endOf(dot.path)], doesTheSame);

// At least and at most what a group saves together. Without one of its members' time the step cannot be shorter than the
// critical path without what all of them would save on it, and not longer than without the best of them.
function savingOf(group) {
  if (group.length === 1) return { low: group[0].bestLow, high: group[0].bestHigh ?? group[0].saving, replayed: group[0].bestLow !== null };
  const onPath = group.every(dot => dot.onPath !== null && dot.saving !== null);
  const highs = group.map(dot => (onPath ? Math.min(dot.onPath, dot.saving) : dot.saving ?? dot.bestHigh)).filter(each => each !== null);
  const high = highs.length ? d3.sum(highs) : null;
  const lows = group.map(dot => dot.bestLow).filter(low => low !== null);
  return { low: lows.length ? Math.min(high, d3.max(lows)) : null, high, replayed: onPath };
}

// "conv2 of layer4/1, layer4/2": what the paths do not share, and before it what they do. Of many, or of long names, what differs
// among them is a star: "BertLayer_*/Linear_*".
function groupName(group) {
  const paths = group.map(dot => dot.path.split("/"));
  const [first] = paths;
  if (group.length === 1) return shortPath(first);
  const shared = at => paths.every(path => path[at] === first[at]);
  let from = 0, to = first.length;
  while (from < first.length - 1 && shared(from)) ++from;
  while (to > from + 1 && shared(to - 1)) --to;
  if (from > 0 && paths.every(path => /^\d+$/.test(path[from]))) --from; // a number alone names nothing
  const middles = [...new Set(paths.map(path => path.slice(from, to).join("/")))].sort();
  if (middles.length > FEW || middles.some(each => each.length > 30)) return patternsOf(group.map(dot => dot.path));
  const end = first.slice(to).join("/");
  return end ? `${end} of ${middles.join(", ")}` : middles.join(", ");
}

// Paths that differ in their numbers alone are one.
function patternsOf(paths) {
  const kinds = new Map();
  for (const path of paths) {
    const words = path.split(/(\d+)/);
    const kind = words.filter((_, i) => i % 2 === 0).join("*");
    const known = kinds.get(kind);
    if (known) kinds.set(kind, known.map((word, i) => (word === words[i] ? word : "*")));
    else kinds.set(kind, words);
  }
  const named = [...new Set([...kinds.values()].map(words => shortPath(words.join("").split("/"))))].sort();
  return named.slice(0, FEW).join(", ") + (named.length > FEW ? ` and ${named.length - FEW} more kinds` : "");
}
const shortPath = path => path.slice(-3).join("/");

const WITHOUT_ADVICE = {
  memory: "Move fewer bytes (fuse it with its neighbours, a narrower type, reuse of what caches hold), or the same ones faster: neighbouring threads at neighbouring addresses, wider loads.",
  compute: "Its FLOPs decide how long it takes: a narrower type, tensor cores or less work would help.",
  latency: "It waits: more parallel work for each SM, or loads that do not depend on each other.",
  small: "Its grids do not fill the GPU: larger batches, or several of them at the same time.",
  overhead: "Its kernels are shorter than their launches: fuse them, or launch them as a CUDA graph.",
  communication: "Start it earlier, beside computing, or send fewer bytes.",
};

// What is advised against a limit, before other items on the same layers.
const ADVICE_OF_LIMIT = { small: "more_parallel_work" };

// One change for many layers, where it saves much more than any single group of equal ones.
const MUCH_MORE = 1.5;
const ALL_OF_IT = 0.95; // of a card's saving: its remedy is for all of the layer's kernels
function broadCard(report, largest) {
  const [item] = report.advice.filter(each => !(each.id in WHOLE) && each.saving > MUCH_MORE * largest).sort((a, b) => b.saving - a.saving);
  if (!item || item.places.length < 2) return null;
  const places = new Set(item.places.map(([path, direction]) => `${path}\n${direction}`));
  const dots = report.dots.layers.filter(dot => !dot.again && places.has(`${dot.path}\n${dot.direction}`));
  if (dots.length < 2) return null;
  const limits = [...timeByLimit(dots)].sort((a, b) => b[1] - a[1]), [[bound] = ["unknown"]] = limits;
  const example = item.places.find(([path, direction]) => dots.some(dot => dot.path === path && dot.direction === direction && limitOf(dot.bound) === bound)) || item.places[0];
  return { report, name: `${item.places.length} layers, such as ${shortPath(example[0].split("/"))}`, count: 1, mostly: limits.length > 1, direction: "none", limit: bound, bound, low: null, high: item.saving,
    replayed: Boolean(report.step.graph), time: sumOf(dots.map(dot => [dot.time, dot.coverTime])), share: sumOf(dots.map(dot => [dot.share])).value, todo: item.action, wider: null, dots };
}

// Without layers kernels answer: a single row of all of them would say nothing.
const hasLayersOf = report => report.layers.length > 1;
const cardRows = report => (hasLayersOf(report) ? report.dots.layers : report.dots.kernels);
const isFor = (item, dot) => (dot.kernel ? item.functions.some(name => dot.name.includes(name)) : item.places.some(([name, direction]) => name === dot.path && direction === dot.direction));

// The cards, largest saving first: {report, name, count, direction, limit, bound, low, high, replayed, time, share, todo, dots};
// of a group, too, the advice that is for more layers as `wider`; of the step as a whole what calls for it as `trigger`.
function cardsOf(report) {
  const cards = [];
  const rows = cardRows(report).filter(dot => dot.rankSaving > 0 && !dot.again);
  for (const group of hasLayersOf(report) ? groupsOf(rows) : rows.map(row => [row])) {
    const saving = savingOf(group);
    if (!(saving.high > 0)) continue;
    const [dot] = group;
    const items = report.advice.filter(item => !(item.id in WHOLE) && group.some(each => isFor(item, each)));
    const advice = items.find(item => item.id === ADVICE_OF_LIMIT[dot.bound]) || items[0];
    const ofAdvice = advice ? d3.sum(group, each => (each.kernel ? 0 : d3.sum(advice.places.filter(([name, direction]) => name === each.path && direction === each.direction), ([, , saved]) => saved))) : 0;
    cards.push({ report, name: dot.kernel ? dot.name : groupName(group), count: group.length, direction: dot.direction, limit: limitOf(dot.bound), bound: dot.bound, ...saving,
      time: sumOf(group.map(each => [each.time, each.coverTime])), share: sumOf(group.map(each => [each.share])).value,
      byThis: ofAdvice > 0 && ofAdvice < ALL_OF_IT * saving.high ? ofAdvice : null,
      wider: advice && advice.places.length > group.length && advice.saving > saving.high ? advice : null, todo: advice ? advice.action : WITHOUT_ADVICE[dot.bound] || "What limits it is unknown: see the notes for what was not measured.", dots: group });
  }
  const broad = broadCard(report, d3.max(cards, card => card.high) || 0);
  if (broad) cards.push(broad);
  for (const item of report.advice) {
    if (!(item.id in WHOLE) || !(item.saving > 0)) continue;
    const limit = COLOUR_OF_WHOLE[item.id];
    cards.push({ report, where: item.id === "idle" || item.id === "waits" ? item.where : "", name: item.id === "idle" && report.step.wall_ns.mean === null ? "The host takes longer than the GPU" : WHOLE[item.id] + (report.step.exposed && HIDEABLE.has(item.id) ? " that nothing hides" : ""), count: 1, direction: "none", limit, bound: LIMITS[limit], low: null, high: item.saving, replayed: Boolean(report.step.graph),
      time: null, share: null, todo: item.action, trigger: item.trigger, dots: [] });
  }
  return cards.sort((a, b) => b.high - a.high).slice(0, CARDS);
}

// GPUs copy at the same time: of the one with most.
function timeOfCopies(report) {
  const byGpu = new Map();
  for (const copy of report.copies) byGpu.set(copy.device, (byGpu.get(copy.device) || 0) + (copy.time_ns || 0));
  return d3.max([0, ...byGpu.values()]);
}

function drawBar(report) {
  const division = divisionOf(report);
  if (!division) return "";
  const { parts, whole, step } = division;
  const known = d3.sum(parts, ([, ns]) => ns);
  const copies = step ? 0 : timeOfCopies(report);
  const title = step ? `A step of ${duration(whole)} is` : `${duration(whole)} of kernels' time are`;
  return element("div", { class: "division" },
    element("div", { class: "stack", role: "img", "aria-label": `${title}: ${parts.map(([limit, ns]) => `${LIMITS[limit]} ${percent(ns / known)}`).join(", ")}` },
      ...parts.map(([limit, ns]) => element("span", { class: `limit-${limit}`, style: `flex-grow:${Math.max(0.002, ns / known)}` }))),
    element("p", {}, `${title} `, ...parts.flatMap(([limit, ns], i) => [i ? " · " : "", swatch(limit), `${LIMITS[limit]} ${percent(ns / known)}`]),
      report.step.exposed === null && step && report.step.copy_ns > 0 ? `. Of the idle time up to ${duration(Math.min(report.step.copy_ns, report.step.idle_ns))} may be copies` : "",
      copies > COPIES_MATTER * whole ? `. Copies take ${duration(copies)}; whether kernels hide them is unknown` : "",
      !step && report.run.unit === "step" && report.step.host_ns.mean > whole ? `. The host takes ${duration(report.step.host_ns.mean)} a step` : ""));
}

// Pins all points of a card: what they have in common is looked for by their keys.
function showCard(card) {
  if (card.dots.length === 0) return;
  state.rows = card.dots[0].kernel ? "kernels" : "layers";
  pinAll(card.dots);
  drawControls();
  changed("chart", "mark");
}

function pinAll(dots) {
  const keys = new Set(dots.map(dot => dot.key));
  const again = state.pinned && state.pinned.keys && [...keys].every(key => state.pinned.keys.has(key));
  state.pinned = again ? null : { report: dots[0].report, layer: dots[0].layer, key: null, keys, layers: new Set(dots.filter(dot => !dot.kernel).map(dot => dot.layer)) };
}

function drawCard(card) {
  const unit = unitOf(card.report);
  const wall = unit === "step" ? card.report.step.wall_ns.mean : null;
  const high = wall > 0 ? Math.min(card.high, wall) : card.high;
  // Only savings of rows are of kernels' time where no step was timed.
  const ofUnit = card.dots.length === 0 ? `Up to ${duration(high)} a ${unit}` : `Up to ${duration(high)} of kernels' time a ${unit}`;
  const saved = card.replayed || (card.dots.length === 0 && wall > 0) ? `Up to ${duration(high)} of the ${unit}${wall > 0 ? ` (${percent(high / wall)})` : ""}` : ofUnit;
  const where = [card.direction === "none" ? "" : card.direction, card.count > 1 ? `×${card.count}` : ""].filter(each => each).join(", ");
  const facts = card.time ? `${sumText(card.time, duration)} of kernels a ${unit}${card.share === null ? "" : `, ${percent(card.share)} of the ${timeOfShares()}`}` : card.trigger;
  const limit = card.limit === "unknown" ? "limit unknown" : card.dots.length ? `held ${card.mostly ? "mostly " : ""}by ${LIMITS[card.limit]}` : card.bound;
  return element("li", { class: `card limit-${card.limit}` },
    element(card.dots.length ? "button" : "div", card.dots.length ? { type: "button", class: "pick", title: card.dots.map(dot => dot.path).slice(0, 40).join("\n"), onclick: () => showCard(card) } : { class: "pick" },
      element("strong", { class: "place" }, element("bdi", {}, shortened(card.name, 160)), where ? element("span", {}, ` ${where}`) : ""),
      element("span", { class: "win" }, saved),
      element("span", { class: "held" }, swatch(card.limit), limit, card.time ? ` · ${facts}` : ""),
      ...(card.time ? [] : [element("span", { class: "soft" }, facts)]),
      ...(card.where ? [element("span", { class: "soft" }, shortened(card.where, 200))] : []),
      element("span", { class: "todo", title: card.todo }, "Try: " + card.todo),
      ...(card.byThis ? [element("span", { class: "soft" }, `By that up to ${duration(card.byThis)} of it.`)] : []),
      ...(card.wider ? [element("span", { class: "soft" }, `In all ${card.wider.places.length} layers that this is for: up to ${duration(card.wider.saving)} a ${unit}.`)] : [])));
}

function drawVerdict() {
  const shown = reports.filter(report => state.reports.has(report.index));
  const verdict = document.getElementById("verdict");
  // The answer is one report's; of ranks, that which the others wait for is shown first.
  const [report] = shown;
  const cards = report ? cardsOf(report) : [];
  verdict.replaceChildren();
  if (!report) return;
  if (areOneRun) verdict.append(drawRanks());
  if (reports.length > 1) verdict.append(element("p", { class: "soft" }, `Of ${report.label}:`));
  verdict.append(drawBar(report));
  if (cards.length) verdict.append(element("ol", { class: "cards" }, ...cards.map(drawCard)));
  else verdict.append(element("p", {}, whyNoCard(report)));
  // Without an answer the notes come first: they say what would give one.
  const notes = document.getElementById("notes");
  if (cards.length === 0 && report.dots.kernels.length > 0) {
    verdict.append(notes);
    notes.open = true;
  } else {
    document.getElementById("run").append(notes);
  }
}

function whyNoCard(report) {
  const { kernels } = report.dots, missing = missingParts(kernels);
  if (kernels.length === 0) return "No kernel was measured.";
  const roofless = !report.ceilings.some(roof => roof.kind === "memory") || !report.ceilings.some(roof => roof.kind === "compute");
  if (!missing && !roofless) return "No saving is known.";
  return `No saving is known. Unknown: ${[missing, roofless ? "roofs of the GPU" : ""].filter(part => part).join("; ")}.`;
}
