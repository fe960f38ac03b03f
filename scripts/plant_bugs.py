#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants small bugs, one at a time, and says which of them the fast tests let pass: plant_bugs.py --seed N --count 50

The bugs are drawn at random over the folders of analysis, collector and tools: a comparison flipped, a statement left out, a
number off by one. They are planted in a copy of the tree at HEAD, below --work, never in the working tree. Tests of a bug run
until the first red: clang's check of locks where a lock was left out, the folder's unit program, then programs on the playback
GPU. scripts/plant_bugs.equivalent lists bugs that change nothing anybody could see."""
import argparse
import collections
import fcntl
import importlib.util
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PARTS = ("analysis/", "collector/", "tools/")

# What sees a bug in a folder, the first that fits: unit programs beside that of its own name (see own_program), and the tests on
# the playback GPU, as ctest's regular expression.
REPORTS = r"report\.(work|metrics|graphs|scopes|borders|trouble|budget)"
TESTS = [
    ("analysis/events", ["test_analysis_profile", "test_analysis_builder"], rf"{REPORTS}|import\..*|predict|recordings\.seeded_report"),
    ("analysis/base", ["test_analysis_masking"], rf"{REPORTS}|report\.endings|compare\..*|import\..*"),
    ("analysis/masking", [], r"report\.(scopes|trouble)"),
    ("analysis/recording", ["test_analysis_recorder"], rf"{REPORTS}|recordings\..*"),
    ("analysis/step_graph", [], r"house\.tree"),  # its own program sees everything; nothing uses the folder yet
    ("analysis/recorder", [], rf"{REPORTS}|report\.(record|endings)"),
    ("analysis", ["test_analysis_builder"], rf"{REPORTS}|compare\..*|import\..*|predict|recordings\.(seeded|resnet50)_report"),
    ("collector/options", [], rf"{REPORTS}|report\.endings"),
    ("collector/process", ["test_collector_session"], rf"{REPORTS}|report\.endings|failures\.(ladder|codes)|inject|threads"),
    ("collector/runtime", ["test_collector_session"], rf"{REPORTS}|report\.endings|failures\.(ladder|codes)|inject|threads"),
    ("collector", ["test_collector_windows", "test_collector_session"],
     rf"{REPORTS}|report\.(endings|old_cupti|old_driver)|failures\.(ladder|codes)|recordings\.seeded_report|threads"),
    ("tools/playback", ["test_playback"], rf"{REPORTS}|report\.(endings|old_cupti|old_driver)|failures\.(ladder|codes)"),
    ("tools/import", [], r"import\..*"),
    ("tools/streams", [], r"import\..*"),
    ("tools/gpus", [], r"import\..*|predict"),
    ("tools/predict", [], r"predict"),
    ("tools/plan", [], r"plan|plan\.against"),
    ("tools/compare", [], r"compare\..*"),
    ("tools/merge", [], r"compare\..*"),
    ("tools/files", [], r"compare\..*|report\.trouble"),
    ("tools/export", [], r"page\.(export|trace)|compare\.outputs|report\.work"),
    ("tools/page", [], r"page\.(export|trace|unknown)|compare\..*"),
    ("tools/doctor", [], r"report\.(trouble|old_cupti|old_driver)"),
    ("tools/ceilings", [], r"ceilings"),
    ("tools/launch", [], r"report\.(trouble|endings)|inject"),
    ("tools", [], r"report\.(work|metrics|scopes|trouble|endings)|compare\..*|predict|import\.(ncu|gpu|progress|join)|ceilings"),
]
# Unit tests that take seconds, and the folder for which they run all the same.
SLOW = [("EveryFamily.*", "collector/metrics"), ("DoctorMetrics.ThePage*", "tools/doctor"), ("DoctorChip.FitsTheTerminal", "tools/doctor"),
        ("RoofKernels.CanBeAssembled", "tools/ceilings")]
# What users have, and what a test on the playback GPU runs: built before such tests. Tests' own programs never change.
PRODUCT = ["gable", "gable_inject", "gable_python", "gable_playback", "gable-sample", "gable_playback_old_cupti"]

Bug = collections.namedtuple("Bug", "path line operator before after")
# A table that a test writes and compares again: nobody typed it.
WRITTEN = re.compile(r"^// .*\bWritten by\s+(// )?tests/", re.MULTILINE)


# ---- Which bugs there are ----

def code_only(text):
    """The lines of `text` with comments and what stands in quotes blanked, at their old length."""
    quiet = lambda m: re.sub(r"[^\n]", "\1", m[0])  # nothing that any pattern below fits
    token = r'//[^\n]*|/\*.*?\*/|R"(?P<end>[^(\s]*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"' + r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
    return re.sub(token, quiet, text, flags=re.DOTALL).split("\n")


# A bug here could do harm to the machine: it might end, or delete, what is not its own.
HARM = re.compile(r"\b(kill|unlink|rename|remove|remove_all|rmdir|setrlimit|fork|execv\w*)\s*\(")
NO_CODE = re.compile(r"^\s*(#|using\b|namespace\b|template\b|static_assert\b|friend\b|extern\b|typedef\b)|\bassert\(|\bGABLE_[A-Z_]+\(")
SWAPS = [(" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" == ", " != "), (" != ", " == "), (" + ", " - "),
         (" - ", " + "), (" += ", " -= "), (" -= ", " += "), (" * ", " / "), (" / ", " * "), (" && ", " || "), (" || ", " && "),
         ("std::min(", "std::max("), ("std::max(", "std::min("), ("std::min<", "std::max<"), ("std::max<", "std::min<"),
         ("return true;", "return false;"), ("return false;", "return true;")]
NUMBER = re.compile(r"(?<![\w.'])(\d[\d']*)(\.\d+)?(e[+-]?\d+)?([uUlLfF]*)(?![\w.'])")
LOCK = re.compile(r"^\s*(const )?(MutexLock|UniqueLock|ReadLock|WriteLock|TryLock) \w+[({].*[)}];\s*$")
LEAVE = re.compile(r"^\s*(if (constexpr )?\(.*\) )?(return\b[^;]*|continue|break);\s*$")
STATEMENT = re.compile(r"^\s*(?!return\b|delete\b|throw\b|else\b|case\b|default\b)(\([\w:]+\))?[\w:.\->\[\]()*]+"
                       r"( ([-+*/|&]|<<)?= [^;]+|\([^;]*\)|\+\+|--)?;\s*$")
TRUTH = re.compile(r" (==|!=|<|>|<=|>=|&&|\|\|) |^!")


def closing(code, at):
    """Where the bracket that opens at `at` closes, or -1 when that is on another line."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] in "([{") - (code[i] in ")]}")
        if depth == 0:
            return i
    return -1


