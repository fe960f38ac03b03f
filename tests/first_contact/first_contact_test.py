# SPDX-License-Identifier: Apache-2.0
"""A newcomer's first hour: a fresh clone, the README's commands as they are written, the build that scripts/quickstart.sh makes and no
other, and a ResNet-50 in the shape of PyTorch's own example.

GABLE_FIRST_CONTACT=DIR    a clone in which scripts/quickstart.sh has run already is used instead of a fresh one
GABLE_PROVE_EXAMPLES=DIR   PyTorch's examples: imagenet/main.py is run too, unchanged
GABLE_LONG_TESTS=1         images of full size too
"""
import os
import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
import machine_with_pytorch as world  # noqa: E402
from machine_with_pytorch import ROOT, same_output  # noqa: E402

WORK = pathlib.Path(os.environ["GABLE_WORK"])
SHARED = os.environ.get("GABLE_FIRST_CONTACT", "")
EXAMPLES = os.environ.get("GABLE_PROVE_EXAMPLES", "")
LONG = os.environ.get("GABLE_LONG_TESTS") == "1"
README = (ROOT / "README.md").read_text(encoding="utf-8")
RESNET50_CONVOLUTIONS, RESNET50_REST = 8174272512, 4096000  # FLOP of the forward of an image, 224 x 224
IMAGES, PIXELS = 2, 32
PROGRAM = "python train.py --arch resnet50"
machine = clone = build = plain = None


def section(title):
    """The shell commands below a heading of the README, one entry for each block."""
    return re.findall(r"^```sh\n(.*?)^```$", README.split(f"\n## {title}\n")[1].split("\n## ")[0], re.DOTALL | re.MULTILINE)


def block_with(words):
    (found,) = [block for block in section("A PyTorch program of your own") if words in block]
    return found


def setUpModule():
    global machine, clone, build, plain
    machine = world.Machine(WORK / "machine")
    if SHARED:
        clone = pathlib.Path(SHARED)
    else:
        clone = machine.home / "gable"
        machine.run(f"git clone -q '{ROOT}' '{clone}'", machine.home, machine.environment()).check_returncode()
        # Compiled as in CI, whose compiler's cache then has all of it.
        environment = machine.environment(GABLE_QUICKSTART_CMAKE="-DGABLE_WARNINGS_AS_ERRORS=ON")
        done = machine.run(section("Two commands")[0], clone, environment, timeout=3000)
        if done.returncode != 0:
            raise AssertionError(f"the quickstart failed:\n{done.stdout}\n{done.stderr}")
        (machine.home / "quickstart.txt").write_text(done.stderr, encoding="utf-8")
    build = clone / "build"
    (machine.home / "train.py").write_text((world.HERE / "train.py").read_text(encoding="utf-8"), encoding="utf-8")
    # Where the user stands: the README's commands name build/bin/gable and the user's own program.
    for name in ("build", "tests"):
        (machine.home / name).symlink_to(clone / name)
    plain = run(PROGRAM)
    if plain.returncode != 0:
        raise AssertionError(f"the program fails without Gable:\n{plain.stdout}\n{plain.stderr}")


def run(command, kernels="modules", timeout=1200, **variables):
    return machine.run(command, machine.home, machine.with_gpu(build, kernels) | variables, timeout)


