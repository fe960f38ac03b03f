# SPDX-License-Identifier: Apache-2.0
"""A hundred thousand launches a second, the queue of phases again and again: the memory stays what it was.

GABLE_SOAK_SECONDS says for how long; without it ten seconds."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "failures"))
import playback_program  # noqa: E402

SECONDS = int(os.environ.get("GABLE_SOAK_SECONDS") or 10)
RATE = 100_000
# From a quarter of the run on. Allocated: a few bytes a launch, of those in ten seconds. Resident: where the machine is busy with
# other work, records wait in buffers of a fixed size, of which more is used then.
MOST_ALLOCATED_KB, MOST_RESIDENT_KB = 2048, 16 * 1024
STEP = 2000  # launches
ACTIVE = 5 if SECONDS <= 300 else 20  # windows of a phase; --repeat takes at most 1000
ROUNDS = SECONDS * RATE // STEP // ACTIVE // 6 + 1  # of six phases on this chip: as long as the program lasts
OPTIONS = f"--step-range=^step$ --active={ACTIVE} --repeat={ROUNDS}"


class Soak(unittest.TestCase):
    def test_memory_is_flat(self):
        with tempfile.TemporaryDirectory() as folder:
            ended = playback_program.run([os.environ["GABLE_SOAK"], str(SECONDS), str(RATE)], folder, OPTIONS,
                                         timeout=60 + 10 * SECONDS)
        self.assertEqual((ended.code, ended.err, ended.broken), (0, "", ""))
        self.assertIsNotNone(ended.report, "no report was left")
        launches, seconds, early_kb, late_kb, early_heap_kb, late_heap_kb = (float(word) for word in ended.out.split())
        print(f"\nsoak: {launches:,.0f} launches in {seconds:.1f} s, {launches / seconds:,.0f} a second; resident "
              f"{early_kb:,.0f} kB after a quarter, {late_kb:,.0f} kB at the end; allocated {early_heap_kb:,.0f} kB and "
              f"{late_heap_kb:,.0f} kB", file=sys.stderr)
        self.assertEqual(launches, SECONDS * RATE)
        self.assertLess(late_heap_kb - early_heap_kb, MOST_ALLOCATED_KB)
        self.assertLess(late_kb - early_kb, MOST_RESIDENT_KB)

        # It was measured all the while, and nothing of it was lost.
        report = ended.report
        steps = report["run"]["steps"]
        self.assertGreaterEqual(min(steps["hw"], steps["flops"], steps["time"]), ACTIVE * ROUNDS // 2, steps)
        self.assertEqual(set(report["run"]["lost"].values()), {0}, report["run"]["lost"])
        self.assertEqual(report["layers"][0]["launches"], STEP)
        self.assertEqual(report["layers"][0]["flops"]["fp32"], STEP * 2 * 32768)


if __name__ == "__main__":
    unittest.main()
