# SPDX-License-Identifier: Apache-2.0
"""Where the calls go in code as Inductor writes it for a GPU, and what Dynamo's names of modules say. Needs no PyTorch."""
import ast
import os
import sys
import textwrap
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["GABLE_BUILD"], "lib", "python"))
from gable_profiler import _origins, _regions  # noqa: E402

CODE = """\
import torch
aten = torch.ops.aten
triton_poi_fused_relu_0 = async_compile.triton('triton_poi_fused_relu_0', '''
def triton_poi_fused_relu_0(in_out_ptr0): pass
''', device_str='cuda')
triton_red_fused_sum_1 = async_compile.triton('triton_red_fused_sum_1', '''pass''', device_str='cuda')
def partition_0(args):
    arg0_1, arg1_1, s77 = args
    args.clear()
    if s77 > 8:
        s78 = 8
    with torch.cuda._DeviceGuard(0):
        torch.cuda.set_device(0)
        buf0 = empty_strided_cuda((8, 8), (8, 1), torch.float32)
        extern_kernels.mm(arg0_1, reinterpret_tensor(arg1_1, (8, 8), (1, 8), 0), out=buf0)
        buf1 = buf0; del buf0  # reuse
        stream0 = get_raw_stream(0)
        triton_poi_fused_relu_0.run(buf1, 64, stream=stream0)
        buf2 = torch.ops.aten.topk.default(buf1, 2)
        buf3 = buf2[0]
        buf5 = empty_strided_cuda((), (), torch.float32)
        triton_red_fused_sum_1.run(buf3, buf1, buf5, 1, 16, stream=stream0)
        aten.normal_(buf5)
    return (buf5, )
"""


class Launch:
    def __init__(self, name, computed, *buffers):
        self.is_computed, self.shares_kernels, self.buffers, self.origins = computed, False, buffers, (Origin(name),)
        self.done = name


class Origin:
    def __init__(self, name):
        self.name = name

    def key(self):
        return self.name


LAUNCHES = [Launch("fc", False, "buf0"), Launch("relu", True, "buf1"), Launch("topk", False, "buf2"),
            Launch("topk", False, "buf3"), Launch("loss", True, "buf5")]


class Marking(unittest.TestCase):
    def marked(self, lines):
        """{the statement, as far as its first parenthesis: what the call before it opens; 0: nothing}"""
        tree = ast.parse(CODE)
        opened, told = [], []

        def number_for(origins):
            opened.append(" ".join(origin.name for origin in origins))
            return len(opened)

        def work_for(done):
            told.append(" ".join(done))
            return len(told) - 1

        marking = _regions._Marking(tree, lines, LAUNCHES, number_for, work_for)
        (_, function), = _regions._functions(tree.body)
        body = marking.of(function.body)
        self.assertEqual(marking.found, 5)
        found, last = {}, None
        statements = [ast.unparse(each) for each in next(each for each in body if isinstance(each, ast.With)).body]
        self.assertEqual(sum(each == "_gable_work(-1)" for each in statements), 5)
        for before, after in zip(statements, statements[2:]):
            if before.startswith("_gable_work(") and before != "_gable_work(-1)":
                number = int(before[len("_gable_work("):before.index(",")])
                self.assertEqual(before, f"_gable_work({number}, s77=s77)", "with the sizes that are open")
                self.assertEqual((after, told[number]), ("_gable_work(-1)", opened[number]), "what is told is of the same launch")
        tree.body = body
        statements = next(each for each in _regions._WithoutWork().visit(tree).body if isinstance(each, ast.With)).body
        for text in map(ast.unparse, statements):
            if text.startswith("_gable_part("):
                number = int(text[len("_gable_part("):text.index(")")])
                self.assertEqual(text, f"_gable_part({number}) or _gable_name_part({number})")
                last = opened[number - 1]
            elif last is not None:
                found[text[:text.index("(")]] = last
                last = None
        return found

    wanted = {"extern_kernels.mm": "fc", "triton_poi_fused_relu_0.run": "relu", "buf2 = torch.ops.aten.topk.default": "topk",
              "triton_red_fused_sum_1.run": "loss", "aten.normal_": "loss"}

    def line_of(self, text):
        return CODE[:CODE.index(text)].count("\n") + 1

    def test_by_the_lines_that_inductor_keeps(self):
        lines = [self.line_of(text) for text in ("buf0 = empty", "buf1 = buf0", "buf2 = torch", "buf3 = buf2", "buf5 = empty")]
        self.assertEqual(self.marked(lines), self.wanted)

    def test_by_what_a_launch_writes(self):
        self.assertEqual(self.marked(None), self.wanted)

    def test_code_that_is_marked_has_the_same_lines(self):
        tree = ast.parse(CODE)
        statement = tree.body[-1].body[-1]
        made = _regions._at(statement, "_gable_part(0)")
        self.assertEqual({node.lineno for node in ast.walk(made) if hasattr(node, "lineno")}, {statement.lineno})


