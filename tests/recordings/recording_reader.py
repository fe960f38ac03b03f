# SPDX-License-Identifier: Apache-2.0
"""Reads a recording (docs/recordings.md) and says what a program performed: its steps, each launch with the layer that was
open on its thread. Independent of the player, of the library and of the generators: tests compute with it what a report
must say."""

import dataclasses
import json
import re


@dataclasses.dataclass(frozen=True)
class Launch:
    path: tuple  # names of the layers that are open, outermost first
    directions: tuple  # of each of them: its own, else its parent's
    name: str  # the kernel's symbol
    grid: tuple
    block: tuple
    time_ns: int
    counters: dict = dataclasses.field(compare=False)
    unknown: frozenset = frozenset()
    thread: int = 0

    @property
    def direction(self):
        return self.directions[-1] if self.directions else "none"

    @property
    def key(self):
        return self.path, self.direction, self.name, self.grid, self.block

    @property
    def layers(self):
        """Every layer that it counts in, the root included: (path, direction)."""
        return [((), "none")] + [(self.path[:i + 1], self.directions[i]) for i in range(len(self.path))]


@dataclasses.dataclass
class Step:
    launches: list = dataclasses.field(default_factory=list)
    copies: list = dataclasses.field(default_factory=list)  # (kind, path, bytes, time_ns)

    @property
    def sequence(self):
        """What makes two steps the same: which launches, in which order."""
        return [(launch.thread,) + launch.key for launch in self.launches]


class Reader:
    """`steps`: one Step for each range whose name matches the regular expression `step_range`; `outside`: the rest."""

    def __init__(self, path, step_range):
        self.kernels, self.sequences, self.devices, self.header = {}, {}, [], None
        self.steps, self.outside = [], Step()
        self._step_range = re.compile(step_range)
        self._current = self.outside
        self._process, self._threads = [], {}
        sequence = None
        with open(path, encoding="utf-8") as lines:
            for number, text in enumerate(lines, 1):
                if not text.strip() or text.startswith("#"):
                    continue
                line = json.loads(text)
                if self.header is None:
                    self.header = line
                elif "sequence" in line and "op" not in line:
                    sequence = self.sequences.setdefault(line["sequence"], [])
                elif "end_sequence" in line:
                    sequence = None
                elif "op" in line:
                    if sequence is None:
                        self._perform(line)
                    else:
                        sequence.append(line)
                elif "kernel" in line:
                    self.kernels[line["kernel"]] = line
                elif "device" in line:
                    self.devices.append(line)
                else:
                    raise ValueError(f"{path}:{number}: this reader does not know {sorted(line)}")

    def _perform(self, op):
        kind, thread = op["op"], op.get("thread", 0)
        stack = self._threads.setdefault(thread, [])
        if kind == "play":
            for _ in range(op.get("times", 1)):
                for each in self.sequences[op["sequence"]]:
                    self._perform(each)
        elif kind == "push":
            stack.append(self._range(op))
        elif kind == "pop":
            self._close(stack.pop())
        elif kind == "start":
            self._process.append(self._range(op) + (op["id"],))
        elif kind == "end":
            ended = next(r for r in self._process if r[-1] == op["id"])
            self._process.remove(ended)
            self._close(ended)
        elif kind == "launch":
            self._current.launches.append(self._launch(op, thread))
        elif kind == "copy":
            path, _ = self._layer(thread)
            self._current.copies.append((op["kind"], path, op["bytes"], op["time_ns"]))
        elif kind not in ("idle", "sleep", "sync", "print"):
            raise ValueError(f"this reader does not know the operation {kind}")

    def _range(self, op):
        domain = op.get("domain", "")
        name = op["name"] if domain in ("", "gable") else f"{domain}:{op['name']}"
        if self._step_range.search(op["name"]):
            self._current = Step()
            self.steps.append(self._current)
        return name, op.get("direction", "none")

    def _close(self, ended):
        if self._step_range.search(ended[0]):
            self._current = self.outside

    def _layer(self, thread):
        ranges = self._process + self._threads.get(thread, [])
        if not ranges:  # a thread with nothing open works for the main thread
            ranges = self._threads.get(0, [])
        directions = []
        for each in ranges:
            inherited = directions[-1] if directions else "none"
            directions.append(inherited if each[1] == "none" else each[1])
        return tuple(each[0] for each in ranges), tuple(directions)

    def _launch(self, op, thread):
        kernel = self.kernels[op["kernel"]]
        scale = op.get("scale", 1)
        counters = {metric: value * scale for metric, value in kernel.get("counters", {}).items()}
        counters.update(op.get("counters", {}))
        path, directions = self._layer(thread)
        return Launch(path, directions, kernel["name"], tuple(kernel["grid"]), tuple(kernel["block"]),
                      op["time_ns"] if "time_ns" in op else kernel["time_ns"] * scale, counters,
                      frozenset(kernel.get("unknown", ())), thread)
