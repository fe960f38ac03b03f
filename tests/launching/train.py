# SPDX-License-Identifier: Apache-2.0
"""A training loop as the pages' `train.py`: data parallel where a launcher names ranks, with kernels of the playback GPU."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "pytorch"))

import playback_ops  # noqa: E402
import torch  # noqa: E402

LAUNCHERS = (("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"))


def place():
    """(rank, size), as a program for every launcher finds them."""
    for rank, size in LAUNCHERS:
        if size in os.environ:
            return int(os.environ[rank]), int(os.environ[size])
    return 0, 1


torch.set_num_threads(1)
torch.manual_seed(0)
rank, size = place()
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
playback_ops.make_launching(model)
if size > 1:
    store = {"init_method": "env://"} if "MASTER_ADDR" in os.environ else {"init_method": "file://" + os.path.abspath("ranks.store")}
    torch.distributed.init_process_group("gloo", rank=rank, world_size=size, **store)
    model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(int(os.environ.get("TRAIN_STEPS", "20"))):
    optimizer.zero_grad()
    loss = model(torch.ones(4, 8) * (rank + 1)).square().mean()
    loss.backward()
    optimizer.step()
if rank == 0:
    print(f"loss {loss.item():.4f} on {size}")
if size > 1:
    time.sleep(1)  # gloo's threads drop their last work with the interpreter's lock, which PyTorch 2.13 holds while it waits for them
    torch.distributed.destroy_process_group()