def other_numbers(match):
    digits, fraction, power, suffix = match.groups()
    whole = digits.replace("'", "")
    if fraction or power:
        return [f"{float(match[0].rstrip(suffix).replace(chr(39), '')) * 10:g}{suffix}" if not suffix.strip("fF") else match[0]]
    if whole.startswith("0") and whole != "0":
        return []  # octal
    return [f"{int(whole) + 1}{suffix}"] + ([f"{int(whole) - 1}{suffix}", f"{int(whole) * 10}{suffix}"] if int(whole) > 0 else [])


def bugs_of_line(line, code, begins):
    """(operator, changed line) for each small bug that fits in a line. `code`: the same without comments and quotes. `begins`:
    whether a statement may begin in this line."""
    if not code.strip("\1 ") or NO_CODE.search(code) or HARM.search(code):
        return []
    found = []

    def put(operator, start, end, text):
        found.append((operator, line[:start] + text + line[end:]))

    for old, new in SWAPS:
        for match in re.finditer(re.escape(old), code):
            beside = code[max(0, match.start() - 1):match.start()] + code[match.end():match.end() + 1]
            if old in (" + ", " - ", " * ", " / ") and "\1" in beside:
                continue  # text put together
            put(f"{old.strip('( ;')} to {new.strip('( ;')}", match.start(), match.end(), new)
    for match in NUMBER.finditer(code):
        for other in other_numbers(match):
            if other != match[0]:
                put(f"{match[0]} to {other}", match.start(), match.end(), other)
    for match in re.finditer(r"\b(if|while) \(", code):
        start, end = match.end() - 1, closing(code, match.end() - 1)
        inside = code[start + 1:end]
        if end > 0 and " = " not in inside and ";" not in inside:
            put(f"{match[1]} negated", start, end + 1, f"(!{line[start:end + 1]})")
    match = re.search(r"\breturn ([^;]*);", code)
    if match and TRUTH.search(match[1]) and " ? " not in match[1] and not re.match(r"true|false", match[1]):
        put("return inverted", match.start(1), match.end(1), f"!({line[match.start(1):match.end(1)]})")
    code = code.rstrip("\1 ")
    if LOCK.match(code):
        found.append(("lock left out", left_out(line, code)))
    elif begins and LEAVE.match(code):
        found.append((f"{LEAVE.match(code)[3].split()[0]} left out", left_out(line, code)))
    elif begins and STATEMENT.match(code) and re.search(r"[=(+-]", code) and code.count("(") == code.count(")"):
        found.append(("statement left out", left_out(line, code)))
    return found