class FirstContact(unittest.TestCase):
    def assert_program_unchanged(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(same_output(done.stdout), same_output(plain.stdout))

    def assert_whole(self, report):
        """Layers, formulas, and every figure counted, within the program's 17 steps."""
        self.assertEqual(world.missing_convolutions(report, "forward:Conv2d", "backward:Conv2d"), [])
        layers = world.layers_of(report)
        shrunk = (224 // PIXELS) ** 2
        model = layers[("ResNet",), "forward"]["model"]
        self.assertEqual(model["flops_analytic"], IMAGES * (RESNET50_CONVOLUTIONS // shrunk + RESNET50_REST))
        recorded = self.recorded_flops()
        for (path, way), row in layers.items():
            if row["dotted"] not in world.CONVOLUTIONS:
                continue
            if way == "forward":
                self.assertEqual(row["model"]["flops_analytic"] * shrunk, IMAGES * recorded[path], path)
            with self.subTest(layer=row["dotted"], way=way):
                self.assertEqual(row["flops"]["total"], 2 * world.FFMA)
                self.assertEqual(row["bytes"]["dram"], 2 * 32 * world.SECTORS)
                self.assertEqual(row["time_ns"]["total"], world.TIME_NS)
        steps = report["run"]["steps"]
        self.assertLessEqual(steps["hw"] + steps["flops"] + steps["time"], 17)
        self.assertTrue(steps["hw"] >= 4 and steps["flops"] >= 2 and steps["time"] >= 1, steps)

    def recorded_flops(self):
        """{path: FLOP of the forward of one image} of the recording's convolutions, which are counted there."""
        rows = world.layers_of(world.read_report(clone / "gable-quickstart.json"))
        return {path[1:]: row["flops"]["total"] / 32 for (path, way), row in rows.items() if way == "forward"}

    def test_quickstart_builds_the_whole_product(self):
        self.assertTrue((clone / "gable-quickstart.json").exists())
        if not SHARED:
            text = (machine.home / "quickstart.txt").read_text(encoding="utf-8")
            self.assertIn("step/ResNet/layer4/2/conv2", text)
            self.assertIn(f"try: {build}/bin/gable profile -- python", text)
        done = run(block_with(" doctor"))
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("\nEverything works here.\n", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^Python +ready")

    def test_profile_report_and_page(self):
        command = block_with("report resnet.json --html")
        self.assertIn(f"-- {PROGRAM}\n", command)
        done = run(command)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(same_output(done.stdout).startswith(same_output(plain.stdout)), done.stdout)
        self.assertNotIn("FLOP unknown", done.stderr)
        self.assertNotIn("DRAM bytes unknown", done.stderr)
        self.assertRegex(done.stdout, r"ResNet/layer\d/\d/")
        self.assertIn("layer1.0.conv1", (machine.home / "resnet.html").read_text(encoding="utf-8"))
        self.assert_whole(world.read_report(machine.home / "resnet.json"))

    def test_by_the_environment_with_a_kernel_for_each_operator(self):
        done = run(block_with("gable env").replace("python train.py", PROGRAM), kernels="operators")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(same_output(done.stdout).startswith(same_output(plain.stdout)), done.stdout)
        (path,) = machine.home.glob("run-*.json")
        report = world.read_report(path)
        self.assertEqual(world.missing_convolutions(report, "convolution", "convolution_backward"), [])

    def check_alone(self, variable):
        library = build / "lib" / "libgable_inject.so"
        name = variable.partition("_")[0].lower() + ".json"
        done = run(f"{variable}='{library}' {PROGRAM}", GABLE_OPTIONS=f"-o {name}")
        self.assert_program_unchanged(done)
        self.assertEqual(done.stderr, plain.stderr)
        self.assert_whole(world.read_report(machine.home / name))

    def test_by_preloading_alone(self):
        self.check_alone("LD_PRELOAD")

    def test_by_injection_alone(self):
        self.check_alone("CUDA_INJECTION64_PATH")

    @unittest.skipUnless(LONG, "takes minutes: GABLE_LONG_TESTS=1")
    def test_images_of_full_size(self):
        done = run(f"build/bin/gable profile -q -o full.json -- {PROGRAM} --image 224", timeout=3000)
        self.assertEqual(done.returncode, 0, done.stderr)
        model = world.layers_of(world.read_report(machine.home / "full.json"))[("ResNet",), "forward"]["model"]
        self.assertEqual(model["flops_analytic"], IMAGES * 8178368512)

    @unittest.skipUnless(EXAMPLES, "GABLE_PROVE_EXAMPLES names no folder with PyTorch's examples")
    def test_the_example_itself(self):
        program = pathlib.Path(EXAMPLES) / "imagenet" / "main.py"
        done = run(f"build/bin/gable profile -o example.json --then stop -- python '{program}' --arch resnet50 --dummy -b 2 -j 0",
                   timeout=3000)
        self.assertEqual(done.returncode, 130, done.stderr)  # --then stop is a SIGINT, as Ctrl-C is
        self.assertIn("=> Dummy data is used!\n", done.stdout)
        report = world.read_report(machine.home / "example.json")
        self.assertEqual(world.missing_convolutions(report, "forward:Conv2d", "backward:Conv2d"), [])
        layers = world.layers_of(report)
        self.assertEqual(layers[("ResNet",), "forward"]["model"]["flops_analytic"], IMAGES * 8178368512)
        whole = layers[("ResNet",), "backward"]
        self.assertTrue(whole["flops"]["total"] and whole["bytes"]["dram"] and whole["time_ns"]["total"], whole)


if __name__ == "__main__":
    if world.why_not():
        print(f"Skipped: {world.why_not()}.")
        sys.exit(77)
    unittest.main()
