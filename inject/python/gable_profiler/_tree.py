# SPDX-License-Identifier: Apache-2.0
"""The modules within a module, by the names that users know."""

# Attributes under which wrappers hold what they wrap: no level of the model that the user wrote.
WRAPPED = frozenset(("_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"))
_WRAPPERS_WITH_MODULE = frozenset(("DataParallel", "DistributedDataParallel", "FullyShardedDataParallel"))

_MOST_SOURCE_MODULES = 256  # of a compiled region are named


def is_wrapper(module):
    kind = type(module)
    if not kind.__module__.startswith("torch."):
        return False
    return kind.__name__ in _WRAPPERS_WITH_MODULE or kind.__name__ == "CheckpointWrapper"


def modules_below(parent):
    """(module, the names that lead to it) of every module below `parent`, once each, in the order of named_modules()."""
    seen = set()
    waiting = [(parent, ())]
    while waiting:
        module, path = waiting.pop()
        if id(module) in seen:
            continue  # it stands at several places: the first is its name, as in named_modules()
        seen.add(id(module))
        if module is not parent:
            yield module, path
        inner_is_wrapped = is_wrapper(module)
        for name, child in reversed(module._modules.items()):
            if child is not None:
                wrapped = name in WRAPPED or (inner_is_wrapped and name == "module")
                waiting.append((child, path if wrapped else (*path, name)))


def class_name(module):
    """The class as the user wrote it: fully_shard() gives a module one of its own, which takes after both."""
    kind = type(module)
    if len(kind.__bases__) == 2 and kind.__bases__[0].__module__.startswith("torch.distributed."):
        its_own = kind.__bases__[1].__name__
        if kind.__name__.endswith(its_own):
            return its_own
    return kind.__name__


def unwrapped(module):
    """What the user wrote, of a module that may be wrapped several times."""
    while True:
        inner = [child for name, child in module._modules.items()
                 if name in WRAPPED or (name == "module" and is_wrapper(module))]
        if not inner:
            return module
        module = inner[0]


def is_compiled(module):
    """torch.compile(module), module.compile(), or a module whose forward is torch.compile(forward)."""
    forward = module.forward
    if getattr(forward, "_torchdynamo_disable", False):
        return False
    return (hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None) is not None or
            hasattr(forward, "_torchdynamo_orig_callable"))


def source_modules(module, dotted):
    """([(name, class)] of the modules within a compiled one that is called `dotted`, how many are left out)"""
    kinds = {}
    for inner, path in modules_below(module):
        if path:  # of wrappers the innermost, which is what the user wrote
            kinds[".".join((dotted, *path) if dotted else path)] = class_name(inner)
    named = list(kinds.items())[:_MOST_SOURCE_MODULES]
    return named, len(kinds) - len(named)