def left_out(line, code):
    """The line without its code; what was said about it stays."""
    return (line[:len(line) - len(line.lstrip())] + line[len(code):].strip()).rstrip()


def bugs_of(path, text):
    """Every bug of a source, as lists: one for each line that has any."""
    lines, codes, before, result = text.split("\n"), code_only(text), "{", []
    for number, (line, code) in enumerate(zip(lines, codes), 1):
        begins = before.endswith((";", "{", "}", ":"))
        result.append([Bug(path, number, operator, line, after) for operator, after in bugs_of_line(line, code, begins)])
        before = code.strip("\1 ") or before
    return [bugs for bugs in result if bugs]


def bugs_in(tree):
    """{folder: [the bugs of a line, …]} of all folders with sources."""
    folders = collections.defaultdict(list)
    for file in sorted(f for part in PARTS for f in (tree / part).rglob("*") if f.suffix in (".cpp", ".h")):
        path = file.relative_to(tree).as_posix()
        text = file.read_text(encoding="utf-8")
        if not WRITTEN.search(text):
            folders[os.path.dirname(path)] += bugs_of(path, text)
    return {folder: lines for folder, lines in folders.items() if lines}


def draw(folders, seed):
    """Bugs in an order that the seed decides: a folder, a line of it, a bug of the line. None comes twice."""
    chance, left = random.Random(seed), {folder: list(lines) for folder, lines in sorted(folders.items())}
    while left:
        folder = chance.choice(list(left))
        line = left[folder].pop(chance.randrange(len(left[folder])))
        if not left[folder]:
            del left[folder]
        yield chance.choice(line)


def planted(text, bug):
    lines = text.split("\n")
    if lines[bug.line - 1] != bug.before:
        raise ValueError(f"{bug.path}:{bug.line} is not the line that was drawn")
    lines[bug.line - 1] = bug.after
    return "\n".join(lines)


def as_diff(bug):
    return f"--- {bug.path}:{bug.line} ({bug.operator})\n-{bug.before}\n+{bug.after}"


def read_equivalents(text):
    """{(path, operator, line): reason}. An entry is a line `PATH: OPERATOR: CODE`, below its reason: lines that begin with #."""
    found, reason = {}, []
    for line in text.splitlines():
        if line.startswith("#"):
            reason.append(line.lstrip("# "))
        elif not line.strip():
            reason = []
        else:
            path, operator, code = line.split(": ", 2)
            if not reason:
                raise ValueError(f"plant_bugs.equivalent: no reason stands above {line!r}")
            found[path, operator, code.strip()] = " ".join(reason)
    return found


# ---- A copy of the tree, and what runs in it ----

