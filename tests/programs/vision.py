# SPDX-License-Identifier: Apache-2.0
"""Programs that see, as their users write them: models of torchvision, timm and others, with random weights. vision.py NAME"""
import copy
import sys

import torch
from torch import nn
from torch.nn import functional

STEPS = 20


def images(count=2, size=64, channels=3):
    return torch.rand(count, channels, size, size)


def train(model, loss_of, batch, optimizer=None, steps=STEPS):
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    model.train()
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(*batch())
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")


def classify(model, size=64, classes=10, **more):
    train(model, lambda x, y: functional.cross_entropy(model(x), y), lambda: (images(size=size), torch.randint(classes, (2,))), **more)


@torch.no_grad()
def infer(model, batch, steps=STEPS, pick=lambda output: output):
    model.eval()
    for _ in range(steps):
        output = pick(model(*batch()))
    print(f"output {output.float().sum().item():.4f}")


def resnet18_in_bfloat16():
    from torchvision.models import resnet18
    model = resnet18(num_classes=10)

    def loss_of(x, y):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return functional.cross_entropy(model(x), y)
    train(model, loss_of, lambda: (images(), torch.randint(10, (2,))))


def mobilenet_with_averaged_weights():
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
    from torchvision.models import mobilenet_v3_small
    model = mobilenet_v3_small(num_classes=10)
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.99))
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-4)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(images()), torch.randint(10, (2,)), label_smoothing=0.1)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        average.update_parameters(model)
    print(f"loss {loss.item():.6f}")


def swin_inference():
    from torchvision.models import swin_t
    infer(swin_t(), lambda: (images(),))


def deeplab_with_an_auxiliary_loss():
    from torchvision.models.segmentation import deeplabv3_mobilenet_v3_large
    model = deeplabv3_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=4, aux_loss=True)

    def loss_of(x, y):
        output = model(x)
        return functional.cross_entropy(output["out"], y) + 0.4 * functional.cross_entropy(output["aux"], y)
    train(model, loss_of, lambda: (images(), torch.randint(4, (2, 64, 64))))


def fcos_detection():
    from torchvision.models.detection import fcos_resnet50_fpn
    model = fcos_resnet50_fpn(weights=None, weights_backbone=None, num_classes=5, min_size=64, max_size=64)

    def batch():
        boxes = torch.tensor([[4., 4., 30., 30.], [10., 20., 50., 60.]])
        return list(images()), [{"boxes": boxes, "labels": torch.tensor([1, 2])} for _ in range(2)]
    train(model, lambda x, targets: sum(model(x, targets).values()), batch, steps=14)


def video_inference():
    from torchvision.models.video import r3d_18
    infer(r3d_18(), lambda: (torch.rand(1, 3, 4, 32, 32),))


def optical_flow():
    from torchvision.models.optical_flow import raft_small
    infer(raft_small(), lambda: (images(1, 128), images(1, 128)), steps=14, pick=lambda flows: flows[-1])


def googlenet_with_auxiliary_heads():
    from torchvision.models import googlenet
    model = googlenet(num_classes=10, init_weights=False)

    def loss_of(x, y):
        output = model(x)
        return sum(weight * functional.cross_entropy(each, y)
                   for weight, each in ((1, output.logits), (0.3, output.aux_logits1), (0.3, output.aux_logits2)))
    train(model, loss_of, lambda: (images(size=96), torch.randint(10, (2,))))


def timm_with_checkpoints():
    import timm
    from timm.optim import create_optimizer_v2
    model = timm.create_model("convnext_atto", num_classes=10)
    model.set_grad_checkpointing()
    classify(model, optimizer=create_optimizer_v2(model, "adamw", lr=1e-4))


def timm_in_channels_last():
    import timm
    model = timm.create_model("efficientnet_b0", num_classes=10).to(memory_format=torch.channels_last)
    infer(model, lambda: (images().to(memory_format=torch.channels_last),))


def distillation():
    import timm
    student, teacher = timm.create_model("deit_tiny_patch16_224", img_size=64), timm.create_model("resnet26", num_classes=1000).eval()

    def loss_of(x):
        with torch.no_grad():
            wanted = teacher(x).softmax(1)
        return functional.cross_entropy(student(x), wanted)
    train(student, loss_of, lambda: (images(),))


def vit_pytorch_learns():
    """lucidrains' vit-pytorch: a transformer that attends to its class token late."""
    from vit_pytorch.cait import CaiT
    classify(CaiT(image_size=64, patch_size=16, num_classes=10, dim=64, depth=2, cls_depth=1, heads=2, mlp_dim=128))


def smp_unet():
    import segmentation_models_pytorch as smp
    model = smp.Unet("resnet18", encoder_weights=None, classes=1)
    loss = smp.losses.DiceLoss("binary")
    train(model, lambda x, y: loss(model(x), y), lambda: (images(), torch.randint(2, (2, 1, 64, 64)).float()))


