# SPDX-License-Identifier: Apache-2.0
"""The kernels of a compiled region have the layers of the modules that Inductor made them of.

When Inductor has written the code that launches them, its graph still says which modules each launch comes from. While layers are wanted,
that code has a call before each launch, which opens the layer: a part of the region. In a step that describes the model, further calls tell
what the launch does. Its lines stay the same, and when the queue is complete it is again what Inductor wrote.
"""
import ast
import bisect
import ctypes
import functools
import operator
import os
import re
import sys
import threading

from gable_profiler import _compile_anew, _compiled_work, _dynamo, _library, _origins, _startup, _tree

_OPEN, _NAME, _WORK = "_gable_part", "_gable_name_part", "_gable_work"  # in a class two underscores would be another name
_PLAIN, _MARKED, _TELLING = range(3)  # what a function's code is
_MOST_PARTS = 1 << 15  # numbers of parts are no address, as tokens of modules are
_BETWEEN_NAMES, _BEFORE_CLASS = "\x1f", "\x1e"
_OPERATORS = ("extern_kernels", "aten", "inductor_ops", "_quantized")
_SYMBOL = re.compile(r"(?:s|u|ps|zuf|zf)\d+")
_NOT_RUN = ("get_args", "benchmark_compiled_module")


class _Launch:
    """A node of Inductor's schedule, which launches a kernel."""
    __slots__ = ("is_computed", "shares_kernels", "buffers", "origins", "done")

    def __init__(self, scheduled, is_extern, nodes, sources, done):
        self.done = done  # None: nothing
        self.is_computed = not is_extern and not type(scheduled).__name__.startswith("Nop")  # by a kernel of Inductor's own
        self.shares_kernels = getattr(scheduled.get_device(), "type", "") == "cpu"
        self.buffers = tuple((getattr(scheduled, "get_buffer_names", None) or scheduled.get_names)())  # that it writes
        found = {}
        for node in nodes:
            for module in sources.modules(node, is_extern):
                found.setdefault(module.key(), module)
        self.origins = tuple(found.values())


def _chain_of(expression):
    """torch.ops.aten.mm(x)[0] gives ["torch", "ops", "aten", "mm"]; nothing where it does not begin with a name."""
    names = []
    while isinstance(expression, (ast.Attribute, ast.Call, ast.Subscript)):
        if isinstance(expression, ast.Attribute):
            names.append(expression.attr)
        expression = expression.func if isinstance(expression, ast.Call) else expression.value
    return [expression.id, *reversed(names)] if isinstance(expression, ast.Name) else []


def _calls_operator(chain):
    return len(chain) > 1 and (chain[0] in _OPERATORS or chain[:2] == ["torch", "ops"])


def _kernels_of(tree):
    """Names of what async_compile makes."""
    return {target.id for statement in tree.body if isinstance(statement, ast.Assign) and _chain_of(statement.value)[:1] == ["async_compile"]
            for target in statement.targets if isinstance(target, ast.Name)}