class Names(unittest.TestCase):
    def test_of_modules_in_pytorchs_of_several_years(self):
        for path, root, names in (
                ("L['self'].layer1.0.conv1", "L['self']", ("layer1", "0", "conv1")),
                ("L['self'].layer1[0].conv1", "L['self']", ("layer1", "0", "conv1")),
                ("getattr(getattr(L['self'].layer1, '0').conv, '1')", "L['self']", ("layer1", "0", "conv", "1")),
                ('getattr(L["self"].layer1, "0").conv1', 'L["self"]', ("layer1", "0", "conv1")),
                ("L['self']._modules['layer1']._modules['0'].conv1", "L['self']", ("layer1", "0", "conv1")),
                ("L['self'].heads['a_b']", "L['self']", ("heads", "a_b")),
                ("G['model']._orig_mod.fc", "G['model']", ("fc",)),
                ("L['module']._old_forward.__self__.fc", "L['module']", ("fc",)),
                ("L['self'].block._old_forward.__self__.fc", "L['self']", ("block", "fc")),
                ("G['forward'].__self__.fc", "G['forward']", ("fc",)),
                ("L['self'].__dict__['_modules']['base'].__dict__['_modules']['model'].fc", "L['self']", ("base", "model", "fc")),
                ("L['fn']", "L['fn']", ())):
            with self.subTest(path):
                self.assertEqual(_origins.parsed(path)[:2], (root, names))

    def reading(self, path, outermost, kind_of_outermost="Model"):
        """The names by which a module is found in a Net that has `model`, a Model, and `model.0`."""
        origin = _origins.Origin([(outermost, kind_of_outermost), (path, "Linear")])
        below = {"model": (("model",), "Model"), "model.0": (("model", "0"), "Linear"), "fc": (("fc",), "Linear")}
        read = _regions._reading(origin, below, "Net")
        return None if read is None else ".".join(read(origin.names))

    def test_that_lead_into_the_module_around_the_region(self):
        self.assertEqual(self.reading("L['self'].model.0", "L['self'].model"), "model.0")
        self.assertEqual(self.reading("L['self'].module.model.0", "L['self'].module"), "model.0")
        self.assertEqual(self.reading("L['args'][0].model.0", "L['args'][0].model"), "model.0")
        self.assertEqual(self.reading("L['args'][0].fc", "L['args'][0]", "Net"), "fc")
        for path, outermost, kind in (("L['args'][0].fc", "L['args'][0]", "Other"), ("L['nets'][0].model.0", "L['nets'][0].model", "Other"),
                                      ("L['net'].fc", "L['net']", "Other")):
            with self.subTest(path):
                self.assertIsNone(self.reading(path, outermost, kind), "another module's")

    def test_of_a_module_that_is_a_global_of_some_file(self):
        origin = _origins.Origin([("L['self'].head", "Head"), ("G['__import_some_file'].gelu", "GELU")])
        self.assertEqual((origin.root, origin.names, origin.kind), ("L['self']", ("head",), "Head"))

    def test_of_a_class(self):
        self.assertEqual(_origins.class_of(unittest.TestCase), "TestCase")
        self.assertEqual(_origins.class_of("torch.nn.modules.linear.Linear"), "Linear")

    def test_of_what_a_statement_calls(self):
        for text, wanted in (("torch.ops.aten.mm.default(x)[0]", ["torch", "ops", "aten", "mm", "default"]), ("k.run(1)", ["k", "run"]),
                             ("(a + b)(1)", [])):
            self.assertEqual(_regions._chain_of(ast.parse(textwrap.dedent(text)).body[0].value), wanted)


