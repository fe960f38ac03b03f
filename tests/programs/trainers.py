# SPDX-License-Identifier: Apache-2.0
"""Programs whose steps are unlike forward, backward and step of an optimizer: reinforcement of language models, differential equations,
gradients of gradients, quantized and exported models, pipelines. trainers.py NAME"""
import os
import sys

import torch
from torch import nn
from torch.nn import functional

STEPS = 20


def small_tokenizer():
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast
    words = ["<pad>", "<unk>", "</s>", *"the quick brown fox jumps over a lazy dog and sees what it was".split()]
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>", eos_token="</s>")


def small_llama():
    from transformers import LlamaConfig, LlamaForCausalLM
    return LlamaForCausalLM(LlamaConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
                                        num_key_value_heads=2, vocab_size=32, pad_token_id=0, bos_token_id=2, eos_token_id=2))


def _tune(kind, config, rows, **more):
    import tempfile

    import trl
    from datasets import Dataset
    from transformers import PrinterCallback
    with tempfile.TemporaryDirectory() as folder:
        arguments = getattr(trl, config.pop("of"))(
            folder, max_steps=12, report_to=[], use_cpu=True, bf16=False, disable_tqdm=True, save_strategy="no", logging_strategy="no", seed=0,
            **config)
        trainer = getattr(trl, kind)(small_llama(), args=arguments, train_dataset=Dataset.from_list(rows), processing_class=small_tokenizer(),
                                     **more)
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    print(f"weights {sum(each.sum().item() for each in trainer.model.parameters()):.4f}")


def trl_fine_tunes():
    _tune("SFTTrainer", {"of": "SFTConfig", "per_device_train_batch_size": 2, "max_length": 12},
          [{"text": "the quick brown fox jumps over a lazy dog"}] * 40)


def trl_prefers():
    """Direct preference: two answers through the model and through a frozen copy of it."""
    _tune("DPOTrainer", {"of": "DPOConfig", "per_device_train_batch_size": 2, "max_length": 12},
          [{"prompt": "the quick", "chosen": "brown fox jumps", "rejected": "lazy dog was"}] * 40, ref_model=small_llama())


def trl_reinforces():
    """Group-relative policy: every step generates answers first."""
    def reward(completions, **_):
        return [float(len(each.split())) for each in completions]
    _tune("GRPOTrainer", {"of": "GRPOConfig", "per_device_train_batch_size": 4, "num_generations": 4, "max_completion_length": 6},
          [{"prompt": "the quick brown fox"}] * 40, reward_funcs=reward)


def neural_equation():
    """A solver calls the model as often as it wants to."""
    from torchdiffeq import odeint

    class Field(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))

        def forward(self, _, y):
            return self.net(y ** 3)

    model, start, times = Field(), torch.tensor([[2., 0.]]), torch.linspace(0, 1, 6)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = odeint(model, start, times, method="rk4").abs().mean()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")


def augmented_images():
    """kornia's augmentations are modules beside the model."""
    import kornia.augmentation as augment
    augmentations = augment.AugmentationSequential(augment.RandomHorizontalFlip(p=1.0), augment.Normalize(0.5, 0.5), data_keys=["input"])
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(STEPS):
        with torch.no_grad():
            batch = augmentations(torch.rand(2, 3, 16, 16))
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(batch), torch.tensor([0, 1]))
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")


def tables_by_tabnet():
    import warnings

    import numpy
    from pytorch_tabnet.tab_model import TabNetClassifier
    warnings.filterwarnings("ignore")
    data = numpy.random.RandomState(0).rand(160, 8).astype("float32")
    model = TabNetClassifier(n_d=4, n_a=4, n_steps=2, verbose=0, seed=0, device_name="cpu")
    model.fit(data, numpy.arange(160) % 2, max_epochs=2, batch_size=16, virtual_batch_size=8, drop_last=True)
    print(f"weights {sum(each.sum().item() for each in model.network.parameters()):.4f}")


def quantized_weights():
    """Weights of a tensor subclass."""
    from torchao.quantization import Int8WeightOnlyConfig, quantize_
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64)).eval()
    quantize_(model, Int8WeightOnlyConfig())
    with torch.no_grad():
        for _ in range(STEPS):
            output = model(torch.rand(4, 64))
    print(f"output {output.sum().item():.4f}")


