# SPDX-License-Identifier: Apache-2.0
"""A row of the table of hazards."""
import dataclasses

ANY = "LD_PRELOAD, no CUDA"
PRELOAD, INJECTION, PROFILE = "LD_PRELOAD", "CUDA_INJECTION64_PATH", "gable profile"
WAYS = (ANY, PRELOAD, INJECTION, PROFILE)
WITH_CUDA = (PRELOAD, INJECTION, PROFILE)


@dataclasses.dataclass(frozen=True)
class Case:
    """A program and what happens to it. Words of commands may name {hazard}, {python}, {here} (its folder), {build} and {opens} (what opens the GPU).
    `outer` stands before the way in: what limits Gable too. `gpu`: whether the table opens the GPU in it, else it does so itself
    or never. `varies`: parts that differ from run to run ("stdout", "stderr", "files"). `needs`: programs and files."""
    name: str
    command: tuple
    outer: tuple = ()
    stdin: bytes = b"first line\nsecond line\n"
    ways: tuple = WAYS
    gpu: bool = True
    varies: tuple = ()
    needs: tuple = ()
    variables: tuple = ()
    longer: bool = False  # in the long form alone


def python(name, code, **more):
    return Case(f"python: {name}", ("{python}", "-c", code), **more)


def shell(name, code, *needs, **more):
    return Case(f"sh: {name}", ("/bin/sh", "-c", code), needs=needs, **more)


def bash(name, code, *needs, **more):
    return Case(f"bash: {name}", ("/bin/bash", "-c", code), needs=("/bin/bash", *needs), **more)
