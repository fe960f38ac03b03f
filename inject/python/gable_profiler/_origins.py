# SPDX-License-Identifier: Apache-2.0
"""Which modules the nodes of Inductor's graphs come from, by what Dynamo and AOTAutograd have written on them.

Inductor's passes put new nodes in place of others: one for a product and a sum, say. In backward they lose the module. Such a product gets
the module of the product that had its matrices before the passes, or else the modules of the nodes that its matrices come from.
"""
import re

from gable_profiler import _tree

# getattr(L['self'].blocks[0].ff, '0'), L['self']._modules['blocks'], L['self'].blocks.0
_ROOT = re.compile(r"(?:getattr\()*([LG]\[(?:'[^']*'|\"[^\"]*\")\]|[A-Za-z_]\w*)")
_STEP = re.compile(r"\._modules\['([^']+)'\]|\.([A-Za-z_0-9]\w*)|\[['\"]?([^'\"\]]+)['\"]?\]|, ['\"]([^'\"]+)['\"]\)")
_PRODUCTS = ("mm", "addmm", "bmm", "baddbmm")
_WITH_ADDEND = ("addmm", "baddbmm")
_MOST_STEPS = 16  # from a matrix to a node that has a module
_NO_MODULES = _tree.WRAPPED | {"__dict__", "_modules"}


def parsed(path):
    """(what it begins with, the names below, the text of these)"""
    root = _ROOT.match(path)
    if root is None:
        return path, (), ""
    names = []
    for step in _STEP.finditer(path, root.end()):
        name = next(filter(None, step.groups()))
        if name == "__self__":  # of a method that somebody has kept: the module that has it
            del names[-1:]
        elif name not in _NO_MODULES:
            names.append(name)
    return root.group(1), tuple(names), path[root.end() + 1:]


def class_of(kind):
    return kind.__name__ if isinstance(kind, type) else str(kind).rpartition(".")[2]


class Origin:
    """A module by the names that Dynamo has for it, as in nn_module_stack: from the outermost module that was called in the region."""
    __slots__ = ("root", "names", "text", "kind", "outermost", "outermost_kind")

    def __init__(self, stack):
        (outermost, outermost_kind), *_ = stack
        self.root, self.outermost, _ = parsed(outermost)  # names from `root`
        # A module with another root is a global of some file, RoBERTa's gelu say: it is part of the module that calls it.
        self.names, self.text, kind = next((names, text, kind) for (root, names, text), kind in
                                           ((parsed(path), kind) for path, kind in reversed(stack)) if root == self.root)
        self.kind = class_of(kind)
        self.outermost_kind = class_of(outermost_kind)

    def key(self):
        return (*self.frame(), self.names)

    def frame(self):
        """The same for all modules of one call."""
        return self.root, self.outermost, self.outermost_kind


def module_of(node):
    """Of a node of the graph; None where it comes from no module's code."""
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack")
    return Origin(list(stack.values())) if stack else None


def _is_work(node):
    """Neither a view nor a constant, which may have been made for all."""
    return not (getattr(node.target, "is_view", False) or getattr(node.target, "__name__", "") == "getitem" or not node.all_input_nodes)


def nodes_of(scheduled, places):
    """(whether it calls an operator, nodes of the graph that it does the work of, those among them that it was made for)"""
    is_extern = scheduled.is_extern()
    nodes, own = {}, []
    for each in scheduled.get_nodes():
        if each.node is None:
            continue
        nodes.update(dict.fromkeys(made_of(each.node)))
        own.append(getattr(each.node, "origin_node", None))
    own = [node for node in own if node is not None]
    ordered = sorted(nodes, key=places)
    working = list(filter(_is_work, ordered)) or ordered
    if is_extern:  # not what its inputs are views of
        working = own = own or working[-1:]
    return is_extern, working, own


def made_of(buffer):
    ask = getattr(buffer, "get_origins", None)
    return ask() if ask is not None else buffer.origins


def places_in_graphs():
    known = {}

    def place(node):
        if node not in known:
            known.update((each, i) for i, each in enumerate(node.graph.nodes))
        return known.get(node, -1)
    return place


def _name_of(target):
    packet = getattr(target, "_overloadpacket", target)
    return getattr(packet, "__name__", "")


def _operands(node):
    """The nodes that it multiplies, in their order; of others all that it is given."""
    given = [each for each in (*node.args, *node.kwargs.values()) if hasattr(each, "meta")]
    return given[1:] if _name_of(node.target) in _WITH_ADDEND else given


def _pairs(node):
    names = [each.name for each in _operands(node)]
    return zip(names, names[1:])


class Sources:
    """Of one graph's nodes, from before Inductor's passes on."""

    def __init__(self, graph):
        self._products = {}  # (names of two matrices): (module, trace)
        for node in graph.nodes if graph is not None else ():
            module = module_of(node) if _name_of(node.target) in _PRODUCTS else None
            if module is not None:
                self._products.update(dict.fromkeys(_pairs(node), (module, node.meta.get("stack_trace"))))

    def modules(self, node, is_product):
        """The node's own, or else, of a product that Inductor's passes made, what they lost. `is_product`: it may be one by another name."""
        module = module_of(node)
        if module is not None:
            return [module]
        found = [self._products[pair][0] for pair in _pairs(node) if pair in self._products]
        is_product = is_product or _name_of(node.target) in _PRODUCTS
        return found if found or not is_product or not _was_made_of_backward(node) else _modules_of_operands(node)

    def trace(self, node):
        """Where the program has called it."""
        return next((self._products[pair][1] for pair in _pairs(node) if pair in self._products), None) or node.meta.get("stack_trace")


def _was_made_of_backward(node):
    """By one of Inductor's passes. What autograd has made has a number."""
    return node.meta.get("partitioner_tag") == "is_backward" and "seq_nr" not in node.meta


def _modules_of_operands(node):
    """The product's module makes views of its matrices, so theirs. Without any views: the modules of all matrices."""
    found = [each for each in map(_nearest, _operands(node)) if each is not None]
    chosen = [module for module, is_view in found if is_view] or [module for module, _ in found]
    return list({module.key(): module for module in chosen}.values())


def _nearest(node):
    """(the module of this node, or of the first before it that has one, whether that is a view)"""
    for _ in range(_MOST_STEPS):
        module = module_of(node)
        if module is not None:
            return module, getattr(node.target, "is_view", False)
        if not node.all_input_nodes:
            return None
        node = node.all_input_nodes[0]
    return None
