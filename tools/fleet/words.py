# SPDX-License-Identifier: Apache-2.0
"""How answers about a fleet are written: in the terminal and on the page. What is unknown is a dash."""
from gable_fleet import queries


def duration(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns is not None and abs(ns) >= size:
            return f"{ns / size:.4g} {unit}"
    return "-" if ns is None else f"{ns:.4g} ns"


def percent(share, sign=False):
    return "-" if share is None else f"{100 * share:{'+' if sign else ''}.1f} %"


def number(value):
    if value is None or value == 0:
        return "-" if value is None else "0"
    return "< 0.01" if value < 0.01 else f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def count(number, word):
    return f"{number:,} {word}" + ("" if number == 1 else "es" if word.endswith("s") else "s")


def layer_name(row):
    if row["layer"] is None:
        return "-"
    return "(whole step)" if row["layer"] == "" else row["layer"] + (f" {row['direction']}" if row["direction"] not in ("", "none") else "")


def limit(row):
    return {None: "-", "small": "small grids"}.get(row["roof_bound"], row["roof_bound"])


def rank_name(row):
    return f"process {row['run'].split(':')[1]}" if row["rank"] is None else f"rank {row['rank']}"


def headline(fleet):
    words = [(fleet["jobs"], "job"), (fleet["processes"], "process"), (fleet["gpus"], "GPU"), (fleet["nodes"], "node")]
    said = ", ".join(count(number, word) for number, word in words)
    days = f"{fleet['first']}" + ("" if fleet["days"] == 1 else f" to {fleet['last']}")
    again = "" if fleet["runs"] == fleet["processes"] else f"; {fleet['runs']:,} runs of them"
    return f"{said}; {days}{again}"


def cautions(fleet):
    for number, words in ((fleet["from_playback"], "are from playback: no GPU was measured there"),
                          (fleet["incomplete"], "have only a snapshot: their program ran on or did not end well"),
                          (fleet["without_steps"], "know no steps: their losses are unknown")):
        if number:
            yield f"{'All' if number == fleet['processes'] else f'{number:,}'} processes {words}." if fleet["processes"] > 1 else \
                f"The process {words.replace('are ', 'is ', 1).replace('have ', 'has ', 1).replace('know ', 'knows ', 1)}."


LOST = ("GPUs: the layer's share of a step, summed over all GPUs; as many do nothing else. Lost: the part above the roofs. It is an upper bound of what "
        "better kernels save.")
SLOW = (f"A rank is slow if it needs {100 * queries.SLOWER:.0f} % and {queries.DEVIATIONS} deviations more than the median of the ranks with the same layers, "
        "waiting for others left out.")


def reason(row):
    words = []
    if row["layer"] is not None:
        words.append(f"{layer_name(row)}: {duration(row['layer_ns'])}, others {duration(row['layer_middle_ns'])}")
    if row["throttled"]:
        words.append(f"throttled in {percent(row['throttled'])} of readings")
    return "; ".join(words) or "-"


# Title, question, columns: (heading, text of a row, whether it is a number).
_SECTIONS = (
    ("Slow ranks", "slow_ranks", (("rank", rank_name, False), ("job", lambda row: row["job"], False), ("node", lambda row: row["hostname"], False),
                                  ("day", lambda row: str(row["day"]), False), ("slower", lambda row: percent(row["slower"], True), True),
                                  ("slowest in", reason, False))),
    ("Nodes that became slower", "slower_nodes", (("node", lambda row: row["hostname"], False), ("since", lambda row: str(row["since"]), False),
                                                  ("slower", lambda row: percent(row["slower"], True), True),
                                                  ("days before", lambda row: str(row["days_before"]), True),
                                                  ("throttled", lambda row: percent(row["throttled"]), True))),
    ("What became slower", "slower_layers", (("layer", layer_name, False), ("model", lambda row: row["model"] or "-", False),
                                             ("since", lambda row: str(row["since"]), False), ("before", lambda row: duration(row["before"]), True),
                                             ("now", lambda row: duration(row["now"]), True), ("slower", lambda row: percent(row["slower"], True), True),
                                             ("days before", lambda row: str(row["days_before"]), True))),
    ("Layers that lose most", "layers", (("layer", layer_name, False), ("model", lambda row: row["model"] or "-", False),
                                         ("jobs", lambda row: f"{row['jobs']:,}", True), ("GPUs", lambda row: number(row["gpus"]), True),
                                         ("lost", lambda row: number(row["lost_gpus"]), True), ("roof", lambda row: percent(row["roof_fraction"]), True),
                                         ("limit", limit, False))),
    *((title, name, ((heading, (lambda row, column=column: row[column] or "-"), False), ("processes", lambda row: f"{row['processes']:,}", True),
                     ("GPUs", lambda row: number(row["gpus"]), True), ("lost", lambda row: number(row["lost_gpus"]), True),
                     ("idle", lambda row: percent(row["idle"]), True), ("exposed comm.", lambda row: percent(row["communication"]), True),
                     ("MFU", lambda row: percent(row["mfu"]), True), ("step", lambda row: duration(row["wall_ns"]), True),
                     ("slow", lambda row: f"{row['slow']:,}", True)))
      for title, name, heading, column in (("Jobs", "jobs", "job", "job"), ("Models", "models", "model", "model"), ("GPUs", "gpus", "GPU", "gpu_name"),
                                           ("Nodes", "nodes", "node", "hostname"))),
)


def sections(answers):
    """What is shown. How models, GPUs and nodes compare is not, where there is one of each."""
    return [section for section in _SECTIONS if section[1] not in ("models", "gpus", "nodes") or len(answers[section[1]]) > 1]


def none_compared(fleet):
    return ("No ranks can be compared: that takes three with the same layers in one job, whose steps are known." if fleet["compared"] == 0 else
            "No rank is slow.")


def nothing(question, fleet):
    """The sentence in place of a table without rows."""
    if question == "slow_ranks":
        return none_compared(fleet)
    if question in ("slower_nodes", "slower_layers") and fleet["days"] == 1:
        return f"{'Nodes' if question == 'slower_nodes' else 'Layers'} cannot be compared with earlier days: all runs are of one day."
    return {"slower_nodes": "No node became slower.", "slower_layers": "Nothing became slower."}.get(question, "No layer has kernels with known times.")


def answers(found):
    """The page's first questions, with their answers."""
    fleet = found["fleet"]
    layer = next((row for row in found["layers"] if row["lost_gpus"] is not None), None)
    yield "Which layer loses most?", (f"{layer_name(layer)}: the time of up to {number(layer['lost_gpus'])} of {count(fleet['gpus'], 'GPU')}"
                                      + (f"; limit: {limit(layer)}" if layer["roof_bound"] else "") if layer else "unknown: no layer's roofs are known")
    job = next((row for row in found["jobs"] if row["lost_gpus"] is not None), None)
    yield "Which job loses most?", f"{job['job']}: the time of up to {number(job['lost_gpus'])} of its {count(job['gpus'], 'GPU')}" if job else "unknown: no job's roofs are known"
    slow = found["slow_ranks"]
    yield "Which rank is slow?", (f"{rank_name(slow[0])} of {slow[0]['job']} on {slow[0]['hostname']}: {percent(slow[0]['slower'], True)}"
                                  + (f", and {fleet['slow'] - 1:,} more" if fleet["slow"] > 1 else "") if slow else none_compared(fleet))
    layers, nodes = found["slower_layers"], found["slower_nodes"]
    words = [f"{layer_name(layers[0])}: {percent(layers[0]['slower'], True)} since {layers[0]['since']}"] if layers else []
    words += [f"{nodes[0]['hostname']}: {percent(nodes[0]['slower'], True)} since {nodes[0]['since']}"] if nodes else []
    yield "What became slower?", "; ".join(words) or nothing("slower_layers", fleet)
