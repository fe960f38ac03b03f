# SPDX-License-Identifier: Apache-2.0
"""`scripts/gpu/prove.sh --rehearse STAGE` on a fresh clone, where it builds what it needs: with GABLE_PROVE_FRESH=yes, as that takes
minutes. What it calls is tested every time (frame_test.py)."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import prove


class Fresh(unittest.TestCase):
    def test_a_fresh_clone_rehearses(self):
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=prove.ROOT, check=False, capture_output=True)
        if listed.returncode != 0:
            self.skipTest("this is no git checkout")
        with tempfile.TemporaryDirectory() as folder:
            clone = pathlib.Path(folder).resolve() / "clone"
            # The checkout as it stands, also where it is not committed yet.
            for name in listed.stdout.decode().split("\0"):
                if name and (prove.ROOT / name).is_file():
                    (clone / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(prove.ROOT / name, clone / name)
            if (prove.BUILD / "cuda-wheels").exists():  # fetched once is enough
                shutil.copytree(prove.BUILD / "cuda-wheels", clone / "build" / "cuda-wheels")
            run = subprocess.run([clone / "scripts" / "gpu" / "prove.sh", "--rehearse", "-o", clone / "out", "facts/about", "truth/half"],
                                 env=prove.environment(GABLE_PROVE_BUILD_TYPE="None"), capture_output=True, text=True, timeout=3500, check=False)
            self.assertEqual(0, run.returncode, run.stderr + run.stdout)
            self.assertIn("prove: building into " + str(clone / "build"), run.stderr)
            self.assertRegex(run.stdout, r"about +done")
            self.assertRegex(run.stdout, r"half +done")


if __name__ == "__main__":
    if os.environ.get("GABLE_PROVE_FRESH") != "yes":
        print("fresh: skipped: GABLE_PROVE_FRESH=yes builds a fresh clone and rehearses in it", file=sys.stderr)
        sys.exit(77)
    unittest.main()
