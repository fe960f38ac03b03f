# SPDX-License-Identifier: Apache-2.0
"""What the two converters need of a PyTorch profiler trace (Kineto's JSON, old and new spelling). Metadata of the trace
(paths, environment, call stacks) is never passed on."""

import bisect
import gzip
import json
import os
import sys

SASS = [f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum"
        for op in ("dadd", "dmul", "dfma", "fadd", "fmul", "ffma", "hadd", "hmul", "hfma")]
MEMORY = ["dram__sectors_read.sum", "dram__sectors_write.sum", "lts__t_sectors_srcunit_tex.sum", "l1tex__t_bytes.sum"]
_TENSOR_TYPES = ("src_fp16_dst_fp16", "src_fp16_dst_fp32", "src_fp16", "src_bf16_dst_fp32", "src_tf32_dst_fp32",
                 "src_fp64", "src_int8", "src_int4", "src_int1")
TENSOR = ["sm__inst_executed_pipe_tensor.sum"] + [
    f"sm__ops_path_tensor_{type_}{sparsity}.sum" for type_ in _TENSOR_TYPES
    for sparsity in ("", "_sparsity_off", "_sparsity_on")]


class TraceError(Exception):
    """The folder or the trace is not what the converter is for; the text is for the user."""


def load(folder, name):
    path = os.path.join(folder, name)
    try:
        with gzip.open(path, "rt", encoding="utf-8") as trace:
            return json.load(trace)
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror or error}.") from error


def events(trace, *categories):
    """Complete events of these categories (lower case), by time, an outer one before an inner one."""
    found = [e for e in trace["traceEvents"] if e.get("ph") == "X" and str(e.get("cat", "")).lower() in categories]
    return sorted(found, key=lambda e: (e["ts"], -e["dur"]))


def top_level(ops):
    """Operators that no other operator of the same thread encloses."""
    outer, open_until = [], {}
    for op in ops:
        if op["ts"] >= open_until.get(op["tid"], -1):
            outer.append(op)
            open_until[op["tid"]] = op["ts"] + op["dur"]
    return outer


class Enclosing:
    """The operator that was running on a thread at a time."""

    def __init__(self, ops):
        self._by_thread = {}
        for op in ops:
            self._by_thread.setdefault(str(op["tid"]), []).append(op)

    def find(self, tid, time):
        ops = self._by_thread.get(str(tid), [])
        at = bisect.bisect_right(ops, time, key=lambda op: op["ts"]) - 1
        if at >= 0 and time < ops[at]["ts"] + ops[at]["dur"]:
            return ops[at]
        return None


def write(path, lines):
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)  # complete, or no file
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        out.write(text)


def run_converter(argv, usage, convert):
    """A converter's command line, `argv[0] FOLDER OUT`; the answer is its exit code."""
    if len(argv) != 3:
        print(usage.strip(), file=sys.stderr)
        return 2
    try:
        write(argv[2], convert(argv[1]))
    except TraceError as error:
        print(f"{os.path.splitext(os.path.basename(argv[0]))[0]}: {error}", file=sys.stderr)
        return 2
    return 0
