// SPDX-License-Identifier: Apache-2.0
// What is shown as the end of the page's address, so that a link leads to the same view. Only what differs from the first view is in it.
const ADDRESS_SETS = { levels: "level", directions: "direction", precisions: "precision", limits: "limit", roofSets: "roofs", reports: "report" };
const firstSets = Object.fromEntries(Object.keys(ADDRESS_SETS).map(name => [name, new Set(state[name])]));

function addressOf() {
  const parts = new URLSearchParams();
  if (state.view !== "roofline") parts.set("view", state.view);
  if (state.rows !== (hasLayers ? "layers" : "kernels")) parts.set("points", state.rows);
  if (!state.flat) parts.set("tree", "1");
  if (state.search) parts.set("search", state.search);
  if (state.sort.column !== "saving" || !state.sort.down) parts.set("sort", (state.sort.down ? "-" : "") + state.sort.column);
  for (const flag of ["headroom", "join"]) if (state[flag]) parts.set(flag, "1");
  for (const [name, word] of Object.entries(ADDRESS_SETS)) {
    const same = state[name].size === firstSets[name].size && [...state[name]].every(value => firstSets[name].has(value));
    if (!same) parts.set(word, [...state[name]].join("~"));
  }
  // Lengths are shares of the plot's, which differ from one window to the next.
  const { k, x, y } = transform, share = value => String(Number(value.toFixed(3)));
  if (current.inner && (k !== 1 || x !== 0 || y !== 0)) parts.set("zoom", [k, x / current.inner.width, y / current.inner.height].map(share).join("~"));
  const { pinned } = state;
  if (pinned) parts.set("pin", pinned.keys ? `${pinned.report}:${[...pinned.keys].join("~")}` : `${pinned.report}:${pinned.layer ?? ""}:${pinned.key ?? ""}`);
  return parts.toString();
}

// Takes what an address says as far as this page has it.
function takeAddress(text) {
  const parts = new URLSearchParams(text);
  const one = (name, allowed, set) => { if (parts.has(name) && allowed.includes(parts.get(name))) set(parts.get(name)); };
  one("view", Object.keys(views), view => { state.view = view; });
  one("points", ["layers", "kernels"], rows => { state.rows = rows; });
  state.flat = parts.get("tree") !== "1";
  state.search = (parts.get("search") || "").toLowerCase();
  const [, minus, column] = /^(-?)(.*)$/.exec(parts.get("sort") || "-saving");
  if (COLUMNS.some(each => each.id === column)) state.sort = { column, down: minus === "-" };
  for (const flag of ["headroom", "join"]) state[flag] = parts.get(flag) === "1";
  const all = { levels: LEVELS.map(level => level.id), directions: Object.keys(SHAPES), precisions: roofs.map(roof => roof.name), limits: limitsOfPoints, roofSets,
    reports: reports.map(report => report.index) };
  for (const [name, word] of Object.entries(ADDRESS_SETS)) {
    if (!parts.has(word)) continue;
    const wanted = parts.get(word).split("~");
    const found = all[name].filter(value => wanted.includes(String(value)));
    if (found.length || parts.get(word) === "") state[name] = new Set(found); // else another page's
  }
  const [report, ...rest] = (parts.get("pin") || "").split(":"), dots = reports[report] && reports[report].dots;
  if (!dots) return;
  const find = key => dots.layers.concat(dots.kernels).find(dot => dot.key === key);
  if (rest.length === 1) {
    const found = rest[0].split("~").map(find).filter(dot => dot);
    if (found.length) pinAll(found);
  } else if (rest[1] === "" ? reports[report].byId.has(Number(rest[0])) : find(rest[1])) {
    state.pinned = { report: Number(report), layer: rest[0] === "" ? null : Number(rest[0]), key: rest[1] || null };
  }
}

// Needs the chart, as zooming does.
function takeZoom(text) {
  const [k, x, y] = (new URLSearchParams(text).get("zoom") || "").split("~").map(Number);
  if (!(k >= LEAST_ZOOM && k <= MOST_ZOOM) || !Number.isFinite(x) || !Number.isFinite(y) || !current.inner) return;
  svg.call(zoom.transform, d3.zoomIdentity.translate(x * current.inner.width, y * current.inner.height).scale(k));
}

let addressWaits = null;
function writeAddress() {
  clearTimeout(addressWaits);
  addressWaits = setTimeout(() => {
    const text = addressOf();
    if (text !== location.hash.slice(1)) history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  }, 150);
}
