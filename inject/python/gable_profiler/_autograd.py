# SPDX-License-Identifier: Apache-2.0
"""Shows the library how to tell which node of autograd's graph runs on a thread.

libtorch exports what is needed: the number that the next node gets, the node that runs on this thread, and PyTorch's number
of this thread. How a node is laid out differs between versions of PyTorch, so it is found out: by looking for numbers in nodes
of which Python tells the same numbers, and by asking for the running node while a node of ours runs. Without a clear answer
nothing is read.
"""
import ctypes
import os

_NEXT_NUMBER = "_ZN2at15sequence_number4peekEv"
_CURRENT_NODE = "_ZN5torch8autograd16get_current_nodeEv"
_THREAD_ID = "_ZN2at14RecordFunction15currentThreadIdEv"

_POINTER_IN_OBJECT = object.__basicsize__  # a node's Python object: the object's head, then a pointer to the node
_NODE_WORDS = 8  # every node has more
_WORD = 8
_REFERENCES = 1 * _WORD  # of an intrusive pointer's target: behind the address of its virtual functions
_MAKER_AFTER_NUMBER = 3 * _WORD  # sequence_nr_, topological_nr_, has_parent_, thread_id_
_UNTOUCHED = 0x5A5A5A5A5A5A5A5A


def _address(node):
    return ctypes.c_uint64.from_address(id(node) + _POINTER_IN_OBJECT).value


def _words(address):
    if address == 0 or address % _WORD != 0:
        return None
    return list((ctypes.c_uint64 * _NODE_WORDS).from_address(address))


def _number_offset(torch, next_number):
    """Bytes from a node's begin to its number; None when that is not certain."""
    leaf = torch.ones(1, requires_grad=True, device="cpu")
    candidates = set(range(0, _NODE_WORDS * _WORD, _WORD))
    for operation in (leaf.__mul__, leaf.__add__, leaf.__mul__):
        number = next_number()
        node = operation(leaf).grad_fn
        words, number = _words(_address(node)), node._sequence_nr() if hasattr(node, "_sequence_nr") else number
        if words is None:
            return None
        candidates = {place for place in candidates if words[place // _WORD] == number}
    return candidates.pop() if len(candidates) == 1 else None


def _references_offset(torch, library, current_node):
    """Where an intrusive pointer counts; 0 for a std::shared_ptr; None for neither. Runs a backward of one node."""
    answer = []
    result = torch.ones(1, requires_grad=True, device="cpu") * 2
    node = _address(result.grad_fn)

    def while_it_runs(gradients):
        out = (ctypes.c_uint64 * 2)(_UNTOUCHED, _UNTOUCHED)
        before = _words(node)
        # The reference that this takes is never given back: one small node stays.
        library.gable_torch_current_node(current_node, ctypes.addressof(out))
        after = _words(node)
        if out[0] != node:
            return
        if out[1] == _UNTOUCHED and after[_REFERENCES // _WORD] == before[_REFERENCES // _WORD] + 1:
            answer.append(_REFERENCES)
        elif out[1] not in (_UNTOUCHED, 0) and after == before:
            answer.append(0)

    result.grad_fn.register_prehook(while_it_runs)
    result.backward()
    return answer[0] if answer else None


def _functions(torch, *names):
    path = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
    libtorch = ctypes.PyDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    return [getattr(libtorch, name) for name in names]


def number_nodes(torch, library):
    """From now on the library writes down which layer makes which nodes."""
    try:
        functions = _functions(torch, _NEXT_NUMBER, _THREAD_ID)
    except (OSError, AttributeError):
        return  # attach() says so, should the program ever run backward
    library.gable_torch_number(*(ctypes.cast(function, ctypes.c_void_p) for function in functions))


def attach(torch, library):
    """True when kernels that autograd launches can be given to the layers whose forward made their nodes. Backward is run for
    that, so this is called when the program is about to do so itself."""
    try:
        current_node, thread_id, next_number = _functions(torch, _CURRENT_NODE, _THREAD_ID, _NEXT_NUMBER)
    except (OSError, AttributeError):
        return False
    for number_of in (thread_id, next_number):
        number_of.restype, number_of.argtypes = ctypes.c_uint64, []
    current_node = ctypes.cast(current_node, ctypes.c_void_p)
    with torch.enable_grad(), torch.inference_mode(False):
        number = _number_offset(torch, next_number)
        references = None if number is None else _references_offset(torch, library, current_node)
        if references is None:
            return False
        node = (torch.ones(1, requires_grad=True, device="cpu") * 2).grad_fn
        maker = number + _MAKER_AFTER_NUMBER
        words = _words(_address(node))
        if maker >= _NODE_WORDS * _WORD or words[maker // _WORD] != thread_id():
            maker = 0  # graphs made by several threads at once cannot be told apart
    library.gable_torch_attach(current_node, number, maker, references)
    return True
