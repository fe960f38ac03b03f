# SPDX-License-Identifier: Apache-2.0
"""The injected library, as far as Python calls it. Absent in programs that are not being profiled."""
import ctypes
import os
import sys

from gable_profiler import _startup

# The library's functions that Python calls: result, arguments. PyDLL keeps the interpreter's lock: none of them waits.
_FUNCTIONS = {
    "gable_torch_number": (None, [ctypes.c_void_p] * 2),
    "gable_backward": (None, [ctypes.c_int]),
    "gable_torch_current_node": (None, [ctypes.c_void_p] * 2),
    "gable_torch_attach": (None, [ctypes.c_void_p] + [ctypes.c_size_t] * 3),
    "gable_layers_wanted": (ctypes.c_int, []),
    "gable_note": (ctypes.c_int, [ctypes.c_char_p]),
    "gable_modules_followed": (None, []),
    "gable_modules_follow": (None, [ctypes.c_void_p]),
    "gable_module_open": (ctypes.c_int, [ctypes.c_uint64]),
    "gable_module_name": (ctypes.c_int, [ctypes.c_uint64, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p]),
    "gable_module_compiled": (None, [ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint32]),
    "gable_module_at": (ctypes.c_uint64, [ctypes.c_int]),
    "gable_part_function": (ctypes.c_void_p, [ctypes.c_void_p] * 3),
    "gable_part_name": (ctypes.c_int, [ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_char_p]),
    "gable_module_gone": (None, [ctypes.c_uint64]),
    "gable_model_begin": (ctypes.c_int, [ctypes.c_int]),
    "gable_model_module": (None, [ctypes.c_uint64] + [ctypes.c_char_p] * 3 + [ctypes.c_uint64]),
    "gable_model_allocated": (None, [ctypes.c_uint64] * 2),
    "gable_model_operator_begin": (ctypes.c_uint32, [ctypes.c_char_p] * 3),
    "gable_model_operator_end": (None, [ctypes.c_uint32]),
    "gable_model_operator": (None, [ctypes.c_int, ctypes.c_char_p] + [ctypes.c_double] * 3),
    "gable_model_memory": (None, [ctypes.c_uint64]),
    "gable_model_peak": (None, [ctypes.c_int] * 2 + [ctypes.c_uint64] + [ctypes.c_double] * 2),
    "gable_model_held": (None, [ctypes.c_char_p, ctypes.c_int64, ctypes.c_char_p] + [ctypes.c_uint64] * 2),
    "gable_model_put_off": (None, [ctypes.c_char_p]),
    "gable_model_end": (None, [ctypes.c_char_p]),
    "gable_open": (ctypes.c_int, [ctypes.c_char_p, ctypes.c_int, ctypes.c_int]),
    "gable_tokens": (None, [ctypes.c_uint32] * 2),
    "gable_input_begin": (ctypes.c_int, []),
    "gable_input_end": (None, []),
    "gable_queue_complete": (ctypes.c_int, []),
    "gable_close": (ctypes.c_int, [ctypes.c_int]),
}

# Those that may wait, or write a report: the interpreter's lock is not held meanwhile.
_WAITING = {
    "gable_step": (None, []),
    "gable_step_found": (None, [ctypes.c_int]),
    "gable_profile_begin": (None, [ctypes.c_int] * 4 + [ctypes.c_char_p] * 2),
    "gable_profile_end": (None, []),
    "gable_finish": (None, []),
}


def _load():
    path = _startup.library or os.environ.get("CUDA_INJECTION64_PATH")
    if not path or "gable" not in os.path.basename(path):
        return None
    try:
        library = ctypes.PyDLL(path)
        unlocked = ctypes.CDLL(path)
        for source, functions in ((library, _FUNCTIONS), (unlocked, _WAITING)):
            for name, (result, arguments) in functions.items():
                function = getattr(source, name)
                function.restype, function.argtypes = result, arguments
                setattr(library, name, function)
    except (OSError, AttributeError):
        return None
    return library


_loaded = None


def library():
    """The library's functions; None where the program is not being profiled."""
    global _loaded
    if _loaded is None:
        _loaded = (_load(),)
    return _loaded[0]


def say(sentence):
    """One sentence to the user, as the library says its own."""
    try:
        loaded = library()
        if loaded is not None and not loaded.gable_note(sentence.encode("utf-8", "replace")):
            return
        sys.stderr.write(f"gable: {sentence}\n")
    except Exception:  # no standard error, or a closed one
        pass
