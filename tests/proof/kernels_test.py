# SPDX-License-Identifier: Apache-2.0
"""What the kernels of `truth` and of `gable ceilings` do on each chip, read from their machine code without a GPU, against what
their tables promise. Needs ptxas of a CUDA toolkit and nvdisasm (scripts/setup.sh --disassembler BUILD)."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import prove
import sass

PTXAS = shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
FETCHED = prove.BUILD / "disassembler" / "nvidia" / "cu13" / "bin" / "nvdisasm"
NVDISASM = str(FETCHED) if FETCHED.exists() else shutil.which("nvdisasm") or shutil.which("nvdisasm", path="/usr/local/cuda/bin")
CHIPS = (80, 90, 100, 120)
MOVES = 8  # a thread: what Gable takes for moves of constants (analysis/roofline/work.cpp)
HALVES = ("hadd", "hmul", "hfma", "product", "sum")
FLOATS = [kind + operation for kind in "fd" for operation in ("add", "mul", "fma")]
OPERATIONS = {"fadd": 1, "fmul": 1, "ffma": 2, "dadd": 1, "dmul": 1, "dfma": 2, "hadd": 2, "hmul": 2, "product": 2, "sum": 2, "hfma": 4, "tensor": 1}
# A move of a constant in a loop, where every turn makes one more: too many for a kernel that is said to move alone.
MOVES_IN_LOOPS = {"truth_l2"}


def problems_of(promise, kernel):
    """One sentence for each thing that a kernel does otherwise than promised."""
    found = [f"calls a subroutine: {call}" for call in kernel.calls()]
    if kernel.timed():
        parts = kernel.segments()
        worked = [part for part in parts if kernel.steps(part) > 0 or any(kernel.work([part]).values())]
        if not worked:
            found.append("has no loop")
        for part in worked:
            steps, work = kernel.steps(part), kernel.work([part])
            if steps == 0:
                found.append(f"works outside its rounds: {dict(work)}")
            else:
                found += problems_of_round(promise, {name: count / steps for name, count in work.items()})
        found += problems_beside(promise, kernel.elsewhere(parts))
    else:
        loops = [loop for loop in kernel.innermost_loops() if any(name in kernel.work([loop]) for name in sass.MEMORY.values())]
        found += [] if len(loops) == 1 else [f"has {len(loops)} loops over memory"]
        for loop in loops:
            found += problems_of_round(promise, kernel.work([loop]))
    return found + problems_of_moves(promise, kernel)


def problems_of_round(promise, work):
    """Of one round of the loop."""
    found, each = [], promise["each_turn"]
    pairs = [(name, each.get(name, 0), work.get(name, 0)) for name in FLOATS + ["tensor"]]
    # A product in half precision may be HFMA2: the sum is promised.
    pairs.append(("half", sum(each.get(name, 0) for name in ("hadd", "hmul", "hfma")),
                  sum(work.get(name, 0) for name in HALVES)))
    if promise["table"] == "truth":
        pairs += [(name, promise["bytes"][name], work.get(name, 0)) for name in sass.MEMORY.values()]
    elif promise["family"] == "memory":
        pairs.append(("bytes", promise["operations"], work.get("read", 0) + work.get("written", 0)))
    else:
        pairs.append(("operations", promise["operations"], sum(weight * work.get(name, 0) for name, weight in OPERATIONS.items())))
    for name, promised, done in pairs:
        if promised != done:
            found.append(f"{name}: {done:g} in a round, {promised:g} promised")
    return found


def problems_beside(promise, work):
    """Before the loop and after it."""
    once = promise["once"]
    pairs = [(name, once.get(name, 0), work.get(name, 0)) for name in FLOATS + ["tensor"]]
    pairs.append(("half", sum(once.get(name, 0) for name in ("hadd", "hmul", "hfma")),
                  sum(work.get(name, 0) for name in HALVES)))
    return [f"{name}: {done:g} beside the loop, {promised:g} promised" for name, promised, done in pairs if promised != done]


def moves_of(promise, kernel):
    """HFMA2 of one thread that move constants, in all its turns."""
    loops = kernel.loops()
    within = kernel.work(loops)["move"]
    return kernel.elsewhere(loops)["move"] + within * promise.get("turns", 1)


def problems_of_moves(promise, kernel):
    moves = moves_of(promise, kernel)
    if moves <= MOVES or promise["kernel"] in MOVES_IN_LOOPS:
        return []
    return [f"moves {moves:g} constants by HFMA2, and {MOVES} a thread are taken for moves"]


@unittest.skipUnless(PTXAS and NVDISASM, "needs ptxas and nvdisasm")
class Kernels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.read = {chip: cls.of_chip(chip) for chip in CHIPS}

    @classmethod
    def of_chip(cls, chip):
        """(promise, kernel) of every kernel that the tables have for a chip."""
        run = subprocess.run([prove.BUILD / "bin" / "gable_truth", "--promises", cls.folder.name, str(chip)], check=True, timeout=60,
                             capture_output=True, text=True)
        promises, modules = [json.loads(line) for line in run.stdout.splitlines()], {}
        for name in {promise["kernel"] for promise in promises}:
            text = pathlib.Path(cls.folder.name, name + ".ptx").read_text(encoding="utf-8")
            head = re.match(r"\.version ([0-9.]+)\n\.target (\w+)\n\.address_size 64\n", text)
            modules.setdefault(head.group(2), []).append((float(head.group(1)), text[head.end():]))
        read = {}
        for target, parts in modules.items():
            read |= cls.disassembled(target, parts, chip)
        return [(promise, read[promise["kernel"]]) for promise in promises]

    @classmethod
    def disassembled(cls, target, parts, chip):
        """All kernels of one target in one module: starting a disassembler is what takes long."""
        ptx, cubin = (pathlib.Path(cls.folder.name, "module." + kind) for kind in ("ptx", "cubin"))
        ptx.write_text(f".version {max(version for version, _ in parts)}\n.target {target}\n.address_size 64\n" +
                       "".join(sorted(text for _, text in parts)), encoding="utf-8")
        # As the driver does: for the chip itself, and for no other where the kernel says so.
        arch = target if target.endswith("a") else f"sm_{chip}"
        assembled = subprocess.run([PTXAS, "-arch=" + arch, "-o", cubin, ptx], check=False, timeout=300, capture_output=True, text=True)
        if assembled.returncode != 0:
            raise AssertionError(f"kernels for {target} cannot be assembled for {arch}: {assembled.stderr}")
        return sass.kernels_of(subprocess.run([NVDISASM, "-c", cubin], check=True, timeout=300, capture_output=True, text=True).stdout)

    def test_every_kernel_does_what_its_table_promises(self):
        for chip, pairs in self.read.items():
            self.assertGreater(len(pairs), 40 if chip != 100 else 35, chip)
            for promise, kernel in pairs:
                with self.subTest(chip=chip, kernel=promise["kernel"], table=promise["table"]):
                    self.assertEqual([], problems_of(promise, kernel))

    def test_a_wrong_promise_is_found(self):
        """Each of them, told a little more than it does."""
        for chip, pairs in self.read.items():
            for promise, kernel in pairs:
                wrong = json.loads(json.dumps(promise))
                if promise["table"] == "ceilings":
                    wrong["operations"] += 1
                elif promise["each_turn"]:
                    name = next(iter(promise["each_turn"]))
                    wrong["each_turn"][name] += 1
                elif any(promise["bytes"].values()):
                    wrong["bytes"]["read"] += 4
                else:
                    wrong["each_turn"] = {"fadd": 1}
                with self.subTest(chip=chip, kernel=promise["kernel"]):
                    self.assertNotEqual([], problems_of(wrong, kernel))

    def test_the_sample_does_what_is_said_of_it(self):
        """tests/gpu/sample.cpp: the stage `sample` of the proof promises these to the last FLOP."""
        source = (prove.ROOT / "tests" / "gpu" / "sample_kernels.h").read_text(encoding="utf-8")
        text = re.search(r'R"ptx\(\n(.*?)\)ptx"', source, re.DOTALL).group(1)
        head = re.match(r"\.version ([0-9.]+)\n\.target (\w+)\n\.address_size 64\n", text)
        for chip in CHIPS:
            kernels = self.disassembled(head.group(2), [(float(head.group(1)), text[head.end():])], chip)
            for name, work in (("triad", {"ffma": 1, "read": 8, "written": 4}), ("polynomial", {"ffma": 512, "read": 4, "written": 4})):
                with self.subTest(chip=chip, kernel=name):
                    found = kernels[name].elsewhere([])
                    self.assertLessEqual(found.pop("move", 0), MOVES)
                    self.assertEqual(work, dict(found))

    def test_the_recording_counts_what_hopper_executes(self):
        """tests/gpu/truth.jsonl was worked out from the kernels' description; here from their machine code."""
        recorded = {line["kernel"]: line for line in prove.lines(prove.ROOT / "tests" / "gpu" / "truth.jsonl") if "kernel" in line}
        compared = 0
        for promise, kernel in self.read[90]:
            # Not every thread takes every instruction of these two.
            if promise["table"] != "truth" or promise["family"] not in ("core", "half", "tensor") or \
                    promise["kernel"] in ("truth_divergent", "truth_predicated"):
                continue
            line = recorded[promise["kernel"]]
            threads = line["grid"][0] * line["block"][0]
            parts = [part for part in kernel.segments() if kernel.steps(part) > 0]
            round_, beside = kernel.work([parts[-1]]), kernel.elsewhere(kernel.segments())
            for metric, count in line["counters"].items():
                operation = re.search(r"_op_([fhd](?:add|mul|fma))_pred_on", metric)
                names = [operation.group(1)] if operation else ["tensor"] if "ops_path_tensor" in metric else []
                names += ["product", "sum", "move"] if names == ["hfma"] else []
                for _ in names[:1]:
                    executed = sum(promise["turns"] * round_[name] / kernel.steps(parts[-1]) + beside[name] for name in names)
                    with self.subTest(kernel=promise["kernel"], metric=metric):
                        self.assertEqual(count, threads * executed)
                        compared += 1
        self.assertGreater(compared, 25)


if __name__ == "__main__":
    if not (PTXAS and NVDISASM):
        print("kernels: skipped: they are read with ptxas of a CUDA toolkit and with nvdisasm, which scripts/setup.sh --disassembler "
              f"{os.path.relpath(prove.BUILD)} fetches", file=sys.stderr)
        sys.exit(77)
    unittest.main()
