// SPDX-License-Identifier: Apache-2.0
// What the chart shows, chosen by hand or by keyboard.
function group(title, ...children) {
  return element("fieldset", {}, element("legend", {}, title), ...children);
}

function choice(name, value, text, chosen, choose) {
  return element("label", {}, element("input", { type: "radio", name, value, checked: chosen, onchange: choose }), " " + text);
}

function toggle(id, text, on, set) {
  return element("label", {}, element("input", { type: "checkbox", id, checked: on, onchange: event => set(event.target.checked) }), " " + text);
}

// Boxes for the members of a set in the state.
function toggles(title, prefix, values, set, text = value => value, after = () => changed("chart")) {
  if (values.length < 2) return "";
  return group(title, ...values.map(value => toggle(`${prefix}-${value}`, text(value), set.has(value), on => {
    if (on) set.add(value);
    else set.delete(value);
    after();
  })));
}

function drawControls() {
  const levels = LEVELS.filter(level => reports.some(report => report.dots.layers.concat(report.dots.kernels).some(dot => dot[level.id] !== null)));
  const everything = reports.flatMap(report => report.dots.layers.concat(report.dots.kernels));
  const without = present(dot => dot.precision).map(name => `${name}_no_fma`).filter(name => roofs.some(roof => roof.name === name));
  document.getElementById("controls").replaceChildren(...[
    group("View", ...Object.entries(views).map(([id, view]) => choice("view", id, view.name, state.view === id, () => {
      state.view = id;
      showAll();
    }))),
    group("Points", choice("rows", "layers", "layers", state.rows === "layers", () => choose("layers")),
      choice("rows", "kernels", "kernels", state.rows === "kernels", () => choose("kernels"))),
    toggles("Level", "level", levels.map(level => level.id), state.levels, id => LEVELS.find(level => level.id === id).name),
    toggles("Limit", "limit", limitsOfPoints, state.limits, limit => LIMITS[limit]),
    toggles("Direction", "direction", Object.keys(SHAPES).filter(direction => everything.some(dot => dot.direction === direction)), state.directions),
    toggles("Precision", "precision", present(dot => dot.precision).concat(without), state.precisions, roofName),
    toggles("Roofs", "roofs", roofSets, state.roofSets),
    toggles("Reports", "report", reports.map(report => report.index), state.reports, index => reports[index].label, () => { changed("chart", "table"); if (!compared) drawVerdict(); drawAdvice(); drawMemory(); }),
    group("Lines", toggle("headroom", "headroom", state.headroom, on => { state.headroom = on; drawLines(); }),
      levels.length > 1 ? toggle("join", "join levels", state.join, on => { state.join = on; drawLines(); }) : ""),
    element("button", { type: "button", id: "reset", onclick: showAll }, "Show all"),
  ].filter(each => each));
}

function choose(rows) {
  state.rows = rows;
  state.hovered = null;
  showAll();
}

function showAll() {
  transform = d3.zoomIdentity;
  svg.call(zoom.transform, d3.zoomIdentity);
  changed("chart", "mark");
}