def monai_unet():
    from monai.losses import DiceCELoss
    from monai.networks.nets import UNet
    model = UNet(spatial_dims=3, in_channels=1, out_channels=2, channels=(4, 8, 16), strides=(2, 2), num_res_units=1)
    loss = DiceCELoss(to_onehot_y=True, softmax=True)
    train(model, lambda x, y: loss(model(x), y), lambda: (torch.rand(1, 1, 16, 16, 16), torch.randint(2, (1, 1, 16, 16, 16))))


def fastai_learner():
    import fastai.callback.progress  # noqa: F401  gives the learner no_bar()
    from fastai.data.core import DataLoaders
    from fastai.learner import Learner
    from torchvision.models import resnet18
    data = [(image, torch.tensor(label % 10)) for label, image in enumerate(images(32, 32))]
    loaders = DataLoaders(torch.utils.data.DataLoader(data, 2), torch.utils.data.DataLoader(data[:4], 2))
    learner = Learner(loaders, resnet18(num_classes=10), loss_func=nn.CrossEntropyLoss())
    with learner.no_bar(), learner.no_logging():
        learner.fit(2, 1e-3)
    print(f"loss {learner.recorder.losses[-1].item():.6f}")


def metric_learning():
    from pytorch_metric_learning import losses, miners
    from torchvision.models import shufflenet_v2_x0_5
    model = shufflenet_v2_x0_5(num_classes=16)
    loss, miner = losses.TripletMarginLoss(), miners.MultiSimilarityMiner()

    def loss_of(x, y):
        embedded = model(x)
        return loss(embedded, y, miner(embedded, y))
    train(model, loss_of, lambda: (images(8), torch.arange(8) % 4))


def dcgan():
    """As in PyTorch's examples: two models, two optimizers, three passes a step."""
    def block(into, out, up):
        kind = nn.ConvTranspose2d if up else nn.Conv2d
        return nn.Sequential(kind(into, out, 4, 2, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU(True) if up else nn.LeakyReLU(0.2, True))
    generator = nn.Sequential(block(16, 32, True), block(32, 16, True), nn.ConvTranspose2d(16, 3, 4, 2, 1), nn.Tanh())
    critic = nn.Sequential(block(3, 16, False), block(16, 32, False), nn.Flatten(), nn.Linear(32 * 64, 1))
    of_generator, of_critic = (torch.optim.Adam(model.parameters(), 2e-4, betas=(0.5, 0.999)) for model in (generator, critic))
    loss = nn.BCEWithLogitsLoss()
    for _ in range(STEPS):
        critic.zero_grad()
        loss(critic(images(4, 32)), torch.ones(4, 1)).backward()
        made = generator(torch.randn(4, 16, 4, 4))
        loss(critic(made.detach()), torch.zeros(4, 1)).backward()
        of_critic.step()
        generator.zero_grad()
        last = loss(critic(made), torch.ones(4, 1))
        last.backward()
        of_generator.step()
    print(f"loss {last.item():.6f}")


def compiled_resnet():
    from torchvision.models import resnet18
    model = torch.compile(resnet18(num_classes=10))
    classify(model, steps=14)


def per_sample_gradients():
    """Transforms of functorch over a model, as in PyTorch's tutorial."""
    from torch.func import functional_call, grad, vmap
    model = nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 15 * 15, 10))
    parameters = {name: value.detach() for name, value in model.named_parameters()}

    def loss_of(values, x, y):
        return functional.cross_entropy(functional_call(model, values, (x[None],)), y[None])
    for _ in range(STEPS):
        found = vmap(grad(loss_of), in_dims=(None, 0, 0))(parameters, images(4, 32), torch.randint(10, (4,)))
        parameters = {name: value - 1e-3 * found[name].mean(0) for name, value in parameters.items()}
    print(f"weights {sum(value.sum().item() for value in parameters.values()):.6f}")


def copies_of_a_model():
    """Two copies that learn in turn, the way a mean teacher does."""
    from torchvision.models import squeezenet1_1
    student = squeezenet1_1(num_classes=10)
    teacher = copy.deepcopy(student).eval()

    def loss_of(x, y):
        with torch.no_grad():
            steady = teacher(x)
        guess = student(x)
        for old, new in zip(teacher.parameters(), student.parameters()):
            old.data.lerp_(new.data, 0.01)
        return functional.cross_entropy(guess, y) + functional.mse_loss(guess, steady)
    train(student, loss_of, lambda: (images(), torch.randint(10, (2,))))


PROGRAMS = (
    resnet18_in_bfloat16, mobilenet_with_averaged_weights, swin_inference, deeplab_with_an_auxiliary_loss, fcos_detection,
    video_inference, optical_flow, googlenet_with_auxiliary_heads, timm_with_checkpoints, timm_in_channels_last, distillation,
    vit_pytorch_learns, smp_unet, monai_unet, fastai_learner, metric_learning, dcgan, compiled_resnet, per_sample_gradients,
    copies_of_a_model)

if __name__ == "__main__":
    torch.manual_seed(0)
    {each.__name__: each for each in PROGRAMS}[sys.argv[1]]()
