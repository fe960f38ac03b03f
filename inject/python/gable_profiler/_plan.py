# SPDX-License-Identifier: Apache-2.0
"""What a model would have to do, for `gable plan`: it is built and run on PyTorch's meta device, where tensors have shapes and no
values, and the work of each operator is written down as a live run would write it down. docs/plan.md has the document.

    python -m gable_profiler._plan --input SPEC --batch 1,2,4 --descriptor 3 MODEL 3>FILE
"""
import argparse
import collections
import functools
import gc
import importlib
import inspect
import json
import os
import re
import sys
import traceback
import warnings
import weakref
from bisect import bisect_right

SCHEMA = 1
_OLDEST = (2, 2)
_BACKWARD_ALONE = 1 << 63  # numbers of nodes that add gradients up, and stand for no layer
_TYPES = {"fp64": "float64", "fp32": "float32", "tf32": "float32", "fp16": "float16", "bf16": "bfloat16"}
_NAMES = {"float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}
# Of an optimizer: values that it keeps for each parameter, in the parameter's type, and how often its step moves a value of that size.
# It reads weight, gradient and what it keeps, and writes weight and what it keeps.
OPTIMIZERS = {"adamw": (2, 7), "adam": (2, 7), "momentum": (1, 5), "lion": (1, 5), "sgd": (0, 3), "none": (0, 0)}
_HAS_16_BITS = ("float16", "bfloat16")


class Wrong(Exception):
    """What the user can put right, as one sentence."""


def _first_line(problem):
    text = str(problem).strip()
    return f"{type(problem).__name__}: {text.splitlines()[0]}" if text else type(problem).__name__


def _at_fault(problem, path):
    """What the user's code has thrown, with the last place in its own file, or else the last one outside of PyTorch."""
    frames = traceback.extract_tb(problem.__traceback__)
    torch = sys.modules.get("torch")
    others = [os.path.dirname(os.path.abspath(each)) + os.sep for each in (__file__, *([torch.__file__] if torch else ())) if each]
    outer = [each for each in frames if not os.path.abspath(each.filename).startswith(tuple(others)) and not each.filename.startswith("<")]
    inside = [each for each in outer if path and os.path.abspath(each.filename) == os.path.abspath(path)]
    where = (inside or outer)[-1:]
    if not where:
        return _first_line(problem)
    name = os.path.abspath(where[0].filename)
    name = os.path.relpath(name) if name.startswith(os.getcwd() + os.sep) else name
    return f"{name}:{where[0].lineno}, in {where[0].name}: {_first_line(problem)}"


# --- inputs

_SPEC = re.compile(r"(?:([A-Za-z_]\w*)=)?([a-z]\w*)\[([\dB,\s]*)\]$")


class Input:
    """int64[8,4096], or NAME=int64[B,4096] for one that is given by its name."""

    def __init__(self, text, torch):
        found = _SPEC.match(text.strip())
        kind = getattr(torch, found[2], None) if found else None
        if not isinstance(kind, torch.dtype):
            raise Wrong(f"--input takes a type of PyTorch and a shape, such as 'int64[8,4096]' or 'float32[B,3,224,224]', not '{text}'.")
        self.name, self.kind = found[1], kind
        self.shape = [each.strip() for each in found[3].split(",") if each.strip()]
        if any("B" in each and each != "B" for each in self.shape):
            raise Wrong(f"--input: B stands for the batch alone, not as in '{text}'.")
        self.has_batch = "B" in self.shape

    def sizes(self, batch, by_letter):
        """`by_letter`: B is the batch; otherwise the first dimension is. None: as written."""
        place = "B" if by_letter else None
        sizes = [batch if each == place else int(each) for each in self.shape]
        if batch is not None and not by_letter and sizes:
            sizes[0] = batch
        return sizes

    def text(self):
        return f"{self.name + '=' if self.name else ''}{str(self.kind).rpartition('.')[2]}[{','.join(self.shape)}]"


# --- models

def _module_of(place):
    name, _, function = place.partition(":")
    if not name or not function:
        raise Wrong(f"The model is MODULE:FUNCTION, as in mymodel:build, or a file config.json of Hugging Face, not '{place}'.")
    sys.path.insert(0, os.getcwd())
    path = os.path.join(os.getcwd(), *name.split(".")) + ".py"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as problem:
        if problem.name == name.split(".")[0]:
            raise Wrong(f"There is no module {name} in this folder or among what Python has installed; {place} names a function of "
                        "it.") from None
        raise Wrong(f"{name} cannot be imported: {_at_fault(problem, path)}") from problem
    except Exception as problem:
        raise Wrong(f"{name} cannot be imported: {_at_fault(problem, path)}") from problem
    build = module
    for part in function.split("."):
        build = getattr(build, part, None)
    if not callable(build):
        raise Wrong(f"{name} has no function {function}.")
    return build, getattr(module, "__file__", None)


class Built:
    """A model on the meta device, and what is known of it beyond its operators."""

    def __init__(self, module, file=None, config=None, notes=()):
        self.module, self.file, self.config, self.notes = module, file, config, list(notes)


def _build_own(torch, place):
    build, file = _module_of(place)
    notes = []
    try:
        try:
            with torch.device("meta"):
                module = build()
        except (NotImplementedError, RuntimeError) as problem:
            if "meta" not in str(problem):
                raise
            module = build()  # it computes with values while it is built
            notes.append("The model was built on the CPU and then moved: its function computes with values, which tensors on the meta "
                         "device do not have.")
    except BaseException as problem:
        if isinstance(problem, KeyboardInterrupt):
            raise
        raise Wrong(f"{place} failed: {_at_fault(problem, file)}") from problem
    if not isinstance(module, torch.nn.Module):
        raise Wrong(f"{place} must return a torch.nn.Module, not {type(module).__name__}.")
    return Built(module.to("meta"), file, None, notes)


def _build_described(torch, path):
    try:
        import transformers
    except ImportError:
        raise Wrong(f"{path} is taken for a model of Hugging Face, which needs the package transformers: install it, or name a "
                    "function that builds the model.") from None
    transformers.utils.logging.set_verbosity_error()
    warnings.simplefilter("ignore", FutureWarning)  # its own, about names of arguments that it has changed
    try:
        config = transformers.AutoConfig.from_pretrained(path, local_files_only=True)
        names = [name for name in config.architectures or () if hasattr(transformers, name)]
        with torch.device("meta"):
            make = getattr(transformers, names[0])._from_config if names else transformers.AutoModelForCausalLM.from_config
            module = make(config)
    except Exception as problem:
        raise Wrong(f"transformers makes no model of {path}: {_first_line(problem)}") from problem
    masks = sys.modules.get("transformers.masking_utils")
    if hasattr(masks, "find_packed_sequence_indices"):
        masks.find_packed_sequence_indices = lambda positions: None  # it looks at values, for several texts in one row
    return Built(module, None, config.get_text_config() if hasattr(config, "get_text_config") else config)


# --- what is seen while it runs

class Layers:
    """Which layer is open, and which one made a node of autograd's graph: by the numbers that nodes get one after another."""

    def __init__(self, torch, module):
        from gable_profiler import _tree
        self._torch, self._tree = torch, _tree
        root = _tree.unwrapped(module)
        name = _tree.class_name(root)
        self._paths = {id(module): (name,), id(root): (name,)}
        self._paths.update((id(inner), (name, *path)) for inner, path in _tree.modules_below(root))
        self.rows, self._indices = [], {}  # (path, class, module or None)
        self.row((name,), module)
        for inner, _ in _tree.modules_below(root):
            self.row(self._paths[id(inner)], inner)
        self.calls = collections.Counter()
        self.begin()

    def begin(self):
        self._open, self._numbers, self._makers = [], [], []
        self.in_backward = False
        self._mark()

    def row(self, path, module=None):
        index = self._indices.get(path)
        if index is None:
            index = self._indices[path] = len(self.rows)
            self.rows.append((path, "" if module is None else self._tree.class_name(module), module))
        return index

    def _mark(self):
        self._numbers.append(self._torch._C._autograd._get_sequence_nr())
        self._makers.append(self._open[-1] if self._open else 0)

    def enter(self, module, inputs):
        path = self._paths.get(id(module))
        if path is None:  # made while the model runs
            around = self.rows[self._open[-1]][0] if self._open else self.rows[0][0]
            path = (*around, self._tree.class_name(module))
        index = self.row(path, module)
        self.calls[index] += 1
        self._open.append(index)
        self._mark()

    def leave(self, module, inputs, outputs):
        self._open.pop()
        self._mark()

    def now(self):
        """(layer, direction) of an operator that runs now."""
        if not self.in_backward:
            return (self._open[-1] if self._open else 0), "forward"
        if self._open:
            return self._open[-1], "recompute"
        node = self._torch._C._current_autograd_node()
        number = node._sequence_nr() if node is not None else -1
        if not 0 <= number < _BACKWARD_ALONE:
            return 0, "backward"
        return self._makers[max(bisect_right(self._numbers, number) - 1, 0)], "backward"


class Held:
    """Bytes of the tensors that exist, as the allocator would be asked for them, but for those that were there before."""

    def __init__(self, before):
        self._before = before  # storages of the model and of its inputs
        self._live, self.now, self.most = {}, 0, 0

    def saw(self, tensor):
        """Whether it is a new one."""
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self._live or key in self._before:
            return False
        size = storage.nbytes()
        self._live[key] = weakref.ref(storage, lambda _, key=key, size=size: self._gone(key, size))
        self.now += size
        self.most = max(self.most, self.now)
        return True

    def _gone(self, key, size):
        del self._live[key]
        self.now -= size


class Heads:
    """How often a value stands in a tensor: keys and values of one head that several heads share may be written out for each."""

    def __init__(self):
        self._times = {}  # storage: how often; only of those that exist

    def copied(self, source, out):
        elements = 1
        for length, stride in zip(source.shape, source.stride()):
            elements *= length if stride != 0 else min(length, 1)
        if elements and elements < source.numel():
            self._times[out.untyped_storage()._cdata] = source.numel() / elements

    def forget(self, tensor):
        """One that was at its place is no more."""
        self._times.pop(tensor.untyped_storage()._cdata, None)

    def times(self, tensor):
        return self._times.get(tensor.untyped_storage()._cdata, 1)


def fuse_attention(torch):
    """Attention becomes one operator, as on a GPU: on the meta device PyTorch takes it apart. Before anybody imports the function."""
    functional, aten = torch.nn.functional, torch.ops.aten
    attention = functional.scaled_dot_product_attention

    def fused(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        if any(each.dim() != 4 for each in (query, key, value)):
            return None
        plain = attn_mask is None and query.shape[-1] == value.shape[-1] and query.shape[-1] <= 256
        if plain and str(query.dtype).rpartition(".")[2] in _HAS_16_BITS:
            return aten._scaled_dot_product_flash_attention(query, key, value, dropout_p, is_causal, False, scale=scale)[0]
        if query.shape[1] != key.shape[1]:
            return None  # the other kernel wants as many heads everywhere
        if attn_mask is not None:
            if attn_mask.dtype == torch.bool:
                attn_mask = torch.where(attn_mask, 0.0, float("-inf")).to(query.dtype)
            attn_mask = attn_mask.expand(*query.shape[:3], key.shape[2])
        kept = torch.is_grad_enabled() and any(each.requires_grad for each in (query, key, value))
        return aten._scaled_dot_product_efficient_attention(query, key, value, attn_mask, kept, dropout_p, is_causal, scale=scale)[0]

    @functools.wraps(attention)
    def scaled_dot_product_attention(*args, **kwargs):
        done = fused(*args, **kwargs)
        return attention(*args, **kwargs) if done is None else done

    if not hasattr(attention, "__wrapped__"):
        functional.scaled_dot_product_attention = scaled_dot_product_attention


def _generates(operator, args, kwargs):
    """Whether an attention's keys and values are those of a text that is generated: no token sees later ones, or one sees many."""
    if len(args) < 3 or args[1].dim() != 4:
        return False
    place = next((i for i, each in enumerate(operator._schema.arguments) if each.name == "is_causal"), None)
    causal = kwargs.get("is_causal", args[place] if place is not None and place < len(args) else False)
    return causal or args[0].shape[2] < args[1].shape[2]


def _make_mode(torch, layers, parameters, before):
    from torch.utils._python_dispatch import TorchDispatchMode
    from gable_profiler._work import Work, tensors_in

    def counts(value):
        return isinstance(value, torch.Tensor)

    class Seeing(TorchDispatchMode):
        """Every operator, as a live run sees it."""

        def __init__(self):
            super().__init__()
            self.work = Work(torch, counts, on_gpu=True)
            self.operators, self.held, self.cached = collections.Counter(), Held(before), 0
            self.heads = Heads()

        def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            out = operator(*args, **kwargs)
            for tensor in tensors_in(out, counts):
                if self.held.saw(tensor):
                    self.heads.forget(tensor)
            name = operator._overloadpacket.__name__ if hasattr(operator, "_overloadpacket") else str(operator)
            if name == "clone":
                self.heads.copied(args[0], out)
            done = self.work.of(operator, args, kwargs, out)
            if done is None:
                return out
            _, kind, flops, read, written = done
            if flops == 0 and read is not None:
                fused = min(read, sum({id(each): each.numel() * each.element_size() for each in tensors_in((args, kwargs), counts)
                                       if each.untyped_storage()._cdata in parameters}.values()))
            else:
                fused = None if read is None else read + written
            layer, direction = layers.now()
            self.operators[(layer, direction, name, kind, flops, read, written, fused)] += 1
            if "attention" in name and direction == "forward" and _generates(operator, args, kwargs):
                self.cached += sum(each.numel() * each.element_size() / self.heads.times(each) for each in args[1:3]
                                   if each.untyped_storage()._cdata not in before)
            return out

    return Seeing()


# --- the run

def _storages(tensors):
    return {each.untyped_storage()._cdata: each.untyped_storage().nbytes() for each in tensors}


def _differentiable(outputs, torch):
    from gable_profiler._work import tensors_in
    loss = getattr(outputs, "loss", None)
    if isinstance(loss, torch.Tensor) and loss.requires_grad:
        return [loss]
    return [each for each in tensors_in(outputs, torch.is_tensor) if each.requires_grad]


class Planner:
    def __init__(self, torch, built, options, inputs):
        self.torch, self.built, self.options, self.inputs = torch, built, options, inputs
        module = built.module
        if options.precision:
            module.to(getattr(torch, _TYPES[options.precision]))
        if options.precision in ("fp32", "tf32"):
            torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = options.precision == "tf32"
        module.train(options.train)
        if not options.train:
            module.requires_grad_(False)
        self.caches = built.config is not None and not options.train and module.can_generate()
        self.parameters = list(module.parameters())
        self.trained = [each for each in self.parameters if each.requires_grad]
        self.buffers = list(module.buffers())
        self.layers = Layers(torch, module)

    def kv_of_config(self, batch, tokens):
        """Bytes of keys and values of so many tokens, by a configuration of Hugging Face. None: it does not tell."""
        config, size = self.built.config, self.parameters[0].element_size()
        heads = getattr(config, "num_key_value_heads", None) or getattr(config, "num_attention_heads", None)
        width, layers = getattr(config, "hidden_size", None), getattr(config, "num_hidden_layers", None)
        if not heads or not width or not layers:
            return None
        head = getattr(config, "head_dim", None) or width // config.num_attention_heads
        return 2 * layers * heads * head * tokens * batch * size

    def _past(self, batch):
        import transformers
        torch, config = self.torch, self.built.config
        cache = transformers.DynamicCache()
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        for layer in range(config.num_hidden_layers):
            keys = torch.empty(batch, heads, self.options.past, head, dtype=self.parameters[0].dtype)
            cache.update(keys, torch.empty_like(keys), layer)
        return cache

    def run(self, batch, by_letter):
        """One run at that batch; None: as the inputs are written."""
        torch, options, module = self.torch, self.options, self.built.module
        precision = getattr(torch, _TYPES[options.precision]) if options.precision else None
        gc.collect()
        with torch.device("meta"):
            args, kwargs = [], {}
            for each in self.inputs:
                kind = precision if precision is not None and each.kind.is_floating_point else each.kind
                tensor = torch.empty(each.sizes(batch, by_letter), dtype=kind)
                if each.name:
                    kwargs[each.name] = tensor
                else:
                    args.append(tensor)
            given = [*args, *kwargs.values()]
            first = given[0]
            if self.caches:
                name = "past_key_values" if "past_key_values" in inspect.signature(module.forward).parameters else "cache"
                kwargs.update({"use_cache": True, **({name: self._past(first.shape[0])} if options.past else {})})
            elif self.built.config is not None:
                kwargs["use_cache"] = False
            weights, stays = _storages(self.parameters), _storages((*self.buffers, *given))
            seeing = _make_mode(torch, self.layers, weights, {**weights, **stays})
            self.layers.begin()
            hooks = torch.nn.modules.module
            handles = [hooks.register_module_forward_pre_hook(self.layers.enter), hooks.register_module_forward_hook(self.layers.leave)]
            try:
                with torch.set_grad_enabled(options.train), seeing:
                    outputs = module(*args, **kwargs)
                    kept = seeing.held.now
                    if options.train:
                        self._backward(outputs)
                    del outputs
            finally:
                for handle in handles:
                    handle.remove()
                for each in self.parameters:
                    each.grad = None
        size = first.shape[0] if first.dim() else 1
        tokens = first.shape[1] if first.dim() == 2 and not first.dtype.is_floating_point else None
        peak = seeing.held.most
        if tokens is None or options.train:
            cached = None
        elif self.built.config is not None:
            cached = self.kv_of_config(size, tokens + options.past) if self.caches else None
            peak = max(peak - (cached or 0), 0)  # they exist in the run
        else:
            cached = round(seeing.cached) or None
        return {"batch": batch if batch is not None else size, "tokens_per_sample": tokens,
                "input_bytes": sum(each.numel() * each.element_size() for each in given), "kept_bytes": kept if options.train else None,
                "peak_bytes": peak, "kv_bytes": cached,
                "operators": self._operators(seeing.operators)}

    def _backward(self, outputs):
        torch = self.torch
        roots = _differentiable(outputs, torch)
        if not roots:
            raise Wrong("Nothing that the model returns has a gradient, so --train has nothing to run backward from.")
        del outputs
        self.layers.in_backward = True
        torch.autograd.backward(roots, [torch.empty_like(each) for each in roots])

    def _operators(self, seen):
        rows = [{"layer": layer, "direction": direction, "name": name, "type": kind, "count": count, "flops": flops, "read_bytes": read,
                 "written_bytes": written, "fused_bytes": fused}
                for (layer, direction, name, kind, flops, read, written, fused), count in seen.items()]
        state, moves = OPTIMIZERS[self.options.optimizer]
        if self.options.train and moves:
            size = sum(each.numel() * each.element_size() for each in self.trained)
            kind = _NAMES.get(str(self.trained[0].dtype).rpartition(".")[2], "fp32")
            rows.append({"layer": self.layers.row(("optimizer",)), "direction": "none", "name": self.options.optimizer, "type": kind,
                         "count": 1, "flops": 0.0, "read_bytes": (2 + state) * size, "written_bytes": (moves - 2 - state) * size,
                         "fused_bytes": moves * size})
        return rows

    def document(self, runs):
        def size(tensors):
            return sum(each.numel() * each.element_size() for each in tensors)
        options, torch = self.options, self.torch
        state = OPTIMIZERS[options.optimizer][0]
        own = [[] if module is None else module._parameters.values() for _, _, module in self.layers.rows]
        layers = [{"path": list(path), "class": kind, "parameters": sum(each.numel() for each in values if each is not None)}
                  for (path, kind, _), values in zip(self.layers.rows, own)]
        training = {"optimizer": options.optimizer, "trained_parameters": sum(each.numel() for each in self.trained),
                    "gradient_bytes": size(self.trained), "optimizer_bytes": state * size(self.trained)}
        return {"gable_plan": SCHEMA, "made_with": {"torch": torch.__version__, "python": sys.version.split()[0]},
                "model": {"name": self.layers.rows[0][0][0], "from": options.model,
                          "parameters": sum(each.numel() for each in self.parameters), "parameter_bytes": size(self.parameters),
                          "buffer_bytes": size(self.buffers)},
                "inputs": [each.text() for each in self.inputs], "past_tokens": options.past, "precision": options.precision,
                "training": training if options.train else None,
                "layers": layers, "runs": runs, "notes": self.built.notes}


def plan(torch, options):
    """The document. Raises Wrong."""
    fuse_attention(torch)
    inputs = [Input(each, torch) for each in options.input]
    if not inputs:
        raise Wrong("--input is missing: the type and shape of what the model is called with, such as 'float32[1,3,224,224]'.")
    by_letter = any(each.has_batch for each in inputs)
    batches = options.batch or [None]
    if by_letter and not options.batch:
        raise Wrong("B in --input needs --batch, which says how large it is.")
    described = options.model.endswith(".json") or os.path.isdir(options.model)
    built = _build_described(torch, options.model) if described else _build_own(torch, options.model)
    planner = Planner(torch, built, options, inputs)
    if options.past and not planner.caches:
        raise Wrong("--past is for models of Hugging Face that generate, which say what they keep of earlier tokens.")
    runs = []
    for batch in batches:
        try:
            runs.append({**planner.run(batch, by_letter), "asked": True})
        except Wrong:
            raise
        except BaseException as problem:
            if isinstance(problem, KeyboardInterrupt):
                raise
            what = _at_fault(problem, built.file)
            values = "meta" in str(problem) or "data-dependent" in str(problem)
            raise Wrong(f"{options.model} ran into an error on the meta device{'' if batch is None else f' at batch {batch}'}: {what}" +
                        (" (its operators depend on values, which nothing has before it runs)" if values else "")) from problem
    if len(runs) == 1:  # how work grows with the batch needs another
        try:
            runs.append({**planner.run(2 * runs[0]["batch"], by_letter), "asked": False})
        except Exception:  # then that is unknown
            pass
    return planner.document(runs)


def _torch():
    try:
        import torch
    except ImportError as problem:
        raise Wrong(f"{sys.executable} cannot import torch ({_first_line(problem)}): name a Python that has it with --python.") from None
    try:
        version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    except ValueError:
        version = _OLDEST
    if version < _OLDEST:
        raise Wrong(f"PyTorch {torch.__version__} of {sys.executable} is too old: gable plan needs {_OLDEST[0]}.{_OLDEST[1]} or newer.")
    return torch


def main(words=None):
    parser = argparse.ArgumentParser(prog="gable plan", allow_abbrev=False)
    parser.add_argument("model")
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--batch", type=lambda text: [int(each) for each in text.split(",")])
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--precision", choices=sorted(_TYPES))
    parser.add_argument("--optimizer", choices=sorted(OPTIMIZERS), default="adamw")
    parser.add_argument("--past", type=int, default=0)
    parser.add_argument("--descriptor", type=int, required=True)
    options = parser.parse_args(words)
    os.dup2(2, 1)  # what the user's function prints is no part of the answer
    try:
        document = plan(_torch(), options)
    except Wrong as problem:
        sys.stdout.flush()
        sys.stderr.write(f"gable: {problem}\n")
        return 2
    with os.fdopen(options.descriptor, "w", encoding="utf-8") as file:
        json.dump(document, file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
