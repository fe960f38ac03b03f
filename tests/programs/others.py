# SPDX-License-Identifier: Apache-2.0
"""Programs by other means: diffusion, graphs, Gaussian processes, reinforcement, trainers, several processes. others.py NAME"""
import os
import sys

import torch
from torch import nn
from torch.nn import functional

STEPS = 20


def small_unet():
    from diffusers import UNet2DModel
    return UNet2DModel(sample_size=16, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(32, 64),
                       down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"))


def ddpm_by_accelerate():
    """The training loop of diffusers' documentation."""
    from accelerate import Accelerator
    from diffusers import DDPMScheduler
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    model, scheduler = small_unet(), DDPMScheduler(num_train_timesteps=100)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    loader = torch.utils.data.DataLoader([torch.rand(3, 16, 16) for _ in range(4 * STEPS)], batch_size=2)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for clean in loader:
        noise = torch.randn_like(clean)
        when = torch.randint(0, 100, (clean.shape[0],))
        with accelerator.accumulate(model):
            guess = model(scheduler.add_noise(clean, noise, when), when, return_dict=False)[0]
            loss = functional.mse_loss(guess, noise)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    print(f"loss {loss.item():.6f}")


def ddpm_pipeline():
    from diffusers import DDPMPipeline, DDPMScheduler
    pipeline = DDPMPipeline(small_unet(), DDPMScheduler(num_train_timesteps=100))
    pipeline.set_progress_bar_config(disable=True)
    made = pipeline(batch_size=1, num_inference_steps=STEPS, output_type="np", generator=torch.Generator().manual_seed(0)).images
    print(f"image {float(made.sum()):.4f}")


def stable_diffusion_pipeline():
    """Text encoder, U-Net and decoder of Stable Diffusion, each small."""
    from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionPipeline, UNet2DConditionModel
    from transformers import CLIPTextConfig, CLIPTextModel
    unet = UNet2DConditionModel(sample_size=8, in_channels=4, out_channels=4, layers_per_block=1, block_out_channels=(32, 64),
                                down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
                                cross_attention_dim=32, attention_head_dim=8)
    vae = AutoencoderKL(block_out_channels=(32, 64), down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2,
                        latent_channels=4, layers_per_block=1)
    text = CLIPTextModel(CLIPTextConfig(vocab_size=100, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4))
    pipeline = StableDiffusionPipeline(vae=vae, text_encoder=text, tokenizer=None, unet=unet, scheduler=DDIMScheduler(clip_sample=False),
                                       safety_checker=None, feature_extractor=None, requires_safety_checker=False)
    pipeline.set_progress_bar_config(disable=True)
    ids = torch.arange(3, 19)[None]
    with torch.no_grad():
        prompt, negative = text(ids)[0], text(ids.flip(1))[0]
    made = pipeline(prompt_embeds=prompt, negative_prompt_embeds=negative, height=16, width=16, num_inference_steps=STEPS, output_type="np",
                    generator=torch.Generator().manual_seed(0)).images
    print(f"image {float(made.sum()):.4f}")


def autoencoder_learns():
    from diffusers import AutoencoderKL
    model = AutoencoderKL(block_out_channels=(32, 64), down_block_types=("DownEncoderBlock2D",) * 2,
                          up_block_types=("UpDecoderBlock2D",) * 2, latent_channels=4, layers_per_block=1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(STEPS):
        x = torch.rand(1, 3, 32, 32)
        posterior = model.encode(x).latent_dist
        loss = functional.mse_loss(model.decode(posterior.sample()).sample, x) + 1e-6 * posterior.kl().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")


def lucidrains_diffusion():
    from denoising_diffusion_pytorch import GaussianDiffusion, Unet
    model = GaussianDiffusion(Unet(dim=16, dim_mults=(1, 2), flash_attn=False), image_size=16, timesteps=20)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    for _ in range(STEPS):
        loss = model(torch.rand(1, 3, 16, 16))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.6f}")


def _lightning(module, data, **more):
    import logging
    import warnings

    import lightning
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")
    lightning.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                      enable_model_summary=False, **more).fit(module, torch.utils.data.DataLoader(data, 4))


