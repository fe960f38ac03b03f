# SPDX-License-Identifier: Apache-2.0
"""The table of hazards: every program of the table runs without Gable and with it, by every way in, and must do the same.

    table.py [--every] [--list] [--by-hand] [NAME…]

The same: how it ends, what it prints to standard output, what it prints to standard error beside Gable's own sentences, and
the files it leaves, beside reports. Most programs know nothing of CUDA: libgable_hazard_gpu.so opens the playback GPU in them
before main and launches kernels, without Gable too, so that both runs differ by Gable alone.

Without --every it is the short form: every second program that takes no time, each by one way in, the next by the next way."""
import argparse
import collections
import concurrent.futures
import dataclasses
import hashlib
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile

from table_case import ANY, INJECTION, PRELOAD, PROFILE

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("GABLE_BUILD", os.path.join(os.path.dirname(os.path.dirname(HERE)), "build-ci"))
GABLE = os.path.join(BUILD, "bin", "gable")
HAZARD = os.path.join(BUILD, "bin", "gable_hazard")
LIBRARY = os.environ.get("GABLE_TABLE_LIBRARY", os.path.join(BUILD, "lib", "libgable_inject.so"))
OPENS_GPU = os.path.join(BUILD, "lib", "libgable_hazard_gpu.so")
PLAYBACK = os.path.join(BUILD, "lib", "playback")
RECORDING = os.path.join(HERE, "gpu.jsonl")
PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable
COLLECT = ["--step-range=^step", "--active=1"]
REPORTS = ".reports"  # behind the name of a program's folder: its own may be one that nobody writes to
LONGEST_S = 120  # no program of the table takes seconds

@dataclasses.dataclass
class Outcome:
    code: int
    out: bytes
    err: bytes
    files: dict
    reports: int

    def differences(self, other, varies):
        found = []
        if self.code != other.code:
            found.append(f"ends with {other.code}, not {self.code}")
        for part in ("out", "err"):
            if f"std{part}" not in varies and getattr(self, part) != getattr(other, part):
                found.append(f"std{part}: {shorter(getattr(other, part))}, not {shorter(getattr(self, part))}")
        if "files" not in varies and self.files != other.files:
            changed = sorted(name for name in self.files.keys() | other.files.keys()
                             if self.files.get(name) != other.files.get(name))
            found.append(f"files that differ: {' '.join(changed)}")
        return found


