# SPDX-License-Identifier: Apache-2.0
"""What happens when a program that is being profiled has imported torch."""
from gable import _autograd, _description, _library, _modules, _steps

_OLDEST = (2, 0)


def _version(torch):
    try:
        return tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    except ValueError:
        return (0, 0)


def start(torch):
    library = _library.library()
    if library is None:
        return
    if _version(torch) < _OLDEST:
        _library.say(f"PyTorch {torch.__version__} is too old for layers to be named; they need PyTorch 2.0 or newer.")
        return
    library.gable_modules_followed()
    _autograd.number_nodes(torch, library)
    description = _description.Description(torch, library)
    steps = _steps.follow(torch, library, description)
    _modules.follow(torch, library, steps.outermost_ended, description)
