# SPDX-License-Identifier: Apache-2.0
"""The fleet's page: one HTML file that needs no network. Plotly draws the strip of ranks and the history of layers."""
import html
import os

import plotly.graph_objects as go
import plotly.io

from gable_fleet import words

_MOST_OFF = 10  # percent; colours end there
_STYLE = """
:root { color-scheme: light dark; --text: #1d2229; --soft: #5a6470; --line: #d5dae0; --panel: #f4f6f8; --page: #ffffff; --alert: #a02800 }
@media (prefers-color-scheme: dark) {
  :root { --text: #e3e7ec; --soft: #9aa3ae; --line: #363d47; --panel: #1d2128; --page: #14171c; --alert: #ff9b7a } }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 16px 24px 48px; max-width: 1500px; background: var(--page); color: var(--text); font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif }
h1 { font-size: 19px; margin: 0 } h2 { font-size: 15px; margin: 22px 0 4px } p { margin: 3px 0 }
.soft { color: var(--soft) } .alert { color: var(--alert); font-weight: 600 }
.answers { display: grid; grid-template-columns: repeat(auto-fit, minmax(280px, 1fr)); gap: 10px; padding: 0; list-style: none; margin: 10px 0 }
.answers li { border: 1px solid var(--line); border-radius: 6px; background: var(--panel); padding: 8px 12px; overflow-wrap: anywhere }
.answers strong { display: block; color: var(--soft); font-weight: 400 } .answers span { font-size: 16px }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 560px), 1fr)); gap: 8px 24px } .plots > section { min-width: 0 }
select { font: inherit; color: inherit; background: var(--page); border: 1px solid var(--line); border-radius: 5px; padding: 3px 6px; max-width: 100% }
.tables { overflow-x: auto } table { border-collapse: collapse; width: 100% } caption { text-align: left; font-weight: 600; padding: 12px 0 4px }
th, td { text-align: left; padding: 3px 14px 3px 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere }
th.number, td.number { text-align: right; white-space: nowrap }
"""
# Shows the plot that is chosen, in the page's colours.
_SCRIPT = """
const dark = matchMedia("(prefers-color-scheme: dark)");
function paint() {
  const style = getComputedStyle(document.documentElement), text = style.getPropertyValue("--text"), line = style.getPropertyValue("--line");
  for (const plot of document.querySelectorAll(".plot:not([hidden]) .js-plotly-plot"))
    Plotly.relayout(plot, { "font.color": text, "xaxis.gridcolor": line, "yaxis.gridcolor": line, "xaxis.linecolor": line, "yaxis.linecolor": line })
      .then(() => Plotly.Plots.resize(plot));
}
for (const choice of document.querySelectorAll("select")) {
  choice.addEventListener("change", () => {
    for (const plot of choice.closest("section").querySelectorAll(".plot")) plot.hidden = plot.dataset.name !== choice.value;
    paint();
  });
}
dark.addEventListener("change", paint);
paint();
"""
_LAYOUT = {"paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "margin": {"l": 70, "r": 10, "t": 10, "b": 50}, "height": 420, "showlegend": False}


def page(answers, strip, history, dataset):
    name = os.path.basename(os.path.abspath(dataset))
    parts = [f"<h1>Fleet {escape(name)}</h1>", f'<p class="soft">{escape(words.headline(answers["fleet"]))}</p>']
    parts += [f'<p class="alert">{escape(sentence)}</p>' for sentence in words.cautions(answers["fleet"])]
    parts.append('<ul class="answers">' + "".join(f"<li><strong>{escape(question)}</strong><span>{escape(answer)}</span></li>"
                                                  for question, answer in words.answers(answers)) + "</ul>")
    first = [True]

    def drawn(figure):
        with_library, first[0] = first[0], False
        return plotly.io.to_html(figure, include_plotlyjs=with_library, full_html=False, config={"displaylogo": False, "responsive": True})

    strips = [(f"{job}, {day}", strip_of(rows)) for (job, day), rows in grouped(strip, ("job", "day")).items()
              if any(row["relative"] is not None for row in rows)]
    histories = [(", ".join(filter(None, (words.layer_name(rows[0]), rows[0]["model"], rows[0]["gpu_name"]))), history_of(rows))
                 for rows in grouped(history, ("model", "layer", "direction", "gpu_name")).values()]
    parts.append('<div class="plots">')
    parts.append(choice("Ranks", "ranks", strips, drawn, "Each square is a rank. Red ranks need longer than the median of the ranks with the same "
                        "layers, blue ones less; waiting for others is left out. Those with a frame are slow.", words.none_compared(answers["fleet"])))
    parts.append(choice("History of a layer", "layers", histories, drawn, "Each day's median over its jobs: of a step, or of a layer's own kernels in it. "
                        "Bars show the fastest and the slowest job.", "No layer has kernels with known times."))
    parts.append("</div>")
    parts += [table_of(title, columns, answers[question], words.nothing(question, answers["fleet"])) for title, question, columns in words.sections(answers)]
    parts += [f'<p class="soft">{escape(sentence)}</p>' for sentence in (words.LOST, words.SLOW)]
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Fleet {escape(name)}'
            f"</title><style>{_STYLE}</style></head><body>\n" + "\n".join(parts) + f"\n<script>{_SCRIPT if strips or histories else ''}</script></body></html>\n")