class Node:
    """Of a graph."""

    def __init__(self, name, target="", args=(), module=None, view=False, **meta):
        self.name, self.args, self.kwargs, self.all_input_nodes = name, args, {}, [each for each in args if isinstance(each, Node)]
        self.target = type("Target", (), {"__name__": target, "is_view": view})()
        self.meta = {**meta, **({} if module is None else {"fwd_nn_module_stack": {"": (f"L['self'].{module}", "Linear")}})}


class Graph:
    def __init__(self, *nodes):
        self.nodes = nodes


class Modules(unittest.TestCase):
    made = {"partitioner_tag": "is_backward"}  # by one of Inductor's passes

    def of(self, sources, node, is_extern=True):
        return sorted(".".join(each.names) for each in sources.modules(node, is_extern))

    def test_of_a_product_that_had_the_same_matrices(self):
        gradient, weight, other, addend = (Node(name, module="act") for name in ("gradient", "weight", "other", "addend"))
        sources = _origins.Sources(Graph(Node("mm", "mm", (gradient, weight), "fc", stack_trace="here"),
                                         Node("mm_1", "mm", (gradient, other), "fc2"), Node("mul", "mul", (gradient, addend), "mul")))
        added = Node("addmm", "addmm", (addend, gradient, weight), stack_trace="of the sum")
        self.assertEqual((self.of(sources, added), sources.trace(added)), (["fc"], "here"))
        added = Node("addmm", "addmm", (addend, gradient, weight), **self.made)
        self.assertEqual(self.of(sources, added), ["fc"], "not those of what its matrices come from")
        self.assertEqual(self.of(sources, Node("both", "mm_plus_mm", (gradient, weight, gradient, other))), ["fc", "fc2"])
        self.assertEqual(self.of(sources, Node("add", "add", (gradient, addend)), False), [], "no product")

    def test_of_a_product_by_its_matrices(self):
        sources = _origins.Sources(None)
        gradient, turned = Node("gradient", module="act"), Node("turned", module="fc", view=True)
        padded = Node("pad", "constant_pad_nd", (turned,))
        for operands, wanted in (((gradient, padded), ["fc"]), ((gradient, gradient), ["act"]), ((turned, padded), ["fc"]),
                                 ((gradient, Node("input", module="relu")), ["act", "relu"]), ((Node("weight"), Node("x")), [])):
            with self.subTest(wanted):
                self.assertEqual(self.of(sources, Node("mm", "mm", operands, **self.made)), wanted)
        addend = Node("addend", module="norm", view=True)
        self.assertEqual(self.of(sources, Node("addmm", "addmm", (addend, gradient, padded), **self.made)), ["fc"], "no matrix is added to")
        self.assertEqual(self.of(sources, Node("mm", "mm", (turned, padded), seq_nr=1, **self.made)), [], "it never had one")
        self.assertEqual(self.of(sources, Node("mm", "mm", (turned, padded))), [], "it is none of backward's")
        self.assertEqual(self.of(sources, Node("mm", "mm", (turned, padded), "head", **self.made)), ["head"])
        self.assertEqual(self.of(sources, Node("add", "add", (turned, padded), **self.made), False), [])


if __name__ == "__main__":
    unittest.main()
