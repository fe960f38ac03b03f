# SPDX-License-Identifier: Apache-2.0
"""What happens when a program that is being profiled has imported torch."""
from gable_profiler import _autograd, _description, _inputs, _library, _modules, _steps

_OLDEST = (2, 0)


def _version(torch):
    try:
        return tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    except ValueError:
        return (0, 0)


_tell_again = None


def _tell(torch, library):
    library.gable_modules_followed()
    _autograd.number_nodes(torch, library)


def start(torch):
    global _tell_again
    library = _library.library()
    if library is None or not library.gable_layers_wanted():
        return
    if _version(torch) < _OLDEST:
        _library.say(f"PyTorch {torch.__version__} is too old for layers to be named; they need PyTorch 2.0 or newer.")
        return
    _tell(torch, library)
    description = _description.Description(torch, library)
    steps = _steps.follow(torch, library, description)
    _inputs.follow(library)
    _modules.follow(torch, library, steps, description)

    def tell_again():
        _tell(torch, library)
        steps.attach_anew()

    _tell_again = tell_again


def start_in_child():
    """A forked process starts CUDA: its library knows nothing of what was said before the fork."""
    if _tell_again is not None:
        _tell_again()
