# SPDX-License-Identifier: Apache-2.0
"""Operators' work by formula, on PyTorch's operators as a program calls them: against figures worked out by hand, and against those that
torchvision publishes with its weights (multiply-adds of one image or clip, in 1e9; table of docs/pytorch.md)."""
import importlib.machinery
import os
import pathlib
import sys
import unittest
from math import prod

PYTHON = os.environ.get("GABLE_TORCH_PYTHON", "")
SKIPPED = 77
if not os.access(PYTHON, os.X_OK):
    print("skipped: there is no PyTorch (scripts/setup.sh --torch BUILD)", file=sys.stderr)
    sys.exit(SKIPPED)
if importlib.machinery.PathFinder.find_spec("torch") is None:
    os.execv(PYTHON, [PYTHON, "-W", "ignore", *sys.argv])

import torch  # noqa: E402
from torch import nn  # noqa: E402

GROUPED = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 13)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import papers  # noqa: E402
from counting import counted  # noqa: E402

TORCHVISION = pathlib.Path(PYTHON).parents[2] / "torchvision"


def rand(*shape, **more):
    return torch.randn(*shape, **more)


class Formula(unittest.TestCase):
    def flops(self, expected, function, backward=None):
        result, counts = counted(function)
        self.assertEqual(counts.unknown, set())
        self.assertAlmostEqual(counts.flops, expected, delta=expected * 1e-12)
        if backward is not None:
            _, counts = counted(lambda: result.sum().backward())
            self.assertEqual(counts.unknown, set())
            self.assertEqual(counts.flops, backward)
        return counts

    def test_convolutions_in_groups(self):
        """PyTorch's own count multiplies the gradient of the weights by the groups."""
        x = rand(2, 32, 14, 14, requires_grad=True)
        for groups in (1, 8, 32):
            once = 2 * 2 * 14 * 14 * 64 * (32 // groups) * 9
            self.flops(once, lambda groups=groups: nn.Conv2d(32, 64, 3, groups=groups, padding=1)(x), 2 * once)
            self.flops(once, lambda groups=groups: nn.Conv2d(32, 64, 3, groups=groups, padding=1)(x.detach()), once)
            there = 2 * 2 * 14 * 14 * 32 * (64 // groups) * 9
            self.flops(there, lambda groups=groups: nn.ConvTranspose2d(32, 64, 3, groups=groups, stride=2)(x), 2 * there)

    def test_recurrent_layers(self):
        x = rand(7, 5, 20, requires_grad=True)
        for ways in (1, 2):
            for layer, gates in ((nn.LSTM, 4), (nn.GRU, 3), (nn.RNN, 1)):
                forward = 2 * 7 * 5 * ways * gates * 32 * ((20 + 32) + (32 * ways + 32))
                module = layer(20, 32, num_layers=2, bidirectional=ways == 2)
                self.flops(forward, lambda module=module: module(x)[0], 2 * forward if layer is nn.LSTM else None)

    def test_fourier_transforms(self):
        self.flops(3 * 5 * 64 * 6, lambda: torch.fft.fft(rand(3, 64, dtype=torch.complex64)))
        self.flops(3 * 5 * 512 * 9 / 2, lambda: torch.fft.rfft2(rand(3, 16, 32)))
        self.flops(3 * 5 * 32 * 5 / 2, lambda: torch.fft.irfft(rand(3, 17, dtype=torch.complex64)))

    def test_linear_algebra(self):
        a = rand(4, 10, 10) + 10 * torch.eye(10)
        lu = 4 * 2 * 1000 / 3
        self.flops(lu + 4 * 2 * 100 * 3, lambda: torch.linalg.solve(a, rand(4, 10, 3)))
        self.flops(lu + 4 * 2 * 100, lambda: torch.linalg.solve(a, rand(4, 10)))
        self.flops(lu, lambda: torch.linalg.det(a))
        self.flops(4 * 2000, lambda: torch.linalg.inv(a))
        self.flops(4 * 1000 / 3 + 4 * 2000, lambda: torch.linalg.cholesky(a @ a.mT))
        self.flops(4 * 100 * 3, lambda: torch.linalg.solve_triangular(a, rand(4, 10, 3), upper=True))
        self.flops(4 * 2 * (2 * 20 * 100 - 2 * 1000 / 3), lambda: torch.linalg.qr(rand(4, 20, 10)))
        for unknown in (torch.linalg.svd, torch.linalg.eigh):  # as many rounds as it takes
            self.assertTrue(counted(lambda unknown=unknown: unknown(a))[1].unknown)

    @unittest.skipUnless(GROUPED, "an old PyTorch has no grouped products on the CPU")
    def test_products_of_other_kinds(self):
        half, offsets = {"dtype": torch.bfloat16}, torch.tensor([8, 16, 24, 32], dtype=torch.int32)
        self.flops(2 * 32 * 16 * 24, lambda: torch._grouped_mm(rand(32, 16, **half), rand(4, 16, 24, **half), offs=offsets))
        self.flops(2 * 16 * 32 * 24, lambda: torch._grouped_mm(rand(32, 16, **half).t(), rand(32, 24, **half), offs=offsets))
        self.flops(2 * 4 * 8 * 16 * 24, lambda: torch._grouped_mm(rand(4, 8, 16, **half), rand(4, 16, 24, **half)))
        self.flops(8 * 4 * 5 * 6, lambda: rand(4, 5, dtype=torch.complex64) @ rand(5, 6, dtype=torch.complex64))
        self.flops(2 * 50 * 6, lambda: torch.eye(50).to_sparse() @ rand(50, 6))
        self.flops(3 * 9 * 7 * 5 * 6, lambda: nn.Bilinear(5, 6, 7)(rand(9, 5), rand(9, 6)))

    def test_distances(self):
        self.flops(3 * 3 * 10 * 12 * 7, lambda: torch.cdist(rand(3, 10, 7), rand(3, 12, 7)))
        self.flops(2 * 3 * 40 * 12 * 9, lambda: torch.cdist(rand(3, 40, 7), rand(3, 12, 7)))
        self.flops(3 * 3 * 40 * 12 * 7, lambda: torch.cdist(rand(3, 40, 7), rand(3, 12, 7), p=1))

    def test_attention_and_encoders_in_one_operator(self):
        attention, x = nn.MultiheadAttention(16, 4, batch_first=True).eval(), rand(2, 6, 16)
        encoder = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True).eval()
        scores = 2 * 2 * 2 * 6 * 6 * 16
        with torch.no_grad():
            self.flops(2 * 2 * 6 * 4 * 256 + scores, lambda: attention(x, x, x)[0])
            self.flops(2 * 2 * 6 * (4 * 256 + 2 * 16 * 32) + scores, lambda: encoder(x))

    def test_types(self):
        types = self.flops(8 * 4 * 5 * 6, lambda: rand(4, 5, dtype=torch.complex128) @ rand(5, 6, dtype=torch.complex128)).types
        self.assertEqual(types, {"fp64": ["mm"]})

    def test_what_interpolates_or_measures_multiplies_no_matrices(self):
        for function in (lambda: torch.linalg.vector_norm(rand(5, 5)), lambda: nn.functional.interpolate(rand(1, 1, 4), scale_factor=2, mode="linear"),
                         lambda: nn.functional.interpolate(rand(1, 1, 4, 4), scale_factor=2, mode="bilinear")):
            self.flops(0, function)

    def test_a_bag_reads_the_rows_that_it_sums(self):
        bag = nn.EmbeddingBag(1000, 16)
        read = counted(lambda: bag(torch.zeros(4, 6, dtype=torch.int64)))[1].read["_embedding_bag"]
        self.assertEqual(read, 4 * 6 * 16 * 4 + (24 + 4) * 8)


# Models, and what a clip or an image is where not the weights' own size.
CLIP = {"r3d_18": (16, 112, 112), "mc3_18": (16, 112, 112), "r2plus1d_18": (16, 112, 112), "mvit_v1_b": (16, 224, 224), "s3d": (16, 224, 224),
        "swin3d_t": (16, 224, 224)}
SEGMENTED = {"fcn_resnet50": (520, 520), "deeplabv3_resnet50": (520, 520), "lraspp_mobilenet_v3_large": (520, 520)}
# Of convolutions and linear layers alone: backward takes the gradients of the weights and of all inputs but the image.
TWICE = ("alexnet", "vgg16", "resnet50", "resnext50_32x4d", "wide_resnet50_2", "mobilenet_v2", "mobilenet_v3_large", "efficientnet_b0",
         "convnext_tiny", "regnet_y_400mf", "shufflenet_v2_x1_0", "mnasnet1_0", "densenet121", "squeezenet1_0", "r3d_18", "s3d")
WITH_ATTENTION = ("vit_b_16", "swin_t", "swin_v2_t", "maxvit_t", "mvit_v1_b", "swin3d_t")
OTHERS = ("efficientnet_v2_s", "googlenet", "inception_v3", "mc3_18", "r2plus1d_18", *SEGMENTED)


@unittest.skipUnless((TORCHVISION / "torchvision").is_dir(), "there is no torchvision (scripts/setup.sh --torch BUILD)")
class Published(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sys.path.insert(0, str(TORCHVISION))
        for name in ("nms", "qnms"):  # its operators in C++ load into a PyTorch with CUDA alone
            torch.library.define("torchvision::" + name, "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        from torchvision import models
        cls.models = models

    def forward(self, name):
        weights = next(each for each in self.models.get_model_weights(name) if "_ops" in each.meta)
        more = {"weights_backbone": None} if name in SEGMENTED else {}
        if name in ("fcn_resnet50", "deeplabv3_resnet50"):
            more["aux_loss"] = True  # these weights have a second head
        model = self.models.get_model(name, weights=None, **more).to("meta").eval()
        shape = CLIP.get(name) or SEGMENTED.get(name) or (weights.transforms().crop_size[-1],) * 2
        first, came_out = next(each for each in model.modules() if isinstance(each, (nn.Conv2d, nn.Conv3d))), []
        first.register_forward_hook(lambda module, args, out: came_out.append(out.shape))
        result, counts = counted(lambda: model(torch.empty(1, 3, *shape, device="meta")))
        self.assertEqual(counts.unknown, set(), name)
        # They are rounded to three decimals.
        self.assertAlmostEqual(counts.flops / 2e9, weights.meta["_ops"], delta=0.000501, msg=name)
        return result, counts.flops, 2 * prod(came_out[0]) * prod(first.weight.shape[1:])

    def test_forward(self):
        for name in (*WITH_ATTENTION, *OTHERS):
            self.forward(name)

    def test_backward(self):
        for name in TWICE:
            result, flops, of_first = self.forward(name)
            _, counts = counted(lambda result=result: result.sum().backward())
            self.assertEqual(counts.unknown, set(), name)
            self.assertEqual(counts.flops, 2 * flops - of_first, name)


class ByTheirPapers(unittest.TestCase):
    """Models written out as their papers have them, against forms worked out by hand (table of docs/published-figures.md)."""

    def test_forward_and_backward(self):
        for name, make in papers.MODELS.items():
            with self.subTest(name):
                _, figures, (forward, backward, unknown) = make()
                self.assertEqual(unknown, set())
                for direction, figure, _ in figures:
                    self.assertEqual({"forward": forward, "backward": backward}[direction], figure, direction)


if __name__ == "__main__":
    unittest.main()
