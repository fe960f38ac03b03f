# SPDX-License-Identifier: Apache-2.0
"""Keeps torch.compile out of Gable's functions: what it compiles is what it would compile without them."""
import sys
import types


def tests(torch):
    """(function that is true while Dynamo traces, one that is true while torch.export does too). Dynamo knows what they are, and
    the first costs a third of the other."""
    compiler = getattr(torch, "compiler", None)  # not in PyTorch 2.0
    is_compiling = getattr(compiler, "is_compiling", None) or torch._utils.is_compiling
    return getattr(compiler, "is_dynamo_compiling", None) or is_compiling, is_compiling


def bears_modes(torch):
    """Whether what is compiled stays as it is and is called as ever where a dispatch mode that says so is active."""
    guards = getattr(getattr(torch._C, "_dynamo", None), "guards", None)
    if not hasattr(guards, "set_is_in_mode_without_ignore_compile_internals"):
        return False
    backward = sys.modules.get("torch._dynamo.compiled_autograd")
    return not getattr(backward, "compiled_autograd_enabled", False)


def region_of(torch, operator):
    """What runs a compiled region, where `operator` stands for it (Inductor's option wrap_inductor_compiled_regions), else None."""
    if getattr(operator, "__name__", "") != "inductor_compiled_code":
        return None
    return getattr(operator, "py_kernels", {}).get(torch._C.DispatchKey.CompositeExplicitAutograd)


def keep_out(torch, function, callees):
    """Dynamo does not compile `function` itself; what it calls is compiled as ever where `callees` is true, else not either."""
    try:
        frames = torch._C._dynamo.eval_frame
        if hasattr(frames, "skip_code"):  # older PyTorch, where what a function calls cannot be left out with it
            _skip_package(frames.skip_code, function.__code__)
            return
        action = frames._FrameAction
        frames.set_code_exec_strategy(function.__code__,
                                      frames._FrameExecStrategy(action.SKIP, action.DEFAULT if callees else action.SKIP))
    except AttributeError:  # it compiles a frame more
        pass


_skipped = set()  # names of modules


def _skip_package(skip_code, first):
    """All code of this package, in which `first` is some."""
    skip_code(first)
    for name, module in list(sys.modules.items()):
        if name in _skipped or not name.startswith(__package__ + "."):
            continue
        _skipped.add(name)
        for code in _codes_of(module):
            skip_code(code)


def _codes_of(module):
    """Of the functions and methods that a module defines, and of those that these define in turn."""
    ours = [value for value in vars(module).values() if getattr(value, "__module__", None) == module.__name__]
    members = [member for value in ours for member in (vars(value).values() if isinstance(value, type) else (value,))]
    found = [code for member in members for function in (member, getattr(member, "__func__", None), getattr(member, "fget", None))
             if (code := getattr(function, "__code__", None)) is not None]
    for code in found:  # which grows meanwhile
        found += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]
    return found