def lightning_autoencoder():
    import lightning

    class AutoEncoder(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 3))
            self.decoder = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 64))

        def training_step(self, batch, _):
            x = batch.flatten(1)
            self.last = functional.mse_loss(self.decoder(self.encoder(x)), x)
            return self.last

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), lr=1e-3)

    module = AutoEncoder()
    _lightning(module, list(torch.rand(80, 8, 8)))
    print(f"loss {module.last.item():.6f}")


def lightning_gan():
    import lightning

    class GAN(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.automatic_optimization = False
            self.generator = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 64))
            self.critic = nn.Sequential(nn.Linear(64, 32), nn.LeakyReLU(), nn.Linear(32, 1))

        def training_step(self, batch, _):
            of_generator, of_critic = self.optimizers()
            made = self.generator(torch.randn(len(batch), 8))
            loss = functional.softplus(-self.critic(made)).mean()
            of_generator.zero_grad()
            self.manual_backward(loss)
            of_generator.step()
            self.last = functional.softplus(-self.critic(batch.flatten(1))).mean() + functional.softplus(self.critic(made.detach())).mean()
            of_critic.zero_grad()
            self.manual_backward(self.last)
            of_critic.step()

        def configure_optimizers(self):
            return [torch.optim.Adam(part.parameters(), lr=1e-3) for part in (self.generator, self.critic)]

    module = GAN()
    _lightning(module, list(torch.rand(80, 8, 8)))
    print(f"loss {module.last.item():.6f}")


def graph_network():
    from torch_geometric.nn import GCNConv

    class GCN(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.conv2 = GCNConv(16, 32), GCNConv(32, 4)

        def forward(self, x, edges):
            return self.conv2(functional.dropout(self.conv1(x, edges).relu(), training=self.training), edges)

    model, x, edges = GCN(), torch.rand(50, 16), torch.randint(50, (2, 200))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(x, edges), torch.arange(50) % 4)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")


def graph_transformer():
    """Batches of graphs, pooled."""
    from torch_geometric.data import Data
    from torch_geometric.loader import DataLoader
    from torch_geometric.nn import MLP, GINConv, global_add_pool

    class GIN(nn.Module):
        def __init__(self):
            super().__init__()
            self.convs = nn.ModuleList(GINConv(MLP([width, 16, 16])) for width in (8, 16))
            self.head = MLP([16, 16, 2], norm=None)

        def forward(self, x, edges, batch):
            for conv in self.convs:
                x = conv(x, edges).relu()
            return self.head(global_add_pool(x, batch))

    model = GIN()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    graphs = [Data(x=torch.rand(6, 8), edge_index=torch.randint(6, (2, 12)), y=torch.tensor([at % 2])) for at in range(4 * STEPS)]
    for each in DataLoader(graphs, batch_size=4):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(each.x, each.edge_index, each.batch), each.y)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")