def fourier_operator():
    from neuralop.models import FNO
    model = FNO(n_modes=(4, 4), hidden_channels=8, in_channels=1, out_channels=1, n_layers=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = model(torch.rand(2, 1, 16, 16)).square().mean()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")


def two_kinds_of_optimizers():
    """Muon for matrices and AdamW for the rest, one after the other."""
    from pytorch_optimizer import Muon
    model = nn.Sequential(nn.Embedding(50, 32), nn.Linear(32, 32), nn.LayerNorm(32), nn.Linear(32, 50))
    matrices = [each for each in model[1:].parameters() if each.ndim == 2]
    rest = [each for each in model.parameters() if not any(each is other for other in matrices)]
    optimizers = [Muon([{"params": matrices, "use_muon": True}], lr=1e-3), torch.optim.AdamW(rest, lr=1e-3)]
    for _ in range(STEPS):
        ids = torch.randint(50, (2, 8))
        loss = functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
        loss.backward()
        for each in optimizers:
            each.step()
        for each in optimizers:
            each.zero_grad()
    print(f"loss {loss.item():.6f}")


def equation_by_its_residual():
    """Derivatives of the model's output by its input, twice, within the loss."""
    model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(STEPS):
        x = torch.linspace(0, 1, 20)[:, None].requires_grad_()
        y = model(x)
        slope, = torch.autograd.grad(y.sum(), x, create_graph=True)
        bend, = torch.autograd.grad(slope.sum(), x, create_graph=True)
        loss = (bend + y).square().mean() + (model(torch.zeros(1, 1)) - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")


def critic_with_a_penalty():
    """A generator that learns every third step, and the penalty's gradient of a gradient."""
    generator = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16))
    critic = nn.Sequential(nn.Linear(16, 32), nn.LeakyReLU(), nn.Linear(32, 1))
    of_generator, of_critic = (torch.optim.Adam(part.parameters(), lr=1e-4) for part in (generator, critic))
    for step in range(2 * STEPS):
        real, made = torch.rand(4, 16), generator(torch.randn(4, 8)).detach()
        between = (0.5 * (real + made)).requires_grad_()
        slope, = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
        loss = critic(made).mean() - critic(real).mean() + 10 * (slope.norm(dim=1) - 1).square().mean()
        of_critic.zero_grad()
        loss.backward()
        of_critic.step()
        if step % 3 == 2:
            of_generator.zero_grad()
            (-critic(generator(torch.randn(4, 8))).mean()).backward()
            of_generator.step()
    print(f"loss {loss.item():.6f}")


def molecular_dynamics():
    """Forces are gradients; there is no optimizer."""
    class Energy(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(1, 16), nn.SiLU(), nn.Linear(16, 1))

        def forward(self, places):
            return self.net(torch.pdist(places)[:, None]).sum()

    model, places, speed = Energy(), torch.rand(6, 3), torch.zeros(6, 3)
    for _ in range(2 * STEPS):
        places = places.detach().requires_grad_()
        force = -torch.autograd.grad(model(places), places)[0]
        speed = speed + 0.01 * force
        places = places + 0.01 * speed
    print(f"places {places.sum().item():.5f}")


def learning_to_learn():
    """MAML: inner steps by hand through functional_call, an outer optimizer."""
    from torch.func import functional_call
    model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(STEPS):
        losses = []
        for task in range(3):
            x, weights = torch.rand(5, 1), dict(model.named_parameters())
            loss = functional.mse_loss(functional_call(model, weights, x), x * task)
            slopes = torch.autograd.grad(loss, weights.values(), create_graph=True)
            weights = {name: value - 0.1 * slope for (name, value), slope in zip(weights.items(), slopes)}
            losses.append(functional.mse_loss(functional_call(model, weights, x), x * task))
        optimizer.zero_grad()
        total = torch.stack(losses).sum()
        total.backward()
        optimizer.step()
    print(f"loss {total.item():.6f}")


def transformer_of_pytorch():
    """nn.Transformer, with a loader that has two workers."""
    class Translator(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(50, 32)
            self.transformer = nn.Transformer(32, 4, 1, 1, 64, 0.0, batch_first=True)
            self.head = nn.Linear(32, 50)

        def forward(self, source, target):
            mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
            return self.head(self.transformer(self.embed(source), self.embed(target), tgt_mask=mask))

    model, data = Translator(), [(torch.arange(8), torch.arange(6)) for _ in range(4 * STEPS)]
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for source, target in torch.utils.data.DataLoader(data, 4, num_workers=2):
        loss = functional.cross_entropy(model(source, target[:, :-1]).flatten(0, 1), target[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")


def exported_model():
    """torch.export's module, called as any other."""
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 4)).eval()
    exported = torch.export.export(model, (torch.rand(2, 3, 8, 8),)).module()
    with torch.no_grad():
        for _ in range(STEPS):
            output = exported(torch.rand(2, 3, 8, 8))
    print(f"output {output.sum().item():.4f}")


def two_ranks_pipeline():
    """GPipe over two processes."""
    import torch.distributed as distributed
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
    distributed.init_process_group("gloo")
    rank = distributed.get_rank()
    torch.manual_seed(rank)
    part = nn.Sequential(nn.Linear(16, 32), nn.ReLU()) if rank == 0 else nn.Sequential(nn.Linear(32, 16), nn.Tanh())
    stage = PipelineStage(part, rank, 2, torch.device("cpu"))
    schedule = ScheduleGPipe(stage, 2, loss_fn=functional.mse_loss)
    optimizer = torch.optim.SGD(part.parameters(), lr=1e-2)
    for _ in range(STEPS):
        optimizer.zero_grad()
        losses = []
        if rank == 0:
            schedule.step(torch.rand(4, 16))
        else:
            schedule.step(target=torch.zeros(4, 16), losses=losses)
        optimizer.step()
    distributed.destroy_process_group()
    if os.environ["RANK"] == "1":
        print(f"loss {sum(each.item() for each in losses):.6f}")


PROGRAMS = (
    trl_fine_tunes, trl_prefers, trl_reinforces, neural_equation, augmented_images, tables_by_tabnet, quantized_weights, fourier_operator,
    two_kinds_of_optimizers, equation_by_its_residual, critic_with_a_penalty, molecular_dynamics, learning_to_learn, transformer_of_pytorch,
    exported_model, two_ranks_pipeline)

if __name__ == "__main__":
    torch.manual_seed(0)
    {each.__name__: each for each in PROGRAMS}[sys.argv[1]]()
