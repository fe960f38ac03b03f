# SPDX-License-Identifier: Apache-2.0
"""Keeps torch.compile out of Gable's functions: what it compiles is what it would compile without them."""


def tests(torch):
    """(function that is true while Dynamo traces, one that is true while torch.export does too). Dynamo knows what they are, and
    the first costs a third of the other."""
    compiler = getattr(torch, "compiler", None)  # not in PyTorch 2.0
    is_compiling = getattr(compiler, "is_compiling", None) or torch._utils.is_compiling
    return getattr(compiler, "is_dynamo_compiling", None) or is_compiling, is_compiling


def keep_out(torch, function, callees):
    """Dynamo does not compile `function` itself; what it calls is compiled as ever where `callees` is true, else not either."""
    try:
        frames = torch._C._dynamo.eval_frame
        if hasattr(frames, "skip_code"):  # older PyTorch; Dynamo may then compile a frame of ours, which changes no result
            frames.skip_code(function.__code__)
            return
        action = frames._FrameAction
        frames.set_code_exec_strategy(function.__code__,
                                      frames._FrameExecStrategy(action.SKIP, action.DEFAULT if callees else action.SKIP))
    except AttributeError:  # it compiles a frame more
        pass
