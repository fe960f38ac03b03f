# SPDX-License-Identifier: Apache-2.0
"""Runs the cells of standard input (a JSON list) in a Jupyter kernel; writes what each shows: [[kind, text or {type: content}], ...]."""
import json
import sys

import nbclient
import nbformat


def shown(output):
    if output.output_type == "stream":
        return [output.name, output.text]
    if output.output_type == "error":
        return ["error", f"{output.ename}: {output.evalue}\n" + "\n".join(output.traceback)]
    return ["data", dict(output.data)]


cells = [nbformat.v4.new_code_cell(cell) for cell in json.load(sys.stdin)]
notebook = nbformat.v4.new_notebook(cells=cells)
nbclient.NotebookClient(notebook, timeout=120, allow_errors=True, kernel_name="python3").execute()
json.dump([[shown(output) for output in cell.outputs] for cell in notebook.cells], sys.stdout)