class _Marking:
    """Puts the calls into the code of one module that Inductor has written. `lines` are those where the code of each of `launches`
    begins; where Inductor has lost them, as where it makes several functions for CUDA graphs, None."""

    def __init__(self, tree, lines, launches, number_for, work_for):
        self._kernels, self._lines, self._launches = _kernels_of(tree), lines, launches
        self._number_for, self._work_for = number_for, work_for
        self._writer = {buffer: i for i, launch in enumerate(launches) for buffer in launch.buffers}
        self._entered = 0
        self._waiting, self._seen = set(), set()  # places of launches: whose kernel has not been seen, and whose has been
        self._symbols = {}  # names of sizes that have a value here
        self.found = 0

    def begin(self):
        """Of a function."""
        self._symbols = {}

    def _by_line(self, statement, is_kernel):
        until = bisect.bisect_right(self._lines, statement.lineno)
        self._waiting.update(i for i in range(self._entered, until) if self._launches[i].is_computed)
        self._entered = until
        if not is_kernel or not self._waiting:
            return {until - 1} if until else set()
        found = set(self._waiting)  # in C++ several may share a kernel
        self._waiting.clear()
        return found

    def _by_buffers(self, statement, is_kernel):
        """What a kernel reads was written by earlier launches."""
        writers = {self._writer[node.id] for node in ast.walk(statement) if isinstance(node, ast.Name) and node.id in self._writer}
        found = {max(writers)} if writers else set()
        if is_kernel:
            found |= {i for i in writers - self._seen if self._launches[i].is_computed and self._launches[i].shares_kernels}
        self._seen |= found
        return found

    def _numbers(self, statement):
        """Of the part that the statement launches kernels of; 0: of none. And of what it does. None: it launches nothing."""
        call = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
        chain = _chain_of(call) if isinstance(call, ast.Call) else []
        is_kernel = bool(chain) and chain[0] in self._kernels
        if not is_kernel and not _calls_operator(chain):
            return None
        found = (self._by_buffers if self._lines is None else self._by_line)(statement, is_kernel)
        found = [self._launches[i] for i in sorted(found)]
        origins = {origin.key(): origin for launch in found for origin in launch.origins}
        return self._number_for(tuple(origins.values())) if origins else 0, self._work_for([launch.done for launch in found])

    def of(self, body):
        """The statements, with the calls. These hand over the symbols that stand for sizes, as far as the code has given them values."""
        marked = []
        for statement in body:
            for inner in ("body", "orelse", "finalbody"):
                if getattr(statement, inner, None):
                    known = dict(self._symbols)
                    setattr(statement, inner, self.of(getattr(statement, inner)))
                    if not isinstance(statement, ast.With):  # it may not have run
                        self._symbols = known
            numbers = self._numbers(statement)
            self._symbols.update(dict.fromkeys(_symbols_of(statement)))
            if numbers is None:
                marked.append(statement)
                continue
            number, work = numbers
            self.found += 1
            marked += (_at(statement, f"{_OPEN}({number}) or {_NAME}({number})" if number else f"{_OPEN}(0)"),
                       _at(statement, f"{_WORK}({', '.join((str(work), *(f'{name}={name}' for name in self._symbols)))})"), statement,
                       _at(statement, f"{_WORK}(-1)"))
        return marked


class _WithoutWork(ast.NodeTransformer):
    """Takes the calls out that tell what launches do."""

    def visit_Expr(self, statement):
        return None if _chain_of(statement.value)[:1] == [_WORK] else statement


def _at(statement, text):
    made = ast.parse(text).body[0]
    for node in ast.walk(made):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = statement.lineno
            node.col_offset = node.end_col_offset = statement.col_offset
    return made


