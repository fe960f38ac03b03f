# SPDX-License-Identifier: Apache-2.0
"""Trains two linear layers; each module launches a kernel on the playback GPU, forward and backward. The argument: tests/pytorch."""
import sys

sys.path.insert(0, sys.argv[1])
import torch  # noqa: E402
from playback_ops import make_launching  # noqa: E402

torch.manual_seed(0)
model = make_launching(torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(30):
    optimizer.zero_grad()
    loss = model(torch.rand(5, 8)).square().mean()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.6f}")
