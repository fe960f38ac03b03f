# SPDX-License-Identifier: Apache-2.0
"""The fields of activity records are where the oldest and the newest headers both have them: the library reads the records of
whatever CUPTI is in the process. That the sources compile against both is seen in matrix_test.py."""

import os
import re
import subprocess
import tempfile
import unittest

import wheels

# The record, its oldest structure that the library reads, and the fields read.
RECORDS = (
    ("Kernel", "CUpti_ActivityKernel9", ("start", "end", "correlationId", "deviceId", "contextId", "streamId")),
    ("Memcpy", "CUpti_ActivityMemcpy5", ("start", "end", "bytes", "correlationId", "deviceId", "copyKind")),
    ("MemcpyPtoP", "CUpti_ActivityMemcpyPtoP4", ("start", "end", "bytes", "correlationId", "deviceId")),
    ("Memset", "CUpti_ActivityMemset4", ("start", "end", "bytes", "correlationId", "deviceId")),
)


def newest_structure(folders, record):
    for folder in folders:
        path = os.path.join(folder, "cupti_activity.h")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                numbers = re.findall(rf"}} CUpti_Activity{record}(\d+);", file.read())
            return f"CUpti_Activity{record}{max(map(int, numbers))}"
    raise AssertionError("no cupti_activity.h in " + ", ".join(folders))


class Headers(unittest.TestCase):
    def compile(self, folders, *arguments):
        command = [os.environ["GABLE_COMPILER"], "-std=c++20", "-Wall", "-Wextra", "-Werror", "-I" + wheels.SOURCE]
        for folder in folders:
            command += ["-isystem", folder]
        done = subprocess.run(command + list(arguments), capture_output=True, text=True, check=False, timeout=280)
        self.assertEqual(done.returncode, 0, done.stderr[:4000])

    def check_records(self, release):
        folders = wheels.includes(release)
        lines = ["#include <cstddef>", "#include <cuda.h>", "#include <cupti.h>"]
        for record, oldest, fields in RECORDS:
            newest = newest_structure(folders, record)
            lines += [f'static_assert(offsetof({oldest}, {f}) == offsetof({newest}, {f}), "{newest}.{f}");' for f in fields]
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "records.cpp")
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
            self.compile(folders, "-fsyntax-only", path)

    def test_records_are_read_alike_in_all(self):
        self.check_records(wheels.OLDEST)
        self.check_records(wheels.NEWEST)


if __name__ == "__main__":
    wheels.need_wheels()
    unittest.main()