class Copy:
    """A clone of the repository at HEAD, with a build folder of its own."""

    def __init__(self, work, jobs, units):
        self.tree, self.jobs, self.units, self.mark = work / "tree", jobs, units, f"GABLE_PLANT_BUGS={os.getpid()}"
        self.build = self.tree / "build-ci"
        self.environment = dict(os.environ, CCACHE_BASEDIR=str(self.tree), CCACHE_NOHASHDIR="true", CCACHE_IGNOREOPTIONS="-Werror",
                                CCACHE_SLOPPINESS="pch_defines,time_macros,include_file_mtime,include_file_ctime",
                                **dict([self.mark.split("=")]))
        self.head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
        if not (self.tree / ".git").exists():
            self.must(["git", "clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(self.tree)], work)
        self.must(["git", "fetch", "--quiet", str(ROOT), "HEAD"], self.tree)
        self.must(["git", "checkout", "--quiet", "--force", "--detach", self.head], self.tree)

    def must(self, command, folder=None):
        code, text = self.run(command, 7200, folder)
        if code != 0:
            sys.exit(f"plant_bugs: {' '.join(command)} failed:\n{text[-4000:]}")

    def run(self, command, seconds, folder=None, limited=False):
        """Exit code, None after `seconds`, and output. Nothing that the command started is left behind."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 30, 4 << 30))
            resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with tempfile.TemporaryFile() as output:
            with subprocess.Popen(command, cwd=folder or self.tree, env=self.environment, stdin=subprocess.DEVNULL, stdout=output,
                                  stderr=subprocess.STDOUT, preexec_fn=limit if limited else None, start_new_session=True) as done:
                try:
                    code = done.wait(seconds)
                except subprocess.TimeoutExpired:
                    code = None
                finally:
                    self.end_what_runs()
            output.seek(0)
            return code, output.read().decode(errors="replace")

    def end_what_runs(self):
        """Ends what carries this run's mark in its environment."""
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if int(folder.name) != os.getpid() and self.mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                    os.kill(int(folder.name), signal.SIGKILL)
            except OSError:
                pass  # it has ended, or is another user's

    def make(self):
        """Configures and builds. What scripts/test.sh has put into the user's build folder is used from there."""
        self.build.mkdir(exist_ok=True)
        for name in ("cuda-wheels", "torch", "torchvision", "browser", "disassembler", "secrets", "cupti-wheels"):
            if (ROOT / "build-ci" / name).exists() and not (self.build / name).exists():
                (self.build / name).symlink_to((ROOT / "build-ci" / name).resolve())
        self.must(["scripts/setup.sh", "--cuda", "build-ci"])
        launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        self.must(["cmake", "--preset", "ci", "-DGABLE_UNITY=OFF", *launcher])
        if not self.units and not self.compiles(["all"]):
            sys.exit(f"plant_bugs: the copy in {self.tree} does not build")

    def compiles(self, targets):
        code, text = self.run(["cmake", "--build", str(self.build), "-j", str(self.jobs), "--target", *targets], 3600)
        if code != 0 and re.search(r"No space left|unknown target|Killed signal", text):
            sys.exit(f"plant_bugs: the build failed:\n{text[-4000:]}")
        return code == 0

    def locks_are_right(self, path):
        """Clang's check of the sources of the folder of `path`; a lock in a header is used in them."""
        spec = importlib.util.spec_from_file_location("check_locks", self.tree / "scripts" / "check_locks.py")
        checker = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(checker)
        for source, (command, folder) in checker.commands(self.build, {path.split("/")[0]}).items():
            if source == self.tree / path or (path.endswith(".h") and source.parent == (self.tree / path).parent):
                # Clang cannot read the headers that GCC has compiled beforehand.
                plain = [a for i, a in enumerate(command) if a != "-include" and command[i - 1] != "-include"]
                if self.run(plain, 600, folder)[0] != 0:
                    return False
        return True

    def own_program(self, folder):
        """The unit program of a folder, or else of the next folder above that has one: test_FOLDER, with _ for /."""
        built = set(re.findall(r"^build bin/(\w+)[ :]", (self.build / "build.ninja").read_text(encoding="utf-8"), re.MULTILINE))
        while folder:
            if "test_" + folder.replace("/", "_") in built:
                return "test_" + folder.replace("/", "_")
            folder = os.path.dirname(folder)
        return None

    def checks(self, folder):
        """What to run for a bug in a folder: unit programs, then tests of ctest in a row."""
        programs, tests = next((p, t) for f, p, t in TESTS if folder == f or folder.startswith(f + "/"))
        own = self.own_program(folder)
        programs = ([own] if own else []) + [p for p in programs if p != own]
        left = ":".join(name for name, place in SLOW if place != folder)
        result = [Check(p, [p], [str(self.build / "bin" / p), "--gtest_brief=1", "--gtest_fail_fast", f"--gtest_filter=-{left}"])
                  for p in programs]
        if self.units:
            return result
        pattern = f"^({tests})$"
        return result + [Check(pattern, PRODUCT, ["ctest", "--test-dir", str(self.build), "-R", pattern, "-LE", "nightly",
                                                  "--stop-on-failure", "--no-tests=error", "-j", str(self.jobs)])]

    def time_of(self, check, say):
        """How long a check takes without a bug, which must not be planted now. None where it is red without one: it sees none,
        and is left out. Kept, as it is the same for a commit."""
        kept = self.tree.parent / "clean.json"
        times = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
        if times.get("commit") != self.head:
            times = {"commit": self.head}
        if check.key not in times:
            if not self.compiles(check.targets):
                sys.exit(f"plant_bugs: {' '.join(check.targets)} cannot be built without a bug")
            begun = time.monotonic()
            code, text = self.run(check.command, 1800, limited=True)
            if "No tests were found" in text:
                sys.exit(f"plant_bugs: no test is called {check.name}")
            times[check.key] = time.monotonic() - begun if code == 0 else None
            say(f"plant_bugs: without a bug: {check.name}: " + (f"{times[check.key]:.0f} s" if code == 0 else
                                                                f"red, so not used: {who_saw_it(check, code, text)}"))
            kept.write_text(json.dumps(times), encoding="utf-8")
        return times[check.key]


class Check:
    def __init__(self, name, targets, command):
        self.name, self.targets, self.command, self.key = name, targets, command, " ".join(command)


def who_saw_it(check, code, text):
    if code is None:
        return f"{check.name}: it never ended"
    red = re.search(r"^\[  FAILED  \] (\w+\.\w+|[\w/]+\.[\w/]+)", text, re.MULTILINE)
    if red:
        return f"{check.name} {red[1]}"
    red = re.search(r"Test +#\d+: (\S+) \.*\W*(Failed|Timeout|Exception|Subprocess|SEGFAULT)", text)
    if red:
        return red[1] + ("" if red[2] == "Failed" else f" ({red[2]})")
    return f"{check.name}: ended with {code}"


def try_bug(copy, bug, say):
    """Who caught it, '' when nobody did, None when it does not compile. The copy is as before afterwards."""
    file = copy.tree / bug.path
    text = file.read_text(encoding="utf-8")
    checks = [(check, copy.time_of(check, say)) for check in copy.checks(os.path.dirname(bug.path))]
    locks = bug.operator == "lock left out" and shutil.which("clang++-14") and copy.locks_are_right(bug.path)
    try:
        file.write_text(planted(text, bug), encoding="utf-8")
        if locks and not copy.locks_are_right(bug.path):
            return "clang's check of locks"
        for check, seconds in checks:
            if seconds is None:
                continue
            if not copy.compiles(check.targets):
                return None
            code, output = copy.run(check.command, 60 + 10 * seconds, limited=True)
            if code != 0:
                return who_saw_it(check, code, output)
        return ""
    finally:
        file.write_text(text, encoding="utf-8")  # its time stays new, so that the next build takes it


def summary(rows):
    """Lines of a table by folder, and the percentage caught. `rows`: (bug, caught by, reason for being equivalent)."""
    counts = collections.defaultdict(lambda: [0, 0, 0, 0])
    for bug, caught, reason in rows:
        for name in (os.path.dirname(bug.path), "all"):
            counts[name][0] += 1
            counts[name][1 if caught else 2 if not reason else 3] += 1
    total = counts["all"]
    share = 100 * total[1] / (total[1] + total[2]) if total[1] + total[2] else 100
    lines = [f"{'folder':32}  drawn  caught  survived  equivalent"]
    lines += [f"{name:32} {c[0]:6} {c[1]:7} {c[2]:9} {c[3]:11}" for name, c in sorted(counts.items(), key=lambda i: (i[0] == "all", i[0]))]
    return lines, share


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, default=None, help="which bugs are drawn; the same number draws the same (default: random)")
    parser.add_argument("--count", type=int, default=50, help="how many bugs (default 50)")
    parser.add_argument("--only", action="append", metavar="PATH", help="bugs in this file, or in this folder and those below; may be repeated")
    parser.add_argument("--list", action="store_true", help="show the bugs as diffs and do no more")
    parser.add_argument("--units", action="store_true", help="run the unit programs only, which takes seconds a bug")
    parser.add_argument("--work", type=pathlib.Path, help="where the copy of the tree lies, and stays for the next time (default: a "
                        "temporary folder)")
    parser.add_argument("--at-least", type=float, default=90, metavar="PERCENT", help="fail when fewer are caught (default 90)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at once, of compilers and of ctest's tests")
    return parser.parse_args(arguments)


def main():
    options = parse(sys.argv[1:])
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10 ** 6)

    def say(text):
        print(text, flush=True)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit("plant_bugs: ended"))  # what it started ends with it
    if options.list:
        return list_bugs(options, seed, say)
    if options.work:
        return work_in(options.work.resolve(), options, seed, say)
    with tempfile.TemporaryDirectory(prefix="gable-bugs-") as work:
        return work_in(pathlib.Path(work), options, seed, say)


