# SPDX-License-Identifier: Apache-2.0
"""How much memory `gable import` takes for each record of a file: the growth of its peak between two sizes of a file, as docs/import.md
has it. An export of nsys takes none that grows with its records; what is sorted beside memory is in TMPDIR meanwhile."""
import fcntl
import json
import os
import pathlib
import re
import select
import sqlite3
import subprocess
import sys
import unittest

from import_run import PROGRAM, ImportTest

MAKE_EXPORT = pathlib.Path(__file__).resolve().parents[1] / "bench" / "import" / "make_export.py"
MOST = 119  # bytes a record, in any reader
# A vector that has just grown takes the room of two: at these sizes it has not. The kernel's peak is off by up to 0.5 MB, which is
# 4 bytes a record here.
SMALL, LARGE = 1 << 17, 1 << 18


def peak(*arguments):
    """Bytes, at most, of an import. What wait4() tells begins with this process's own memory; the kernel's VmHWM does not, and is
    read while the program waits for somebody to read its report."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    with open(reading, "rb") as report, subprocess.Popen([PROGRAM, "import", *map(str, arguments), "-o", "-"], stdout=writing,
                                                         env=dict(os.environ, GABLE_CEILINGS="none")) as process:
        os.close(writing)
        select.select([report], [], [])
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        report.read()
    if process.returncode != 0:
        raise AssertionError(f"gable import ended with {process.returncode}")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024


def event(category, name, start, thread, **arguments):
    return json.dumps({"ph": "X", "cat": category, "name": name, "pid": thread, "tid": thread, "ts": start, "dur": 5, "args": arguments})


def kernel(i, **arguments):
    return event("kernel", f"kernel_{i % 20}", 10 * i + 20, 7, device=0, context=1, stream=7, grid=[1 + i % 9, 1, 1], block=[128, 1, 1],
                 **{"registers per thread": 32, "shared memory": 0}, **arguments)


TRACES = {
    "kernel with its call": lambda i: [kernel(i, correlation=i + 1), event("cuda_runtime", "cudaLaunchKernel", 10 * i, 1, correlation=i + 1)],
    "copy with its call": lambda i: [event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 10 * i + 20, 7, device=0, context=1, stream=7, correlation=i + 1, bytes=64),
                                     event("cuda_runtime", "cudaMemcpyAsync", 10 * i, 1, correlation=i + 1)],
    "annotation": lambda i: [event("user_annotation", f"layer {i % 50}", 10 * i, 1)],
    "operator": lambda i: [event("cpu_op", "aten::add", 10 * i, 1, **{"External id": i + 1, "Sequence number": i})],
    "operator with sizes": lambda i: [event("cpu_op", "aten::mm", 10 * i, 1, **{"External id": i + 1, "Input Dims": [[32, 64], [64, 8]], "Input type": ["float", "float"]})],
}


class MemoryTest(ImportTest):
    def trace(self, records, count):
        path = self.folder / f"trace_{count}.json"
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"traceEvents": [' + kernel(0))
            for i in range(count):
                file.write("".join(",\n" + each for each in records(i)))
            file.write("]}")
        return path

    def test_a_trace_takes_little_for_each_record(self):
        for name, records in TRACES.items():
            with self.subTest(name):
                small, large = (peak("--kineto", self.trace(records, count)) for count in (SMALL, LARGE))
                growth = (large - small) / (LARGE - SMALL)
                print(f"a trace: {growth:.0f} bytes more a {name}")
                self.assertLess(growth, MOST)

    def test_an_export_takes_none_for_each_record(self):
        sizes = {}
        for megabytes in (60, 150):
            path = self.folder / f"run_{megabytes}.sqlite"
            made = subprocess.run([sys.executable, "-B", MAKE_EXPORT, str(megabytes), path], capture_output=True, text=True, check=True)
            kernels = int(made.stdout.split()[0])
            # Else the report, which has a row for each kernel in each layer, would take more than what is read.
            base = sqlite3.connect(path)
            base.execute("PRAGMA synchronous = OFF")
            base.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 1, dynamicSharedMemory = 0")
            base.execute("UPDATE NVTX_EVENTS SET text = 'layer', textId = NULL WHERE textId IS NOT NULL")
            base.commit()
            base.close()
            sizes[kernels] = peak("--nsys", path, "--step-range", "step.*")
            path.unlink()
        (fewer, small), (more, large) = sorted(sizes.items())
        growth = (large - small) / (more - fewer)
        print(f"an export: {growth:.0f} bytes more a kernel with its calls and ranges; {large / 1e6:.0f} MB")
        # One word kept of each kernel, call and range would be 44 bytes.
        self.assertLess(growth, 24)


if __name__ == "__main__":
    unittest.main()