def escape(text):
    return html.escape(str(text))


def grouped(rows, names):
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def choice(title, what, plots, drawn, explanation, without):
    """Plots of which one is shown, (name, figure) each."""
    if not plots:
        return f"<section><h2>{title}</h2><p>{escape(without)}</p></section>"
    options = "".join(f'<option value="{place}">{escape(name)}</option>' for place, (name, _) in enumerate(plots))
    # The first is drawn into what is seen; the others are measured when they are chosen.
    figures = "".join(f'<div class="plot" data-name="{place}"{" hidden" if place else ""}>{drawn(figure)}</div>' for place, (_, figure) in enumerate(plots))
    return (f'<section><h2>{title}</h2><label class="soft">{what.capitalize()}: <select>{options}</select></label><p class="soft">{escape(explanation)}</p>'
            f"{figures}</section>")


def strip_of(rows):
    """A job's ranks in rows, each coloured by how far it is from the median of its like."""
    width = 8 * max(1, round((len(rows) / 64) ** 0.5 * 1.4)) if len(rows) > 32 else len(rows)
    lines = [rows[begin:begin + width] for begin in range(0, len(rows), width)]

    def off(row):
        return None if row["relative"] is None else 100 * (row["relative"] - 1)

    def told(row):
        return f"{words.rank_name(row)} on {row['hostname']}: {words.percent(None if row['relative'] is None else row['relative'] - 1, True)}"

    pad = [None] * (width - len(lines[-1]))
    begins = [words.rank_name(line[0]) for line in lines]
    figure = go.Figure(go.Heatmap(
        z=[[off(row) for row in line] + (pad if line is lines[-1] else []) for line in lines], text=[[told(row) for row in line] for line in lines],
        hovertemplate="%{text}<extra></extra>", zmid=0, zmin=-_MOST_OFF, zmax=_MOST_OFF, colorscale="RdBu", reversescale=True,
        colorbar={"title": {"text": "time beyond the median, %", "side": "right"}, "thickness": 12}, xgap=1 if len(rows) < 5000 else 0,
        ygap=1 if len(rows) < 5000 else 0))
    slow = [(place % width, place // width, row) for place, row in enumerate(rows) if row["slow"]]
    figure.add_trace(go.Scatter(x=[x for x, _, _ in slow], y=[y for _, y, _ in slow], mode="markers", hoverinfo="skip",
                                marker={"symbol": "square-open", "size": 11, "line": {"width": 2}, "color": "#1d2229"}))
    for x, y, row in sorted(slow, key=lambda each: -each[2]["relative"])[:1]:
        figure.add_annotation(x=x, y=y, text=f"{words.rank_name(row)} {words.percent(row['relative'] - 1, True)}", bgcolor="#ffffff", bordercolor="#1d2229",
                              font={"color": "#1d2229"}, arrowcolor="#1d2229")
    step = max(1, len(lines) // 8)
    figure.update_layout(**{**_LAYOUT, "height": min(420, 180 + 24 * len(lines))}, xaxis={"title": {"text": "place in the row"}, "showgrid": False},
                         yaxis={"autorange": "reversed", "tickvals": list(range(0, len(lines), step)), "ticktext": begins[::step], "showgrid": False,
                                "title": {"text": "row, by its first"}})
    return figure


def history_of(rows):
    figure = go.Figure(go.Scatter(
        x=[str(row["day"]) for row in rows], y=[row["ns"] / 1e6 for row in rows], mode="lines+markers", marker={"size": 8, "color": "#0072b2"},
        error_y={"type": "data", "symmetric": False, "array": [(row["high_ns"] - row["ns"]) / 1e6 for row in rows],
                 "arrayminus": [(row["ns"] - row["low_ns"]) / 1e6 for row in rows]},
        text=[f"{row['day']}: {words.duration(row['ns'])}, {words.count(row['jobs'], 'job')}" for row in rows], hovertemplate="%{text}<extra></extra>"))
    figure.update_layout(**_LAYOUT, xaxis={"title": {"text": "day (UTC)"}, "type": "category"},
                         yaxis={"title": {"text": "whole step, ms" if rows[0]["layer"] == "" else "own kernels in a step, ms"}, "rangemode": "tozero"})
    return figure


def table_of(title, columns, rows, without):
    if not rows:
        return f"<h2>{escape(title)}</h2><p>{escape(without)}</p>"
    head = "".join(f'<th scope="col"{number_class(number)}>{escape(heading)}</th>' for heading, _, number in columns)
    body = "".join("<tr>" + "".join(f"<td{number_class(number)}>{escape(text(row))}</td>" for _, text, number in columns) + "</tr>" for row in rows)
    return f'<div class="tables"><table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def number_class(number):
    return ' class="number"' if number else ""
