# SPDX-License-Identifier: Apache-2.0
"""What holds a device's memory in a described step: how much is taken after each operator, and which tensors were there when it was
most. PyTorch's allocator says how much; where it keeps no statistics, that is the sum of the tensors seen."""
import weakref

from gable_profiler import _tree
from gable_profiler._work import tensors_in

_BETWEEN_NAMES = "\x1f"
_PARAMETERS, _BUFFERS, _GRADIENTS, _OPTIMIZER, _MADE, _GIVEN = (
    b"parameters", b"buffers", b"gradients", b"optimizer_state", b"made", b"given")


class _Held:
    """What was allocated for tensors: there from sample `since` until before sample `until`."""
    __slots__ = ("kind", "module", "bytes", "since", "until", "alive")

    def __init__(self, kind, module, size, since):
        self.kind, self.module, self.bytes, self.since, self.until, self.alive = kind, module, size, since, None, None


def statistics(torch, what="allocated_bytes"):
    """Of the allocator of the current device: {"current": now, "peak": most since the program began, "allocated": ever taken}; None:
    there are none."""
    try:
        return torch.cuda.memory_stats_as_nested_dict()[what]["all"]
    except Exception:  # another allocator, or no GPU
        return None


def knows_ends(torch):
    """Whether PyTorch tells when memory is free again. Since 2.1 the object that stands for it lives as long as it is in use."""
    tensor = torch.empty(1)
    reference = weakref.ref(tensor.untyped_storage())
    if reference() is None:
        return False
    del tensor
    return reference() is None


class Memory:
    """Of one step. `optimizers`: those that have taken one."""

    def __init__(self, torch, library, optimizers):
        self._torch, self._library, self._optimizers = torch, library, optimizers
        self._on_gpu = torch.cuda.is_initialized()
        self._device = torch.cuda.current_device() if self._on_gpu else 0
        self._by_allocator = statistics(torch) is not None
        self._all, self._now = [], {}  # and by the storage, what is there now
        self._gone = []  # since the last sample
        self._sum = 0  # bytes of what is there now
        self._samples = []  # bytes
        self._models = []

    # --- tensors

    def _counts(self, tensor):
        device = tensor.device
        if self._on_gpu:
            return device.type == "cuda" and device.index == self._device
        return device.type == "cpu"

    def _hold(self, tensor, kind, module=""):
        """Its memory, once. What a module or an optimizer calls its own is no more what an operator made."""
        tensor = getattr(tensor, "_local_tensor", tensor)  # of a DTensor the part that is here
        try:
            if not self._counts(tensor):
                return
            storage = tensor.untyped_storage()
        except (RuntimeError, NotImplementedError, ValueError):  # it has no memory of its own: sparse, or not made yet
            return
        key = storage._cdata
        known = self._now.get(key)
        if known is not None and known.alive() is None:  # gone a moment ago, and its place is taken
            self._let_go()
            known = None
        if known is not None:
            if known.kind in (_MADE, _GIVEN) and kind not in (_MADE, _GIVEN):
                known.kind, known.module = kind, module
            return
        held = _Held(kind, module, storage.nbytes(), len(self._samples))
        if held.bytes == 0:
            return
        held.alive = weakref.ref(storage, lambda _, gone=self._gone: gone.append((key, held)))
        self._now[key] = held
        self._all.append(held)
        self._sum += held.bytes

    def _let_go(self):
        """Of what is gone. Another thread may tell that, so it is only heard of here."""
        while self._gone:
            key, held = self._gone.pop()
            held.until = len(self._samples)
            self._sum -= held.bytes
            if self._now.get(key) is held:
                del self._now[key]

    def _hold_optimizers(self):
        for optimizer in self._optimizers:
            for kept in list(optimizer.state.values()):
                for tensor in tensors_in(kept, self._torch.is_tensor):
                    self._hold(tensor, _OPTIMIZER)

    def _hold_model(self, root):
        name = _tree.class_name(_tree.unwrapped(root))
        for module, path in ((root, ()), *_tree.modules_below(root)):
            names = _BETWEEN_NAMES.join((name, *path))
            for parameter in module._parameters.values():
                if parameter is not None:
                    self._hold(parameter, _PARAMETERS, names)
                    if parameter.grad is not None:
                        self._hold(parameter.grad, _GRADIENTS, names)
            for buffer in module._buffers.values():
                if buffer is not None:
                    self._hold(buffer, _BUFFERS, names)

    # --- the step

    def model_begins(self, model):
        """An outermost module is called."""
        self._let_go()
        if any(each is model for each in self._models):
            return
        self._models.append(model)
        self._hold_model(model)
        if not self._samples:
            self._hold_optimizers()
            self._sample()

    def ran(self, args, kwargs, out):
        """An operator, which is open still."""
        self._let_go()
        for tensor in tensors_in((args, kwargs), self._torch.is_tensor):
            self._hold(tensor, _GIVEN)
        for tensor in tensors_in(out, self._torch.is_tensor):
            self._hold(tensor, _MADE)
        self._sample()

    def _sample(self):
        counted = statistics(self._torch) if self._by_allocator else None
        now = self._sum if counted is None else counted["current"]
        self._library.gable_model_memory(now)
        self._samples.append(now)

    def ended(self):
        """Tells what was there when most was taken."""
        if not self._samples:
            return
        self._let_go()
        for model in self._models:  # backward has made gradients, and a first step what the optimizer keeps
            self._hold_model(model)
        self._hold_optimizers()
        self._sample()
        peak = self._samples.index(max(self._samples))
        rows = {}
        for held in self._all:
            held.alive = None  # nothing of ours is called any more when it goes
            if held.since <= peak and (held.until is None or peak < held.until):
                point = held.since if held.kind in (_MADE, _GIVEN) else -1
                row = rows.setdefault((held.kind, point, held.module), [0, 0])
                row[0] += held.bytes
                row[1] += 1
        counted, reserved = (statistics(self._torch, what) if self._by_allocator else None for what in ("allocated_bytes", "reserved_bytes"))
        self._library.gable_model_peak(self._device, self._by_allocator, peak, -1 if counted is None else counted["peak"],
                                       -1 if reserved is None else reserved["current"])
        for (kind, point, module), (size, tensors) in rows.items():
            self._library.gable_model_held(kind, point, module.encode("utf-8", "replace"), size, tensors)