def shorter(text, most=600):
    return repr(text if len(text) <= most else text[:most // 2] + b" [...] " + text[-most // 2:])


def files_below(folder):
    """Name: (kind, mode, what it holds) of all that lies in the folder."""
    found = {}
    for parent, folders, names in os.walk(folder):
        for name in folders + names:
            path = os.path.join(parent, name)
            about = os.lstat(path)
            inside = os.path.relpath(path, folder)
            if stat.S_ISREG(about.st_mode):
                with open(path, "rb") as file:
                    found[inside] = ("file", stat.S_IMODE(about.st_mode), hashlib.sha256(file.read()).hexdigest())
            elif stat.S_ISLNK(about.st_mode):
                found[inside] = ("link", os.readlink(path))
            else:
                found[inside] = (stat.S_IFMT(about.st_mode), stat.S_IMODE(about.st_mode))
    return found


def files_left(folder):
    """Those of the program, beside them whatever lies among the reports and is none; and how many reports there are."""
    found, beside = files_below(folder), files_below(folder + REPORTS)
    names = [name for name in beside if re.fullmatch(r"r-[^/]*\.json", name)]
    return found | {name: about for name, about in beside.items() if name not in names}, len(names)


def make_folder(folder):
    """What every program finds in its working folder."""
    for name in ("home", "tmp", "tree/a/b", "tree/c"):
        os.makedirs(os.path.join(folder, name))
    text = "".join(f"line {number} {(number * 7919) % 1000}\n" for number in range(300))
    for name in ("in.txt", "tree/a/one.txt", "tree/a/b/two.txt", "tree/c/three.txt"):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(name + "\n" + text)
    for parent, _, _ in os.walk(folder):
        os.chmod(parent, 0o777)


def environment(case, folder, way, gpu):
    """(what the prefix and the program have, what the program alone has)"""
    common = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": f"{folder}/home", "TMPDIR": f"{folder}/tmp", "LC_ALL": "C.UTF-8",
              "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "TERM": "dumb"} | dict(case.variables)
    options = " ".join([*COLLECT, "-o", f"{folder}{REPORTS}/r-%p.json"])
    inner, preload = {} if case.gpu else {"HAZARD_GPU": "later"}, []
    if gpu:
        preload.append(OPENS_GPU)
    if way == PROFILE:
        common["GABLE_PLAYBACK_VIOLATIONS"] = folder + ".violations"
    elif gpu or not case.gpu:
        before = dict(case.variables).get("LD_LIBRARY_PATH")
        inner |= {"LD_LIBRARY_PATH": PLAYBACK + (":" + before if before else ""), "GABLE_PLAYBACK": RECORDING,
                  "GABLE_PLAYBACK_VIOLATIONS": folder + ".violations"}
    if way in (ANY, PRELOAD):
        preload.append(LIBRARY)
    if way in (ANY, PRELOAD, INJECTION):
        inner["GABLE_OPTIONS"] = options
    if way == INJECTION:
        inner["CUDA_INJECTION64_PATH"] = LIBRARY
    own = dict(case.variables).get("LD_PRELOAD")
    if own:
        preload.append(own)
    if preload:
        inner["LD_PRELOAD"] = " ".join(preload)
    common.pop("LD_PRELOAD", None)
    return common, inner


def command_line(case, folder, way, inner):
    names = {"hazard": HAZARD, "python": PYTHON, "here": folder, "build": BUILD, "opens": OPENS_GPU}

    def filled(words):
        return [re.sub(r"\{(hazard|python|here|build|opens)\}", lambda match: names[match[1]], word) for word in words]

    # By env, so that what stands before it has none of it.
    program = ["/usr/bin/env", *[f"{name}={value}" for name, value in inner.items()], *filled(case.command)]
    if way == PROFILE:
        program = [GABLE, "profile", "-q", "--playback", RECORDING, *COLLECT, "-o", f"{folder}{REPORTS}/r-%p.json", "--", *program]
    return filled(case.outer) + program


def without_gable(err, way):
    """What the program itself said: our sentences are whole lines, and so is what the launcher says of a report."""
    err = re.sub(rb"(?m)^gable: .*\n", b"", err)
    if way == PROFILE:
        err = re.sub(rb"Report: .*\n", b"", err)  # behind a prompt, too
    return re.sub(rb"0x[0-9a-f]+", b"0x", err)


def begin_folder(folder):
    for path in (folder, folder + REPORTS):
        shutil.rmtree(path, ignore_errors=True)
        os.mkdir(path)
        os.chmod(path, 0o777)
    make_folder(folder)


def by_hand(case, folder):
    """For a shell: the program without Gable and by every way in, each in a folder of its own that is left."""
    for number, way in enumerate((None, *case.ways)):
        own = os.path.join(folder, str(number))
        begin_folder(own)
        with open(os.path.join(folder, f"{number}.stdin"), "wb") as file:
            file.write(case.stdin)
        common, inner = environment(case, own, way, case.gpu and way != ANY)
        words = ["env", "-i", *[f"{name}={value}" for name, value in common.items()], *command_line(case, own, way, inner)]
        yield f"# {case.name}, {'by ' + way if way else 'without Gable'}"
        yield f"cd {shlex.quote(own)} && {shlex.join(words)} <../{number}.stdin; echo \"ended with $?\""


def run(case, folder, way, gpu):
    begin_folder(folder)
    common, inner = environment(case, folder, way, gpu)
    with subprocess.Popen(command_line(case, folder, way, inner), env=common, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, start_new_session=True) as process:
        try:
            out, err = process.communicate(case.stdin, timeout=LONGEST_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            err += b"the table: it did not end\n"
    code = process.returncode
    files, reports = files_left(folder)
    return Outcome(code, out, without_gable(err, way), files, reports)


def as_the_launcher_says(outcome):
    """128 and the signal's number, as a shell has it."""
    return dataclasses.replace(outcome, code=128 - outcome.code if outcome.code < 0 else outcome.code)


def missing(case):
    for need in case.needs:
        if callable(need):
            reason = need()
            if reason:
                return reason
        elif need.startswith("/") and not os.path.exists(need):
            return f"no {need}"
        elif not need.startswith("/") and not shutil.which(need):
            return f"no {need}"
    return None


@dataclasses.dataclass
class Tried:
    case: object
    results: dict  # way: differences
    skipped: str = ""
    reports: int = 0


def try_case(case, ways, base, number):
    reason = missing(case)
    if reason:
        return Tried(case, {way: [] for way in ways}, reason)
    folder = os.path.join(base, str(number))
    plain, tried = {}, Tried(case, {})
    for way in ways:
        gpu = case.gpu and way != ANY
        if gpu not in plain:
            plain[gpu] = run(case, folder, None, gpu)
        before = as_the_launcher_says(plain[gpu]) if way == PROFILE else plain[gpu]
        try:
            after = run(case, folder, way, gpu)
        except OSError as problem:
            tried.results[way] = [f"could not be run: {problem}"]
            continue
        tried.results[way] = before.differences(after, case.varies)
        tried.reports += after.reports
        violations = folder + ".violations"
        if os.path.exists(violations):
            with open(violations, "rb") as file:
                tried.results[way].append(f"broke a rule of CUPTI's: {shorter(file.read())}")
            os.unlink(violations)
    shutil.rmtree(folder, ignore_errors=True)
    return tried


def chosen(cases, every):
    """(case, ways) in order."""
    if every:
        return [(case, case.ways) for case in cases]
    short = [case for case in cases if not case.longer][::2]
    return [(case, (case.ways[number % len(case.ways)],)) for number, case in enumerate(short)]


class Summary:
    def __init__(self):
        self.tried = self.same = self.reports = 0
        self.skipped, self.red = collections.Counter(), []

    def add(self, tried):
        if tried.skipped:
            self.skipped[tried.skipped] += len(tried.results)
            return
        self.reports += tried.reports
        for way, differences in tried.results.items():
            self.tried += 1
            if differences:
                self.red.append((tried.case.name, way, differences))
            else:
                self.same += 1

    def __str__(self):
        why = ", ".join(f"{reason}: {count}" for reason, count in sorted(self.skipped.items()))
        return (f"hazards: {self.tried} tried, {self.same} the same, {sum(self.skipped.values())} skipped"
                + (f" ({why})" if why else ""))


def try_all(cases, every, workers=0, tell=None):
    summary = Summary()
    with tempfile.TemporaryDirectory(prefix="hazards-") as base:
        base = os.path.realpath(base)
        os.chmod(base, 0o755)
        with concurrent.futures.ThreadPoolExecutor(workers or (os.cpu_count() or 1)) as pool:
            runs = [pool.submit(try_case, case, ways, base, number) for number, (case, ways) in enumerate(chosen(cases, every))]
            for done in runs:
                summary.add(done.result())
                if tell:
                    tell(done.result())
    return summary


def show(tried):
    for way, differences in tried.results.items():
        for difference in differences:
            print(f"{tried.case.name}, by {way}: {difference}", flush=True)


def all_cases():
    import table_builds
    import table_ends
    import table_limits
    import table_programs
    import table_python
    import table_servers
    return table_programs.CASES + table_python.CASES + table_ends.CASES + table_builds.CASES + table_limits.CASES + table_servers.CASES


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--every", action="store_true", help="every program by every way in, as when programs are named")
    parser.add_argument("--list", action="store_true", help="name the programs")
    parser.add_argument("--by-hand", action="store_true", help="print what runs the programs by hand, without Gable and with it")
    parser.add_argument("names", nargs="*", help="programs whose names have this in them")
    given = parser.parse_args()
    cases = [case for case in all_cases() if not given.names or any(name in case.name for name in given.names)]
    if given.list:
        for case in cases:
            print(case.name)
        return 0
    if given.by_hand:
        for case in cases:
            print("\n".join(by_hand(case, tempfile.mkdtemp(prefix="hazard-"))))
        return 0
    summary = try_all(cases, given.every or bool(given.names), tell=show)
    print(summary)
    return 1 if summary.red else 0


if __name__ == "__main__":
    sys.exit(main())