def _symbols_of(statement):
    """Those that it gives a value."""
    targets = statement.targets if isinstance(statement, ast.Assign) else ()
    names = [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
    return [name for name in names if _SYMBOL.fullmatch(name)]


def _functions(body, outer=()):
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            yield from _functions(statement.body, (*outer, statement.name))
        elif isinstance(statement, ast.FunctionDef):
            yield (*outer, statement.name), statement


def _codes(code, outer=()):
    """{names that lead to it: code} of a module's functions, and of those of its classes."""
    found = {}
    for inner in code.co_consts:
        if hasattr(inner, "co_code"):
            found[(*outer, inner.co_name)] = inner
            if not outer:
                found.update(_codes(inner, (inner.co_name,)))
    return found


def _written(cache):
    """The modules of Python that Inductor has written, in their order."""
    code = getattr(cache, "PyCodeCache", None)
    modules = getattr(code, "modules", None)
    return modules if modules is not None else getattr(code, "cache", {}).values()


class Regions:
    def __init__(self, torch, library, namer):
        self._torch, self._library, self._namer = torch, library, namer
        self._launches = {}  # of the code in a file: what its schedule launches, until it is marked
        self._parts = {}  # number: the modules
        self._numbers = {}  # the other way around
        self._readings = {}  # of what Dynamo calls a frame: how its names lead into the module that is open around the region, or None
        self._codes = []  # (function, its codes: _PLAIN, _MARKED, _TELLING)
        self._code = _PLAIN  # that the functions have
        self._works = []  # what is told of launches
        self._telling = None  # whom it is told to
        self._reader = None
        self._said = False  # that nobody kept the modules of a region
        self._mutex = threading.Lock()
        self._compiling = threading.local()  # what is compiled on a thread
        self._follows = False  # what Inductor writes
        self._open = None
        for function in (*vars(Regions).values(), _Launch.__init__, _compiled_work.Reader.__init__, _compiled_work.Reader.read):
            if hasattr(function, "__code__"):
                _dynamo.keep_out(torch, function, callees=False)
        # Modules that Inductor wrote. Of those so far nobody knows more.
        self._seen = len(_written(sys.modules.get("torch._inductor.codecache")))
        _compile_anew.begin(torch, self._wants_code)
        name = "torch._inductor.debug"
        if name in sys.modules:
            self._follow(sys.modules[name])
        else:
            sys.meta_path.insert(0, _startup.Watcher(name, self._follow))

    def _follow(self, debug):
        """Inductor tells its debugging aids what it has written."""
        try:
            context = debug.DebugContext
            from torch._inductor.virtualized import V
            regions = self

            def fx_graph(self, *args, **kwargs):
                regions._begins(*args[:1])
                return context.__getattr__(self, "fx_graph")(*args, **kwargs)

            def output_code(self, filename, *args, **kwargs):
                regions._wrote(V.graph, filename)
                return context.__getattr__(self, "output_code")(filename, *args, **kwargs)

            for function in (fx_graph, output_code):
                _dynamo.keep_out(self._torch, function, callees=True)
            if not hasattr(context, "output_code"):
                context.output_code = output_code
                self._follows = True
                if not hasattr(context, "fx_graph"):
                    context.fx_graph = fx_graph
        except Exception:  # another PyTorch: its regions are one layer each
            pass

    def _wants_code(self):
        return self._follows and not self._library.gable_queue_complete()

    def _begins(self, module=None):
        try:
            self._compiling.sources = _origins.Sources(module.graph)
        except Exception:  # products that it makes of others have no module
            self._compiling.sources = None

    def _wrote(self, graph, filename):
        try:
            sources = getattr(self._compiling, "sources", None) or _origins.Sources(None)
            self._compiling.sources = None
            places = _origins.places_in_graphs()
            if filename.endswith(".py"):
                nodes = [node for node in graph.scheduler.nodes
                         if any(each.node is not None and _origins.made_of(each.node) for each in node.get_nodes())]
                made_of = [_origins.nodes_of(node, places) for node in nodes]
                works = self._read(graph, sources, [(node, *each) for node, each in zip(nodes, made_of)])
                self._launches[filename] = [_Launch(node, *each[:2], sources, done) for node, each, done in zip(nodes, made_of, works)]
        except Exception:
            pass

    def _read(self, graph, sources, launches):
        try:
            if self._reader is None:
                self._reader = _compiled_work.Reader(self._torch)
            return self._reader.read(graph, sources, launches)
        except Exception:  # it has no formulas
            return [None] * len(launches)

    # --- between two forwards

    def look(self):
        """What was compiled since the last time is followed from now on."""
        try:
            if self._wants_code():
                self._look()
        except Exception:  # regions are one layer each
            self._launches.clear()

    def _look(self):
        cache = sys.modules.get("torch._inductor.codecache")
        modules = _written(cache)
        if (len(modules) == self._seen and self._code != _PLAIN) or not self._mutex.acquire(blocking=False):
            return
        try:
            modules = list(modules)
            if len(modules) < self._seen:  # PyTorch has forgotten them
                self._seen = 0
            new, self._seen = modules[self._seen:], len(modules)
            for module in new:
                if hasattr(module, "call") and not hasattr(module, "benchmark_all_configs"):  # which a single kernel has
                    try:
                        self._mark(cache.PyCodeCache, module)
                    except Exception:  # that one is one layer
                        pass
            if self._code == _PLAIN:
                self._give(_MARKED)
        finally:
            self._mutex.release()

    def _give(self, code):
        self._code = code
        for function, codes in self._codes:
            function.__code__ = codes[code]

    def begin_telling(self, tell):
        """From now on `tell` is called with what each launch does. False: nothing is known of any."""
        self.look()
        if not self._codes or not self._mutex.acquire(blocking=False):
            return False
        try:
            if self._code == _PLAIN:
                return False
            self._telling = tell
            self._give(_TELLING)
            return True
        finally:
            self._mutex.release()

    def end_telling(self):
        """Returns whether all that ran has been told, as far as is known: Inductor wrote nothing meanwhile."""
        self._telling = None
        if not self._mutex.acquire(blocking=False):
            return False
        try:
            if self._code == _TELLING:
                self._give(_MARKED)
            return len(_written(sys.modules.get("torch._inductor.codecache"))) == self._seen
        finally:
            self._mutex.release()

    def _mark(self, cache, module):
        launches = self._launches.pop(module.__file__, None)
        if launches is None:
            if not self._said:
                self._said = True
                self._say_cached()
            return
        lines = (cache.linemaps.get(module.__file__) or [()])[0]
        if len(lines) != len(launches):
            lines = None
        with open(module.__file__, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        marking = _Marking(tree, lines, launches, functools.partial(self._number_for, module.__file__), self._work_for)
        names = []
        for name, function in _functions(tree.body):
            if name[-1] in _NOT_RUN:
                continue
            before, last = marking.found, function.body[-1]
            marking.begin()
            body = marking.of(function.body)
            if marking.found == before:
                continue
            ends = [_at(last, f"{_OPEN}(0)"), _at(last, f"{_WORK}(-1)")]
            function.body = [ast.copy_location(ast.Try(body=body, handlers=[], orelse=[], finalbody=ends), last)]
            names.append(name)
        telling = _codes(compile(ast.fix_missing_locations(tree), module.__file__, "exec"))
        marked = _codes(compile(_WithoutWork().visit(tree), module.__file__, "exec"))
        self._make_open()
        vars(module).update({_OPEN: self._open, _NAME: self._name, _WORK: self._tell})
        for name in names:
            function = vars(module).get(name[0])
            for inner in name[1:]:
                function = vars(function).get(inner)
            if hasattr(function, "__code__") and name in marked:
                codes = function.__code__, marked[name], telling[name]
                self._codes.append((function, codes))
                function.__code__ = codes[self._code]

    def _number_for(self, code, origins):
        """`code`: a region's forward and backward are parts of their own."""
        key = code, tuple(origin.key() for origin in origins)
        number = self._numbers.get(key)
        if number is None:
            if len(self._parts) >= _MOST_PARTS:
                return 0
            number = self._numbers[key] = len(self._parts) + 1
            self._parts[number] = origins
        return number

    def _work_for(self, done):
        self._works.append([each for each in done if each is not None])
        return len(self._works) - 1

    def _make_open(self):
        if self._open is not None:
            return
        api = ctypes.pythonapi
        pointer = lambda function: ctypes.cast(function, ctypes.c_void_p).value  # noqa: E731

        class Method(ctypes.Structure):
            _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("text", ctypes.c_char_p)]

        one_object = 0x0008  # METH_O
        function = self._library.gable_part_function(pointer(api.PyLong_AsLong), pointer(api.Py_IncRef), id(None))
        method = Method(_OPEN.encode(), function, one_object, None)
        api.Py_IncRef(ctypes.py_object(method))  # for ever: code that calls it may outlive us
        # A prototype of our own: the program may have set the types of the functions in ctypes.pythonapi.
        make = ctypes.PYFUNCTYPE(ctypes.py_object, *[ctypes.c_void_p] * 3)(("PyCFunction_NewEx", api))
        self._open = make(ctypes.addressof(method), None, None)

    def _say_cached(self):
        chosen = os.environ.get(_compile_anew.CHOICE) == "1"
        anew = f"Without {_compile_anew.CHOICE}=1 it is written anew, and has" if chosen else "Compiled anew it has"
        _library.say("torch.compile took code that it had written before, which does not say what modules kernels come from: such a region "
                     f"is one layer. {anew} its modules' layers.")

    # --- while the code runs

    def _name(self, number):
        """Opens a part that has no name yet below the layer that is open. Or the queue is complete."""
        try:
            names, modules, within, fused = self._names(self._parts[number])
            texts = (_BETWEEN_NAMES.join(each).encode("utf-8", "replace") for each in (names, fused))
            if self._library.gable_part_name(number, next(texts), modules, within, next(texts)) < 0:
                self._leave()
        except Exception:  # these kernels are the region's
            self._library.gable_part_name(number, b"", 0, 1, b"")

    def _tell(self, number, **symbols):
        """What the launch does that comes now, with these values of symbols; a negative number: it has come."""
        tell = self._telling
        if number < 0:
            self._library.gable_model_operator_end(0)
        if tell is not None:
            tell(self._works[number] if number >= 0 else None, symbols)

    def _leave(self):
        if not self._mutex.acquire(blocking=False):
            return  # the next call does it
        try:
            self._give(_PLAIN)
        finally:
            self._mutex.release()

    def _names(self, origins):
        """(levels below the layer that is open, how many of them are modules, whether these are within the layer's own, the modules
        where there are several)"""
        if self._namer.chooses():
            return (), 0, 1, ()
        module = self._namer.module(self._library.gable_module_at(0))
        resolved = {self._resolved(origin, module): origin.kind for origin in origins}
        within = all(within for _, within in resolved)
        every = [names for names, _ in resolved]
        shared = 0
        while len(every) > 1 and all(len(names) > shared and names[shared] == every[0][shared] for names in every):
            shared += 1
        if len(every) == 1:
            return every[0], len(every[0]), int(within), ()
        labels = [".".join(names[shared:]) or "self" for names in every]
        fused = [".".join(names if is_within else names[1:]) + _BEFORE_CLASS + kind for (names, is_within), kind in resolved.items()]
        return (*every[0][:shared], _compiled_work.listed(labels)), shared, int(within), fused

    def _resolved(self, origin, module):
        """(names, whether they are within the module of the layer that is open)"""
        if module is not None:
            below = self._namer.paths_below(module)
            reading = self._readings[origin.frame()] = _reading(origin, below, _tree.class_name(_tree.unwrapped(module)))
            if reading is not None and origin.text in below:
                return below[origin.text][0], True
        read = self._readings.get(origin.frame(), _as_it_is if origin.outermost else None)
        if read is not None:
            return read(origin.names), True
        return (origin.outermost_kind, *origin.names[len(origin.outermost):]), False


def _as_it_is(names):
    return names


def _without_wrappers(names):
    return tuple(name for name in names if name != "module")


def _reading(origin, below, kind):
    """How the origin's names lead to a module that is among those below the one that is open, of this class. None: they do not."""
    if not origin.outermost and origin.outermost_kind != kind:
        return None
    if origin.text in below:
        return _as_it_is
    outermost = origin.outermost
    # L['args'][0] may be the open module: forward() called through a function that takes what comes. The classes tell.
    kinds = {i: below.get(".".join(outermost[i:]), ((), ""))[1] if outermost[i:] else kind for i in range(1, len(outermost) + 1)}
    later = (operator.itemgetter(slice(i, None)) for i, found in kinds.items() if found == origin.outermost_kind)
    return next((read for read in (_as_it_is, _without_wrappers, *later)
                 if not read(origin.names) or ".".join(read(origin.names)) in below), None)
