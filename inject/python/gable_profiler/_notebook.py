# SPDX-License-Identifier: Apache-2.0
"""%load_ext gable in Jupyter and IPython: %%gable runs a cell and shows its page below it."""
import ast
import atexit
import ctypes
import html
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

from IPython import get_ipython
from IPython.core.error import UsageError
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from gable_profiler import _library, _program, _startup
from gable_profiler._api import profile

_NEVER = 1000000000  # steps to wait outside of cells that are profiled
_NOT_INITIALIZED = 3  # CUDA_ERROR_NOT_INITIALIZED
_PATIENCE_S = 15  # for a report: what its windows wait for at their end, and a slow disk
_folder = None  # of the reports, once the extension is loaded


def _gable(*words):
    done = subprocess.run([_program.path(), *words], capture_output=True, text=True, check=False,
                          env={**os.environ, "COLUMNS": "120", "NO_COLOR": "1"})
    if done.returncode != 0:
        raise UsageError(done.stderr.strip().replace("gable: ", "", 1))
    return done.stdout


def _cuda_has_started():
    """Whether this process has called cuInit. The driver reads what it is to load at that moment, and only then."""
    try:
        driver = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return False  # nobody has loaded it yet
    return driver.cuCtxGetCurrent(ctypes.byref(ctypes.c_void_p())) != _NOT_INITIALIZED


def _prepare(options):
    """Has the driver load Gable when it starts, with these options of `gable profile`."""
    if _cuda_has_started():
        raise UsageError("CUDA has started in this kernel, and Gable can only come before: restart the kernel, and load gable in the first cell.")
    variables = json.loads(_gable("env", "--json", *options, "-o", os.path.join(_folder.name, "report.json"), "--wait", str(_NEVER)))
    variables.pop("PYTHONPATH", None)  # the package is here already
    os.environ.update(variables)  # programs that cells start have these too, and wait for ever
    _startup.wait_for_torch()


def _reports():
    """When each report was written last."""
    return {entry.path: entry.stat().st_mtime_ns for entry in os.scandir(_folder.name) if entry.name.endswith(".json")}


def _is_ours(path):
    """Not that of a program which the cell started."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)["run"]["pid"] == os.getpid()


def _await_report(before):
    """The report of the block that has just ended; None where there is none."""
    library, until = _library.library(), time.monotonic() + _PATIENCE_S
    while not library.gable_queue_complete() and time.monotonic() < until:
        time.sleep(0.02)
    new = {path: written for path, written in _reports().items() if before.get(path) != written and _is_ours(path)}
    return max(new, key=new.get, default=None)


class Page:
    """What a notebook shows of a report: the page; where there is only text, the table."""

    def __init__(self, report):
        self._table = _gable("report", report)
        page = report + ".html"
        _gable("report", report, "--html", page)
        with open(page, encoding="utf-8") as file:
            self._page = file.read()

    def _repr_mimebundle_(self, include=None, exclude=None):
        # A document of its own, so that neither sees the other's styles and scripts.
        frame = ('<div><iframe sandbox="allow-scripts allow-downloads" style="width:100%;height:820px;border:0" title="Gable" '
                 f'srcdoc="{html.escape(self._page)}"></iframe></div>')
        return {"text/html": frame, "text/plain": self._table}


def _wait_for_gpu():
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.synchronize()


def _compiled(shell, cell):
    """The cell's code, and that of its last expression, whose value the notebook shows; None where it ends with a statement."""
    source = shell.transform_cell(cell)
    name = shell.compile.cache(source, shell.execution_count, raw_code=cell)
    tree = shell.transform_ast(shell.compile.ast_parse(source, filename=name))
    last = [tree.body.pop()] if tree.body and isinstance(tree.body[-1], ast.Expr) else []
    return (shell.compile(tree, name, "exec"), shell.compile(ast.Interactive(last), name, "single") if last else None)


@magic_arguments()
@argument("--wait", type=int, default=1, help="steps before anything is measured")
@argument("--warmup", type=int, help="steps that are watched, not measured")
@argument("--active", type=int, help="windows of each phase")
@argument("--include", action="append", default=[], help="layers whose kernels are counted")
@argument("--exclude", action="append", default=[], help="layers whose kernels are not counted")
@argument("-o", "--output", help="keep the report under this name")
def _cell(line, cell):
    """Runs the cell once, profiled, and shows its page."""
    options = parse_argstring(_cell, line)
    if _library.library() is None:
        raise UsageError("Gable's library does not load: gable doctor in a terminal says what is missing.")
    try:
        block = profile(wait=options.wait, warmup=options.warmup, active=options.active, include=options.include, exclude=options.exclude)
    except ValueError as problem:
        raise UsageError(str(problem).replace("gable.profile", "%%gable")) from None
    __tracebackhide__ = True  # an error of the cell's own has the cell's lines alone
    statements, value = _compiled(get_ipython(), cell)
    before = _reports()
    try:
        with block:
            exec(statements, get_ipython().user_ns)
            if value is not None:
                exec(value, get_ipython().user_ns)
            _wait_for_gpu()
    finally:
        report = _await_report(before)
        if report is None:
            print("gable: no CUDA kernel launch was seen in this cell, so there is no page.", file=sys.stderr)
        else:
            display(Page(report))
            if options.output:
                shutil.copyfile(report, os.path.expanduser(options.output))


def _finish():
    library = _library.library()
    if library is not None:
        library.gable_finish()


def _line(line):
    """Options of `gable profile` for the cells of this kernel: before CUDA starts."""
    _prepare(shlex.split(line))


def load(shell):
    global _folder
    if _folder is None:
        held = os.environ.get("CUDA_INJECTION64_PATH", "")
        if held and "gable" not in os.path.basename(held):
            raise UsageError(f"Another tool is to be injected: CUDA_INJECTION64_PATH is {held}. Start the kernel without it.")
        _folder = tempfile.TemporaryDirectory(prefix="gable-notebook-")
        atexit.register(_finish)  # before the folder goes
        try:
            _prepare([])
        except UsageError:
            _folder = None
            raise
    shell.register_magic_function(_cell, "cell", "gable")
    shell.register_magic_function(_line, "line", "gable")
