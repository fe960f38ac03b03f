# SPDX-License-Identifier: Apache-2.0
"""torch.profiler inside a program under Gable: prints what became of it as one JSON object."""
import json

import torch


def mapped(name):
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return sorted({line.split()[-1] for line in maps if name in line})


def main():
    layer = torch.nn.Linear(1024, 1024, device="cuda")
    batch = torch.randn(64, 1024, device="cuda")
    error, events = "none", 0
    for _ in range(30):
        layer(batch).sum().backward()
    try:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]) as profile:
            for _ in range(5):
                layer(batch).sum().backward()
            torch.cuda.synchronize()
        events = sum(1 for event in profile.events() if event.device_type == torch.autograd.DeviceType.CUDA)
    except RuntimeError as problem:
        error = str(problem).splitlines()[0]
    for _ in range(30):
        layer(batch).sum().backward()
    torch.cuda.synchronize()
    cuptis = mapped("libcupti")
    print(json.dumps({
        "what": "answer", "agrees": len(cuptis) == 1,
        "says": f"the program survives; torch.profiler saw {events} events on the GPU, error: {error}; CUPTIs: {len(cuptis)}",
        "events": events, "error": error, "cuptis": cuptis}), flush=True)


if __name__ == "__main__":
    main()