def wanted(tree, options):
    folders = bugs_in(tree)
    if options.only:
        only = [path.rstrip("/") for path in options.only]
        folders = {folder: [line for line in lines if any(f"{line[0].path}/".startswith(f"{path}/") for path in only)]
                   for folder, lines in folders.items()}
        folders = {folder: lines for folder, lines in folders.items() if lines}
    if not folders:
        sys.exit(f"plant_bugs: no sources in {', '.join(options.only)}")
    return folders


def list_bugs(options, seed, say):
    for bug, _ in zip(draw(wanted(ROOT, options), seed), range(options.count)):
        say(as_diff(bug))
    return 0


def work_in(work, options, seed, say):
    work.mkdir(parents=True, exist_ok=True)
    with open(work / "lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            sys.exit(f"plant_bugs: another one works in {work}")
        return plant(work, options, seed, say)


def plant(work, options, seed, say):
    say(f"plant_bugs: seed {seed}")
    copy = Copy(work, options.jobs, options.units)
    equivalents = read_equivalents((ROOT / "scripts" / "plant_bugs.equivalent").read_text(encoding="utf-8"))
    for path, operator, code in equivalents:
        file = copy.tree / path
        if not file.exists() or code not in (line.strip() for line in file.read_text(encoding="utf-8").split("\n")):
            say(f"plant_bugs.equivalent: there is no such line any more: {path}: {operator}: {code}")
    folders = wanted(copy.tree, options)
    copy.make()
    rows = []
    for bug in draw(folders, seed):
        if len(rows) == options.count:
            break
        begun, reason = time.monotonic(), equivalents.get((bug.path, bug.operator, bug.before.strip()), "")
        caught = "" if reason else try_bug(copy, bug, say)
        if caught is None:
            continue
        rows.append((bug, caught, reason))
        end = f"caught by {caught}" if caught else f"equivalent: {reason}" if reason else "SURVIVED\n" + as_diff(bug)
        say(f"plant_bugs: {len(rows)} of {options.count}: {bug.path}:{bug.line}: {bug.operator}: {end}"
            + (f" ({time.monotonic() - begun:.0f} s)" if caught else ""))
    table, share = summary(rows)
    say("\n".join(table))
    say(f"plant_bugs: seed {seed}: {share:.0f} % caught")
    return 0 if share >= options.at_least else 1


if __name__ == "__main__":
    sys.exit(main())
