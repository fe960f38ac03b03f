# SPDX-License-Identifier: Apache-2.0
"""Makes PyTorch for the CPU launch kernels on the playback GPU that say where they belong, and writes down what is true of the program.
Lies in the site-packages of a virtual environment, as a machine's own sitecustomize: no program knows of it, and it knows nothing of
Gable.

PROGRAM_TRUTH=FILE   every call of a module launches the kernel "forward:N" ("recompute:N" within a backward), and "backward:N" where
                     autograd runs the node that made its output; a step of an optimizer launches "optimizer". FILE gets the names that
                     each module N has in `named_modules()`, and the classes of the outermost modules that have it: [[[class, name], ...], ...]
PROGRAM_FLOPS=FILE   no kernel; FILE gets what PyTorch's FlopCounterMode counts in each step. Where it knows no formula or a wrong one
                     (attention on the CPU, groups) it is given PyTorch's own of the same operator in forward
"""
import atexit
import contextlib
import gc
import importlib.util
import json
import os
import sys
import threading
import weakref


def complete_torchvision(torch):
    """torchvision's operators in C++ load into a PyTorch with CUDA alone; without them it does not find these two."""
    found = importlib.util.find_spec("torchvision")
    for folder in found.submodule_search_locations if found else ():
        try:
            torch.ops.load_library(os.path.join(folder, "_C.so"))
        except OSError:
            for name in ("nms", "qnms"):
                torch.library.define("torchvision::" + name, "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def write(path, value):
    """Each process of a job writes a file of its own."""
    rank = os.environ.get("RANK", "")
    with open(path + (f".{rank}" if rank else ""), "w", encoding="utf-8") as file:
        json.dump(value, file)


def first_tensor(torch, value):
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return next((tensor for tensor in (first_tensor(torch, each) for each in value) if tensor is not None), None)
    return None


class Nowhere(contextlib.nullcontext):
    parents = {"Global"}


class Names:
    """Numbers modules, and names them as `named_modules()` of the outermost modules does that are alive when one is first called. A
    module that takes the place of one that is gone (a loss made anew in every step) takes its number, too."""

    def __init__(self, torch):
        self.module_type = torch.nn.Module
        self.numbers = {}  # by address
        self.modules = []  # weak, by number
        self.names = []
        self.places = {}  # numbers, by class and name
        self.lock = threading.RLock()

    def number(self, module):
        known = self._known(module)
        if known is None:
            with self.lock:
                self._look()
            known = self._known(module)
        return known

    def _known(self, module):
        number = self.numbers.get(id(module))
        return number if number is not None and self.modules[number]() is module else None

    def _look(self):
        alive = [each for each in gc.get_objects() if issubclass(type(each), self.module_type)]
        within = {id(child) for each in alive for child in each._modules.values()}
        for outermost in alive:
            if id(outermost) in within:
                continue
            for name, module in outermost.named_modules(remove_duplicate=False):
                place = (type(outermost).__name__, name)
                number = self._known(module)
                if number is None:
                    number = self._free(place)
                    self.numbers[id(module)], self.modules[number] = number, weakref.ref(module)
                if place not in self.names[number]:
                    self.names[number].append(place)

    def _free(self, place):
        for number in self.places.setdefault(place, []):
            if self.modules[number]() is None:
                return number
        self.places[place].append(len(self.modules))
        self.modules.append(None)
        self.names.append([])
        return self.places[place][-1]


def follow_modules(torch, operators, path):
    from torch.optim.optimizer import register_optimizer_step_pre_hook
    open_gpu, launch = operators.open_gpu, operators.launch
    names = Names(torch)
    threads = threading.local()
    atexit.register(lambda: write(path, names.names))

    def launch_from(tensor, kernel):
        """PyTorch's kernels are launched by operators."""
        if tensor is None:
            return launch(kernel)
        with torch.no_grad():
            operators.launches(tensor.detach(), kernel)

    def enter(module, _inputs):
        if torch.compiler.is_compiling():
            return
        open_gpu()  # before anything is compiled: a model is on its GPU by now
        if not hasattr(threads, "open"):
            threads.open = []
        threads.open.append([module, torch.autograd._get_sequence_nr()])

    def leave(module, _inputs, output):
        if torch.compiler.is_compiling():
            return
        while threads.open:
            found, own_from = threads.open.pop()
            if found is module:
                break
        if output is None:
            return
        number = names.number(module)
        tensor = first_tensor(torch, output)
        launch_from(tensor, ("forward:" if torch._C._current_graph_task_id() == -1 else "recompute:") + str(number))
        node = tensor.grad_fn if tensor is not None else None
        if node is not None and own_from <= node._sequence_nr() < 1 << 60:  # its own node, no child's; leaves have the largest number
            tensor.register_hook(lambda gradient: launch_from(gradient, "backward:" + str(number)))
        if threads.open:
            threads.open[-1][1] = torch.autograd._get_sequence_nr()

    torch.nn.modules.module.register_module_forward_pre_hook(enter)
    torch.nn.modules.module.register_module_forward_hook(leave, always_call=True)
    register_optimizer_step_pre_hook(lambda *_: launch("optimizer"))


def count_flops(torch, path):
    from torch.optim.optimizer import register_optimizer_step_post_hook
    from torch.utils import flop_counter
    aten = torch.ops.aten

    def of_convolution(gradient, x, weight, _bias, _stride, _padding, _dilation, transposed, _output_padding, _groups, mask, out_shape):
        """Each gradient takes what the forward took."""
        return sum(mask[:2]) * flop_counter.conv_flop_count(x, weight, gradient, transposed)

    def of_groups(a, b, *_args, out_shape, **_more):
        return 2 * a[-2] * a[-1] * b[-1]

    def as_registered(formula):
        def given(*args, **more):
            return formula(*args, **more)
        given._get_raw = True
        return given

    mode = flop_counter.FlopCounterMode(display=False, custom_mapping={
        aten._scaled_dot_product_flash_attention_for_cpu: as_registered(flop_counter.sdpa_flop),
        aten._scaled_dot_product_flash_attention_for_cpu_backward: as_registered(flop_counter.sdpa_backward_flop),
        aten.convolution_backward: of_convolution, aten._grouped_mm: of_groups})
    mode.mod_tracker = Nowhere()  # who computes is not asked, and PyTorch's way to tell does not bear torch.autograd.grad
    steps, forwards, depth = [], [], [0]
    atexit.register(lambda: write(path, {"steps": steps or forwards, "steps are": "optimizer steps" if steps else "forwards"}))

    def enter(*_):
        depth[0] += 1

    def leave(*_):
        depth[0] -= 1
        if depth[0] == 0 and torch._C._current_graph_task_id() == -1:
            forwards.append(mode.get_total_flops())

    torch.nn.modules.module.register_module_forward_pre_hook(enter)
    torch.nn.modules.module.register_module_forward_hook(leave, always_call=True)
    register_optimizer_step_post_hook(lambda *_: steps.append(mode.get_total_flops()))
    mode.__enter__()
    return mode


if os.environ.get("PROGRAM_TRUTH") or os.environ.get("PROGRAM_FLOPS"):
    import torch as _torch
    complete_torchvision(_torch)
    if os.environ.get("PROGRAM_FLOPS"):
        _kept = count_flops(_torch, os.environ["PROGRAM_FLOPS"])
    else:
        sys.path.append(os.environ["PLAYBACK_OPS"])
        import playback_ops as _playback_ops
        follow_modules(_torch, _playback_ops, os.environ["PROGRAM_TRUTH"])