def gaussian_process():
    import gpytorch

    class GP(gpytorch.models.ExactGP):
        def __init__(self, x, y, likelihood):
            super().__init__(x, y, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    x = torch.linspace(0, 1, 40)
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = GP(x, torch.sin(6 * x), likelihood)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = -objective(model(x), torch.sin(6 * x))
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


def pyro_vae():
    import pyro
    from pyro import distributions
    from pyro.infer import SVI, Trace_ELBO

    class VAE(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder, self.decoder = nn.Linear(16, 8), nn.Sequential(nn.Linear(4, 16), nn.Softplus())

        def model(self, x):
            pyro.module("decoder", self.decoder)
            with pyro.plate("data", len(x)):
                z = pyro.sample("z", distributions.Normal(torch.zeros(len(x), 4), 1.0).to_event(1))
                pyro.sample("x", distributions.Normal(self.decoder(z), 1.0).to_event(1), obs=x)

        def guide(self, x):
            pyro.module("encoder", self.encoder)
            with pyro.plate("data", len(x)):
                location, scale = self.encoder(x).chunk(2, 1)
                pyro.sample("z", distributions.Normal(location, scale.exp()).to_event(1))

    pyro.set_rng_seed(0)
    vae = VAE()
    inference = SVI(vae.model, vae.guide, pyro.optim.Adam({"lr": 1e-3}), Trace_ELBO())
    for _ in range(STEPS):
        loss = inference.step(torch.rand(8, 16))
    print(f"loss {loss:.4f}")


def ppo_by_stable_baselines3():
    from stable_baselines3 import PPO
    agent = PPO("MlpPolicy", "CartPole-v1", n_steps=32, batch_size=16, n_epochs=2, seed=0, device="cpu", verbose=0)
    agent.learn(160)
    print(f"weights {sum(each.sum().item() for each in agent.policy.parameters()):.5f}")


def skorch_classifier():
    import numpy
    from skorch import NeuralNetClassifier

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(16, 32), nn.Linear(32, 3)

        def forward(self, x):
            return self.last(functional.relu(self.first(x)))

    data = numpy.random.RandomState(0).rand(100, 16).astype("float32")
    net = NeuralNetClassifier(Net, criterion=nn.CrossEntropyLoss, max_epochs=1, batch_size=5, train_split=None, verbose=0)
    net.fit(data, numpy.arange(100) % 3)
    print(f"predicted {net.predict(data).sum()}")


def curve_by_lbfgs():
    """Closures that the optimizer calls, as in PyTorch's time_sequence_prediction."""
    class Sequence(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm1, self.lstm2, self.linear = nn.LSTMCell(1, 21), nn.LSTMCell(21, 21), nn.Linear(21, 1)

        def forward(self, x):
            outputs, state, other = [], None, None
            for piece in x.split(1, dim=1):
                state = self.lstm1(piece, state)
                other = self.lstm2(state[0], other)
                outputs.append(self.linear(other[0]))
            return torch.cat(outputs, 1)

    model, x = Sequence().double(), torch.sin(torch.linspace(0, 8, 12, dtype=torch.double)).expand(3, -1)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.8, max_iter=3)

    def closure():
        optimizer.zero_grad()
        loss = functional.mse_loss(model(x[:, :-1]), x[:, 1:])
        loss.backward()
        return loss
    for _ in range(STEPS):
        loss = optimizer.step(closure)
    print(f"loss {loss.item():.6f}")


def actor_critic():
    """Gradients of a sum over an episode; a model with two heads."""
    class Policy(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.action, self.value = nn.Linear(4, 32), nn.Linear(32, 2), nn.Linear(32, 1)

        def forward(self, x):
            x = functional.relu(self.body(x))
            return functional.softmax(self.action(x), -1), self.value(x)

    model = Policy()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
    for _ in range(STEPS):
        losses = []
        for _ in range(5):
            chances, value = model(torch.rand(4))
            action = torch.distributions.Categorical(chances)
            losses.append(-action.log_prob(action.sample()) * (1 - value.item()) + functional.smooth_l1_loss(value, torch.ones(1)))
        optimizer.zero_grad()
        loss = torch.stack([each.sum() for each in losses]).sum()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")


def _distributed():
    import torch.distributed as distributed
    distributed.init_process_group("gloo")
    torch.manual_seed(distributed.get_rank())
    return distributed


def two_ranks_ddp():
    distributed = _distributed()
    from torchvision.models import resnet18
    model = nn.parallel.DistributedDataParallel(resnet18(num_classes=10))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(torch.rand(2, 3, 32, 32)), torch.randint(10, (2,)))
        loss.backward()
        optimizer.step()
    distributed.destroy_process_group()
    if os.environ["RANK"] == "0":
        print(f"loss {loss.item():.6f}")


def two_ranks_fsdp():
    distributed = _distributed()
    from torch.distributed.fsdp import fully_shard
    layers = [nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0) for _ in range(2)]
    model = nn.Sequential(nn.Embedding(100, 32), *layers, nn.Linear(32, 100))
    for each in layers:
        fully_shard(each)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(STEPS):
        ids = torch.randint(100, (2, 12))
        loss = functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    distributed.destroy_process_group()
    if os.environ["RANK"] == "0":
        print(f"loss {loss.item():.6f}")


PROGRAMS = (
    ddpm_by_accelerate, ddpm_pipeline, stable_diffusion_pipeline, autoencoder_learns, lucidrains_diffusion, lightning_autoencoder,
    lightning_gan, graph_network, graph_transformer, gaussian_process, pyro_vae, ppo_by_stable_baselines3, skorch_classifier,
    curve_by_lbfgs, actor_critic, two_ranks_ddp, two_ranks_fsdp)

if __name__ == "__main__":
    torch.manual_seed(0)
    {each.__name__: each for each in PROGRAMS}[sys.argv[1]]()
