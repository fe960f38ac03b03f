# SPDX-License-Identifier: Apache-2.0
"""gable mcp: a server of the Model Context Protocol by which language models read reports. It reads files of one folder, and writes none."""
import argparse
import json
import os
import subprocess
import sys
from typing import Annotated, Any, Literal

try:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.types import ToolAnnotations
    from pydantic import Field
except ImportError:
    sys.exit(f"gable: {sys.executable} has no MCP SDK, version 2: run '{sys.executable} -m pip install \"mcp>=2,<3\"' (pip install "
             "'gable-profiler[mcp]' does), or name a Python that has it with --python.")

_MOST_LISTED = 200
_INSTRUCTIONS = """Gable measures CUDA programs: FLOPs, bytes, times and rooflines of every layer. Begin with list_reports, then summary.
Numbers are in base units that the field's name or the answer's `units` says. null is unknown; do not read it as 0, and say that it is unknown.
`numbers_from: playback` means a recording was played and no GPU was measured. Savings are upper bounds and do not add up."""
_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

Report = Annotated[str, Field(description="a report's path, as list_reports names it")]
Rows = Annotated[int, Field(description="how many rows", ge=1, le=200)]
Layer = Annotated[str, Field(description="only layers within those that match: a glob over paths ('*/layer4/*'), a layer's name or PyTorch's name; "
                                         "empty: all")]


class Reports:
    """The folder's reports, read by the program `gable`."""

    def __init__(self, program, folder):
        self._program, self._folder = program, os.path.realpath(folder)

    def path(self, name):
        path = os.path.realpath(os.path.join(self._folder, name))
        if os.path.commonpath([path, self._folder]) != self._folder:
            raise ToolError(f"{name} is outside of {self._folder}, the only folder that this server reads.")
        if not os.path.isfile(path):
            raise ToolError(f"There is no file {name}: list_reports names the reports.")
        return path

    def gable(self, *words, good=(0,)):
        done = subprocess.run([self._program, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, cwd=self._folder,
                              env={**os.environ, "COLUMNS": "140", "NO_COLOR": "1"})
        if done.returncode not in good:
            raise ToolError((done.stderr or done.stdout).strip() or f"gable {words[0]} ended with {done.returncode}.")
        return done.returncode, done.stdout + (done.stderr if done.returncode != 0 else "")

    def list(self):
        found = []
        for folder, folders, names in os.walk(self._folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                path = os.path.join(folder, name)
                if name.endswith(".json") and os.path.isfile(path) and self._is_report(path):
                    found.append({"report": os.path.relpath(path, self._folder), "bytes": os.path.getsize(path),
                                  "modified_s": int(os.path.getmtime(path))})
        found.sort(key=lambda each: -each["modified_s"])
        return {"folder": self._folder, "reports": found[:_MOST_LISTED], "further_reports": max(0, len(found) - _MOST_LISTED)}

    @staticmethod
    def _is_report(path):
        """By its beginning, as large files are not read for this."""
        try:
            with open(path, "rb") as file:
                head = file.read(4096)
        except OSError:
            return False
        return head.lstrip().startswith(b"{") and b'"gable"' in head and b'"schema"' in head


def serve(reports):
    server = MCPServer("gable", title="Gable", instructions=_INSTRUCTIONS, log_level="WARNING")

    @server.tool(annotations=_READS)
    def list_reports() -> dict[str, Any]:
        """The reports in the folder, newest first."""
        return reports.list()

    @server.tool(annotations=_READS)
    def summary(report: Report, rows: Rows = 10, layer: Layer = "", of: Literal["layers", "kernels"] = "layers",
                sort: Literal["saving", "time", "fraction", "flops", "bytes"] = "saving") -> dict[str, Any]:
        """What a run did, as facts with units: the step and its critical path, what limits it, the rows that could save most, and advice."""
        words = ["report", reports.path(report), "--json-summary", "-", f"--top={rows}", f"--sort={sort}"]
        words += [f"--layer={layer}"] if layer else []
        words += ["--kernels"] if of == "kernels" else []
        facts = json.loads(reports.gable(*words)[1])
        for each in facts["reports"]:
            each["file"] = report
        return facts

    @server.tool(annotations=_READS)
    def operators(report: Report, rows: Rows = 20, layer: Layer = "") -> str:
        """PyTorch's operators below the layers, with shapes, calls, FLOPs and times, as a table."""
        return reports.gable("report", reports.path(report), "--operators", f"--top={rows}", *([f"--layer={layer}"] if layer else []))[1]

    @server.tool(annotations=_READS)
    def diff(before: Report, after: Report) -> str:
        """Two runs side by side, layer by layer, as Markdown. '~' is within the noise, '-' is unknown."""
        return reports.gable("diff", reports.path(before), reports.path(after), "--markdown", "-")[1]

    @server.tool(annotations=_READS)
    def check(now: Report, baseline: Report, gate_percent: Annotated[float, Field(ge=0)] = 5) -> dict[str, Any]:
        """Whether a run is slower than a baseline, beyond the gate and the noise."""
        code, said = reports.gable("check", reports.path(now), "--baseline", reports.path(baseline), f"--gate={gate_percent:g}", good=(0, 1, 3))
        return {"verdict": {0: "not worse", 1: "worse", 3: "not comparable"}[code], "findings": said.splitlines()}

    @server.tool(annotations=_READS)
    def predict(report: Report, gpu: Annotated[str, Field(description="a GPU's name: H100, B200, A100-80GB …", pattern=r"^[\w ,+-]+$")]) -> str:
        """The same work under another GPU's roofs, by arithmetic on data sheets: no measurement."""
        return reports.gable("predict", reports.path(report), f"--gpu={gpu}")[1]

    server.run("stdio")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--folder", required=True)
    options = parser.parse_args()
    try:
        serve(Reports(options.program, options.folder))
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
