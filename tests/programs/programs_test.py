# SPDX-License-Identifier: Apache-2.0
"""Some of the programs of programs.py, those that need torchvision at most: output and exit code as without Gable, every kernel in the
layer of its module, FLOPs as PyTorch counts them.

GABLE_LONG_TESTS=1   all of them, where GABLE_PROGRAMS_PYTHON, a Python with all of requirements.txt, exists
"""
import os
import pathlib
import shutil
import sys
import unittest

sys.dont_write_bytecode = True
import programs  # noqa: E402

PYTHON = os.environ.get("GABLE_TORCH_PYTHON", "")
ALL = os.environ.get("GABLE_PROGRAMS_PYTHON", "") if os.environ.get("GABLE_LONG_TESTS") == "1" else ""
ALL = ALL if os.path.exists(ALL) else ""
FEW = ("mobilenet_with_averaged_weights", "deeplab_with_an_auxiliary_loss", "dcgan", "swin_inference", "lstm_word_model", "actor_critic",
       "two_ranks_ddp")
# Measured modules (x directions) of these, so that none goes missing.
MODULES = {"mobilenet_with_averaged_weights": 365, "deeplab_with_an_auxiliary_loss": 498, "dcgan": 40, "swin_inference": 156,
           "lstm_word_model": 10, "actor_critic": 7, "two_ranks_ddp": 121,
           "exported_model": 1}  # what torch.export makes calls functions, not modules
# FlopCounterMode has no formula for a recurrent layer in one operator: (inputs + outputs) x 4 gates of 64, twice for a multiply-add, in
# two layers, and the decoder; of 11 x 4 tokens, and twice as much in backward.
LSTM = 3 * 2 * 44 * (4 * 64 * (32 + 64) + 4 * 64 * (64 + 64) + 64 * 100)
SEVERAL_KINDS = 0.1  # means over steps of several kinds are about so close: the queue is complete before the program ends


class Programs(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(os.environ["GABLE_WORK"]) / "programs"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        beside = [] if ALL else [pathlib.Path(PYTHON).parents[2] / "torchvision"]
        self.place = programs.Place(ALL or PYTHON, os.environ["GABLE_PROGRAM"], folder, beside)

    def check(self, result):
        self.assertTrue(result.same, f"{result.plain}\n{result.done}")
        self.assertEqual(result.done.code, 0, result.done.err)
        self.assertEqual(result.report["run"]["unit"], "step")
        wrong = [(direction, result.truth[int(number)] if number else "", sorted(found))
                 for (number, direction), found in result.judged.wrong.items()]
        self.assertEqual(wrong, [])
        if result.name in MODULES:
            self.assertEqual(len(result.judged.right), MODULES[result.name])
        else:
            self.assertGreater(len(result.judged.right), 1)

    def check_flops(self, result):
        flops, unknown = result.flops
        if result.name not in FEW:
            return
        self.assertEqual(unknown, 0)
        counted = sorted(set(result.counted))
        if result.name == "lstm_word_model":
            self.assertEqual(flops, LSTM)
        elif len(counted) == 1 and result.report["run"]["steps"]["classes"] == 1:
            self.assertEqual(flops, counted[0])
        else:
            mean = sum(result.counted) / len(result.counted)
            self.assertAlmostEqual(flops, mean, delta=SEVERAL_KINDS * mean)

    def test_programs(self):
        known = programs.all_programs()
        for name in known if ALL else FEW:
            with self.subTest(name):
                results = programs.try_program(self.place, name, known[name])
                self.assertEqual(len(results), 2 if name.startswith(programs.TWO_RANKS) else 1)
                for result in results:
                    self.check(result)
                    self.check_flops(result)


if __name__ == "__main__":
    if not os.path.exists(ALL or PYTHON):
        print("Skipped: no Python with PyTorch (scripts/setup.sh --torch BUILD makes one, GABLE_TORCH_PYTHON names it).")
        sys.exit(77)
    unittest.main()
