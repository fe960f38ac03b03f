# SPDX-License-Identifier: Apache-2.0
"""What following a module costs outside of windows, beside a plain call and one with two plain hooks.

    GABLE_PROGRAM=build/bin/gable GABLE_TORCH_PYTHON=python module_calls.py [--brief]

prints a table; that Python needs PyTorch. --brief: few rounds, to see that it works.

All three are measured in one process, one after the other in many rounds, of which the fastest counts.
"""
import os
import subprocess
import sys
import timeit
import types

GPU = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "pytorch", "gpu.jsonl")
CALLS = 20000
PYTHON = os.environ.get("GABLE_TORCH_PYTHON", sys.executable)


def plain_call(torch):
    """A copy of Module.__call__: as the function is without Gable."""
    call = torch.nn.Module.__call__
    copy = types.FunctionType(call.__code__, call.__globals__, call.__name__, call.__defaults__, call.__closure__)
    copy.__kwdefaults__ = call.__kwdefaults__
    return copy


def measure(rounds):
    import torch
    unfollowed = plain_call(torch)

    class Empty(torch.nn.Module):
        def forward(self, x):
            return x

    class Plain(Empty):
        __call__ = unfollowed

    class Around(torch.nn.Module):
        """A model: what is measured is a call of a module within it."""

        def __init__(self):
            super().__init__()
            self.plain, self.hooked, self.followed = Plain(), Plain(), Empty()
            self.hooked.register_forward_pre_hook(lambda module, arguments: None)
            self.hooked.register_forward_hook(lambda module, arguments, result: None)

        def forward(self, x):
            kinds = {"plain": lambda: self.plain(x), "hooks": lambda: self.hooked(x), "followed": lambda: self.followed(x)}
            best = dict.fromkeys(kinds, float("inf"))
            for _ in range(rounds):
                for kind, call in kinds.items():
                    best[kind] = min(best[kind], timeit.timeit(call, number=CALLS) / CALLS * 1e9)
            return best

    with torch.no_grad():
        best = Around()(torch.zeros(1))
    plain, hooks, followed = best["plain"], best["hooks"], best["followed"]
    print("| a module call | ns | more than a plain one |")
    print("|---|---|---|")
    for kind, ns in (("plain", plain), ("with two hooks", hooks), ("followed, outside of windows", followed)):
        print(f"| {kind} | {ns:.0f} | {ns - plain:.0f} |")
    print(f"\nFollowing costs {(followed - plain) / (hooks - plain):.2f} times what two plain hooks cost.")


def main():
    if sys.argv[1:2] == ["measure"]:
        return measure(int(sys.argv[2]))
    if not os.path.exists(PYTHON):
        print(f"there is no {PYTHON}")
        return 77
    rounds = "5" if sys.argv[1:] == ["--brief"] else "50"
    # A wait that never ends: the calls are outside of windows.
    command = [os.environ["GABLE_PROGRAM"], "profile", "--playback", GPU, "--wait", "1000000000", "-o", os.devnull, "--",
               PYTHON, os.path.abspath(__file__), "measure", rounds]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
