# SPDX-License-Identifier: Apache-2.0
"""Files that are wrong on purpose: reports, recordings and other tools' files, mutated by field from a seed. Whatever is in them,
`gable` reads or refuses them: exit code 0 or 2, one sentence of one line, nothing that a terminal would obey, in bounded time.
GABLE_EVERY_CASE runs 2,000 of them in place of 150."""
import concurrent.futures
import contextlib
import copy
import gzip
import json
import os
import pathlib
import random
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import unittest
import xml.etree.ElementTree

BUILD = os.environ["GABLE_BUILD"]
GABLE = os.path.join(BUILD, "bin", "gable")
DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
sys.path.insert(0, str(DATA.parent))
import xplane_encoder  # noqa: E402

LONG = "GABLE_EVERY_CASE" in os.environ
INPUTS = 2000 if LONG else 150
# Seconds of the processor for one command, which a busy machine does not add to; and of the clock, for one that waits for ever.
PATIENCE = 60 if os.environ.get("GABLE_SANITIZE") else 20
FOREVER = 300
MEMORY = 4 << 30

ESCAPES = "a\x1b[31mb\x9b5mc\x07\u202ed\u2066e\u200ff\u2028g\ufeffh"
WRONG = [None, True, "text", [], {}, [[]], {"a": 1}, 0, -1, -0.5, 1, 7, 2 ** 31, 2 ** 53 + 2, 2 ** 63, 2 ** 64 + 1, 1e30, 1e300, 5e-324, "", ESCAPES,
         "x" * 70000, "\\", "<script>alert(1)</script>", "\"/><script>alert(1)</script><a b=\"", "%s%n", "../../etc/passwd"]
RAW = ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "0" * 50 + "1", "[" * 20000, '{"a":' * 20000, '"\\ud800"', '"\\udc00x"', "\x00", '"\x1b[2J"',
       "9" * 400, '"unclosed']
MARK = "@@HERE@@"
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]")


def places(value, path=()):
    """Every place in a JSON value."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, path + (key,))


def put(value, path, change):
    """The value with what stands at the path changed by change(container, key)."""
    value = copy.deepcopy(value)
    if path:
        at = value
        for key in path[:-1]:
            at = at[key]
        change(at, path[-1])
    return value


def mutated_json(chance, value):
    """The text of a JSON value with one to three fields changed."""
    raw = None
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        path = chance.choice(list(places(value)))
        kind = chance.randrange(8)
        if kind == 0 and raw is None:
            raw = chance.choice(RAW)
            value = put(value, path, lambda at, key: at.__setitem__(key, MARK))
        elif kind == 1:
            value = put(value, path, lambda at, key: at.__delitem__(key))
        elif kind == 2:
            value = put(value, path, lambda at, key: at.insert(key, at[key]) if isinstance(at, list) else at.update({key + ESCAPES: at[key]}))
        elif kind == 3:
            texts = [place for place in places(value) if isinstance(place, tuple) and isinstance(get(value, place), str)]
            if texts:
                value = put(value, chance.choice(texts), lambda at, key: at.__setitem__(key, str(at[key]) + ESCAPES))
        else:
            wrong = chance.choice(WRONG)
            value = put(value, path, lambda at, key: at.__setitem__(key, wrong))
    text = json.dumps(value, ensure_ascii=chance.random() < 0.5, indent=chance.choice((None, 1)))
    return text.replace('"' + MARK + '"', raw) if raw is not None else text


def get(value, path):
    for key in path:
        value = value[key]
    return value


def mutated_layers(chance, report):
    """Wrong trees: cycles, parents that are missing, one id twice, very deep."""
    report = copy.deepcopy(report)
    layers, kind = report["layers"], chance.randrange(4)
    if kind == 0:
        for layer in layers:
            layer["parent"] = chance.choice(layers)["id"]
    elif kind == 1:
        chance.choice(layers)["parent"] = 10 ** 6
    elif kind == 2:
        layers.append(copy.deepcopy(chance.choice(layers)))
    else:
        for number in range(chance.choice((100, 200, 3000))):
            layers.append(dict(copy.deepcopy(layers[-1]), id=10 ** 6 + number, parent=layers[-1]["id"]))
    return json.dumps(report)


def mutated_bytes(chance, data):
    """Cut off, changed bytes, another encoding."""
    kind = chance.randrange(7)
    if kind == 0:
        return data[:chance.randrange(len(data))]
    if kind == 1:
        data = bytearray(data)
        for _ in range(chance.choice((1, 4, 30))):
            data[chance.randrange(len(data))] = chance.choice((0, 10, 13, 0x1b, 0x22, 0x2c, 0x7b, 0x80, 0xc0, 0xff))
        return bytes(data)
    if kind == 2:
        return data.decode("utf-8", "replace").encode(chance.choice(("utf-16", "utf-32", "utf-7")))
    if kind == 3:
        return b"\xef\xbb\xbf" + data
    if kind == 4:
        at = chance.randrange(len(data))
        return data[:at] + chance.choice((b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\xaf", b"\x00", b"\x1b[2J", "\u202e".encode())) + data[at:]
    if kind == 5:
        return gzip.compress(data)[:chance.choice((10, 100, 10 ** 9))]
    at = chance.randrange(len(data))
    return data[at:] + data[:at]


def mutated_space(chance):
    """An XPlane file with names, values and times changed, or its bytes."""
    planes = xplane_encoder.small()
    for _ in range(chance.choice((1, 1, 2, 5))):
        each = chance.choice(planes)
        line = chance.choice(each["lanes"]) if each["lanes"] else xplane_encoder.lane("", [])
        one = chance.choice(line["events"]) if line["events"] else xplane_encoder.event("", 0, 0)
        wrong = chance.choice([value for value in WRONG if isinstance(value, (int, float, str))] + [-2 ** 63, xplane_encoder.Ref(ESCAPES)])
        of, key = chance.choice(((each, "name"), (line, "name"), (one, "name"), (one, "ts"), (one, "dur"), (line, "start_us"), (line, "id"),
                                 *[(stats, name) for stats in (each["stats"], one["stats"]) for name in stats]))
        if key in ("ts", "dur", "start_us", "id") and of in (one, line):
            wrong = chance.choice((-1, -2.5, 0, 1e12, 9e12, -9e12, 2 ** 53))
        of[key] = str(wrong) if key == "name" else wrong
    for each in planes:
        for line in each["lanes"]:
            line["id"] = int(line["id"])
    data = xplane_encoder.encode(*planes, warnings=["7 events dropped because " + ESCAPES] if chance.random() < 0.2 else [])
    return mutated_bytes(chance, data) if chance.random() < 0.5 else data


def mutated_csv(chance, text):
    lines = text.splitlines()
    for _ in range(chance.choice((1, 2, 5))):
        line = chance.randrange(len(lines))
        cells = lines[line].split('","')
        cells[chance.randrange(len(cells))] = str(chance.choice(WRONG + ["nan", "inf", "1e999", "1,2,3", '"', "(1, 1, 1", "-5", "0x10"]))
        lines[line] = '","'.join(cells)
    if chance.random() < 0.2:
        lines.insert(chance.randrange(len(lines)), chance.choice(lines))
    return "\n".join(lines)


# A third step, and what three steps are recorded from.
STEPS = """
INSERT INTO NVTX_EVENTS VALUES (302, 330, 59, NULL, 'aten::mm', 16777218, NULL, NULL, 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, correlationId INTEGER, globalPid INTEGER,
  contextId INTEGER, streamId INTEGER, syncType INTEGER, eventId INTEGER, eventSyncId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (222, 224, 15, 16777216, 1, 7, 2, 3, 5), (225, 226, 16, 16777216, 1, 9, 3, NULL, NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (correlationId INTEGER, globalPid INTEGER, contextId INTEGER, streamId INTEGER,
  eventId INTEGER, eventSyncId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (13, 16777216, 1, 7, 3, 5), (14, 16777216, 1, 7, 3, 6);
CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (start INTEGER, end INTEGER, correlationId INTEGER, globalTid INTEGER, overheadType INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES (211, 213, 12, 16777217, 8);
CREATE TABLE ENUM_CUPTI_OVERHEAD_TYPE (id INTEGER, name TEXT);
INSERT INTO ENUM_CUPTI_OVERHEAD_TYPE VALUES (8, 'OVERHEAD_COMMAND_BUFFER_FULL');
CREATE TABLE TARGET_INFO_CUDA_STREAM (streamId INTEGER, processId INTEGER, contextId INTEGER, flag INTEGER);
INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (7, 1, 1, 3), (9, 1, 1, 2);
"""


def mutated_base(chance, path):
    """An SQLite file with a field, a column or bytes changed."""
    base = sqlite3.connect(path)
    base.executescript((DATA / "import" / "nsys_3.sql").read_text(encoding="utf-8") + STEPS)
    tables = [row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for _ in range(chance.choice((1, 2, 4))):
        table = chance.choice(tables)
        columns = [row[1] for row in base.execute(f'PRAGMA table_info("{table}")')]
        wrong = chance.choice([None, -1, 0, 2 ** 62, -2 ** 63, 1.5, "text", b"\xff\x00", ESCAPES, 7])
        rows = [row[0] for row in base.execute(f'SELECT rowid FROM "{table}"')]
        row = chance.choice(rows) if rows else 0
        column = chance.choice(columns)
        statement, values = chance.choice(((f'DELETE FROM "{table}"', ()), (f'ALTER TABLE "{table}" DROP COLUMN "{column}"', ()),
                                           (f'INSERT OR IGNORE INTO "{table}" SELECT * FROM "{table}" WHERE rowid = ?', (row,)),
                                           *[(f'UPDATE OR IGNORE "{table}" SET "{column}" = ? WHERE rowid = ?', (wrong, row))] * 3))
        with contextlib.suppress(sqlite3.Error):  # a key takes no text
            base.execute(statement, values)
    base.commit()
    base.close()
    if chance.random() < 0.3:
        data = mutated_bytes(chance, pathlib.Path(path).read_bytes())
        pathlib.Path(path).write_bytes(data)


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = cls.kept.name
        cls.base = str(DATA / "baselines" / "layers.json")
        cls.report = json.loads(pathlib.Path(cls.base).read_text(encoding="utf-8"))
        cls.other = cls.path("other.json")
        pathlib.Path(cls.other).write_text(json.dumps(dict(cls.report, run=dict(cls.report["run"], pid=77))), encoding="utf-8")
        cls.env = {key: value for key, value in os.environ.items() if not key.startswith("GABLE_")}
        cls.env.update(GABLE_CEILINGS="none", HOME=cls.folder, COLUMNS="120")
        imported = cls.path("imported.json")
        subprocess.run([GABLE, "import", "--kineto", str(DATA / "import" / "kineto_new.json"), "-o", imported], env=cls.env, check=True,
                       capture_output=True, timeout=60)
        cls.reports = [cls.report, json.loads(pathlib.Path(imported).read_text(encoding="utf-8"))]
        cls.recordings = sorted((DATA / "recordings" / "small").glob("*.jsonl"))

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    def gable(self, *words, **options):
        def limits():
            if not os.environ.get("GABLE_SANITIZE"):
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE + 1))
        try:
            return subprocess.run([GABLE, *words], env=self.env, stdin=subprocess.DEVNULL, capture_output=True, timeout=FOREVER,
                                  preexec_fn=limits, check=False, **options)
        except subprocess.TimeoutExpired as late:
            raise AssertionError(f"gable {' '.join(words)} waits for ever") from late

    def problems(self, words, done, codes=(0, 2)):
        """What a user would object to."""
        command = "gable " + " ".join(words)
        found = []
        if done.returncode == -signal.SIGXCPU:
            found.append(f"{command} computes for longer than {PATIENCE} s")
        elif done.returncode not in codes:
            found.append(f"{command}: exit code {done.returncode}: {done.stderr[-300:]!r}")
        shown = {"stderr": done.stderr}
        if not {"--html", "--svg", "--csv", "-o", "--trace", "--json"} & set(words):
            shown["stdout"] = done.stdout
        for name, data in shown.items():
            try:
                text = data.decode("utf-8")
            except UnicodeDecodeError as error:
                found.append(f"{command}: {name} is no UTF-8: {error}")
                continue
            if bad := UNPRINTABLE.search(text):
                found.append(f"{command}: {name} has {bad.group()!r}: {text[max(0, bad.start() - 60):bad.end()]!r}")
        sentence = done.stderr.decode("utf-8", "replace")
        if done.returncode == 2 and not re.fullmatch(r"(gable|playback): [^\n]{10,2000}[.:]\n|(gable|playback): [^\n]{10,2000}\n", sentence):
            found.append(f"{command}: no sentence of one line: {sentence[:400]!r}")
        if done.returncode == 2 and re.search(r"std::|basic_string|map::at|vector::|_M_|bad_alloc|terminate", sentence):
            found.append(f"{command}: not for people: {sentence[:400]!r}")
        if "--html" in words and done.returncode == 0:
            title = re.search(r"<title>(.*?)</title>", done.stdout.decode("utf-8", "replace"), re.S)
            if not title or UNPRINTABLE.search(title.group(1)) or "<" in title.group(1):
                found.append(f"{command}: the title is {title and title.group(1)!r}")
        if "--svg" in words and done.returncode == 0:
            try:
                kinds = {element.tag.rpartition("}")[2] for element in xml.etree.ElementTree.fromstring(done.stdout).iter()}
                found += [f"{command}: the picture has a script"] if "script" in kinds else []
            except xml.etree.ElementTree.ParseError as error:
                found.append(f"{command}: the picture is no XML: {error}")
        if ("-o" in words or "--json" in words) and words[0] != "profile" and done.returncode == 0:
            try:
                json.loads(done.stdout.decode("utf-8"), parse_constant=lambda word: self.fail(f"{command} wrote {word}"))
            except ValueError as error:
                found.append(f"{command}: what it wrote is no JSON: {error}")
        return found

    def made(self, number):
        """The input of that number, and the commands that read it."""
        chance = random.Random(number)
        kind = chance.choice(("report",) * 8 + ("recording",) * 4 + ("kineto",) * 3 + ("ncu",) * 3 + ("nsys",) * 2 + ("proton",) + ("xplane",) * 2)
        path = self.path(f"input-{number}")
        if kind == "report":
            report = chance.choice(self.reports)
            how = chance.randrange(8)
            if how == 0:
                data = mutated_layers(chance, report).encode()
            elif how == 1:
                data = mutated_bytes(chance, json.dumps(report).encode())
            else:
                data = mutated_json(chance, report).encode("utf-8", "surrogatepass")
            commands = [["report", path], ["report", "--kernels", "--sort", "name", path], ["report", path, "--html", "-"],
                        ["report", path, "--csv", "-"], ["report", path, "--markdown", "-"], ["report", path, "--svg", "-"],
                        ["diff", path, self.base], ["diff", self.base, path, "--json", "-"], ["diff", self.base, path, "--kernels"],
                        ["check", path, "--baseline", self.base], ["check", self.base, "--baseline", path],
                        ["merge", path, self.other, "-o", "-"], ["predict", path, "--device", "h100"]]
            commands = [["report", path]] + chance.sample(commands[1:], 2 if not LONG else 4)
        elif kind == "recording":
            lines = chance.choice(self.recordings).read_text(encoding="utf-8").splitlines()
            if chance.random() < 0.3:
                data = mutated_bytes(chance, "\n".join(lines).encode())
            else:
                at = chance.choice([i for i, line in enumerate(lines) if line.strip() and not line.startswith("#")])
                lines[at] = mutated_json(chance, json.loads(lines[at]))
                data = "\n".join(lines).encode("utf-8", "surrogatepass")
            commands = [["dump", path], ["report", path, "--trace", "-"]]
        elif kind == "kineto":
            trace = (DATA / "import" / chance.choice(("kineto_new.json", "kineto_old.json", "kineto_counters.json"))).read_text(encoding="utf-8")
            data = (mutated_bytes(chance, trace.encode()) if chance.random() < 0.3 else
                    mutated_json(chance, json.loads(trace)).encode("utf-8", "surrogatepass"))
            commands = [["import", "--kineto", path, "-o", "-"], ["import", "--kineto", path, "--step-range", "^aten", "-o", "-"]]
        elif kind == "proton":
            profile = (DATA.parent / "fuzz" / "corpus" / "proton" / "scopes.hatchet").read_bytes()
            data = mutated_bytes(chance, profile)
            commands = [["import", "--proton", path, "-o", "-"]]
        elif kind == "xplane":
            data = mutated_space(chance)
            commands = [["import", "--xplane", path, "-o", "-"], ["import", "--xplane", path, "--step-range", "^train", "-o", "-"]]
        elif kind == "ncu":
            text = chance.choice(sorted((DATA / "import").glob("*.csv"))).read_text(encoding="utf-8")
            data = mutated_bytes(chance, text.encode()) if chance.random() < 0.3 else mutated_csv(chance, text).encode("utf-8", "replace")
            commands = [["import", "--ncu", path, "-o", "-"]]
        else:
            mutated_base(chance, path)
            return path, [["import", "--nsys", path, "-o", "-"], ["import", "--nsys", path, "--step-range", "^aten", "-o", "-"]]
        pathlib.Path(path).write_bytes(data)
        return path, commands

    def tried(self, number):
        path, commands = self.made(number)
        found, codes = [], []
        for words in commands:
            done = self.gable(*words)
            codes.append(done.returncode)
            allowed = (0, 1, 2, 3) if words[0] == "check" else (0, 2)
            found += [f"input {number}: {problem}" for problem in self.problems(words, done, allowed)]
        if found and os.environ.get("GABLE_KEEP_HOSTILE"):
            os.rename(path, os.path.join(os.environ["GABLE_KEEP_HOSTILE"], os.path.basename(path)))
        else:
            os.unlink(path)
        return codes[0] == 2, found

    def test_mutated_files(self):
        first = int(os.environ.get("GABLE_HOSTILE_FIRST", "0"))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(self.tried, range(first, first + INPUTS)))
        refused = sum(was_refused for was_refused, _ in results)
        print(f"\nhostile: {len(results)} inputs, {refused} refused, {len(results) - refused} read", flush=True)
        found = [problem for _, problems in results for problem in problems]
        self.assertEqual(found[:20], [], f"{len(found)} problems")
        self.assertGreater(refused, INPUTS // 4)
        self.assertGreater(len(results) - refused, INPUTS // 10)

    def readers(self, path):
        """Every command with the file in the place of each of its inputs."""
        return [["report", path], ["report", path, "--trace", "-"], ["diff", path, self.base], ["diff", self.base, path],
                ["check", path, "--baseline", self.base], ["check", self.base, "--baseline", path], ["merge", path, self.base, "-o", "-"],
                ["predict", path, "--device", "h100"], ["import", "--ncu", path, "-o", "-"], ["import", "--nsys", path, "-o", "-"],
                ["import", "--kineto", path, "-o", "-"], ["import", "--proton", path, "-o", "-"], ["import", "--xplane", path, "-o", "-"],
                ["dump", path]]

    def refused(self, words, **options):
        done = self.gable(*words, **options)
        self.assertEqual(self.problems(words, done, (2,)), [])
        return done.stderr.decode()

    def test_what_is_no_file(self):
        os.mkfifo(self.path("pipe"))
        os.mkdir(self.path("folder"))
        commands = [words for path in ("/dev/zero", "/dev/urandom", "/dev/full", "/dev/null", self.path("pipe"), self.path("folder"),
                                       self.path("none"), "/proc/self/mem") for words in self.readers(path)]
        # A pipe without a writer is waited for, and all of them at once.
        with concurrent.futures.ThreadPoolExecutor(len(commands)) as pool:
            sentences = list(pool.map(self.refused, commands))
        for words, sentence in zip(commands, sentences):
            if self.path("pipe") in words:
                self.assertIn("pipe", sentence, words)

    def test_a_pipe_is_read(self):
        for command in ("report", "predict --device h100"):
            pipe = self.path("written-" + command.split()[0])
            os.mkfifo(pipe)
            writer = threading.Thread(target=lambda path=pipe: pathlib.Path(path).write_bytes(pathlib.Path(self.base).read_bytes()))
            writer.start()
            words = [*command.split(), pipe]
            done = self.gable(*words)
            writer.join()
            self.assertEqual(self.problems(words, done, (0,)), [])

    def test_files_that_unpack_to_very_much(self):
        begins = {"kineto": b'{"traceEvents":[', "ncu": b'"ID","Kernel Name"\n', "xplane": xplane_encoder.encode(*xplane_encoder.small())}
        for name, piece in (("kineto", b" "), ("ncu", b"\n"), ("ncu", b"a"), ("xplane", b"\x0a\x00")):
            path = self.path(f"much-{name}.gz")
            with gzip.open(path, "wb", 9) as file:
                file.write(begins[name])
                for _ in range(300):
                    file.write(piece * (1 << 20))
            self.refused(["import", "--" + name, path, "-o", "-"])

    def test_large_reports_take_time_in_proportion(self):
        """Time that grows with the square ends at the limit that every command has here."""
        count = 100000 if LONG else 8000
        root, layer, kernel = self.report["layers"][0], self.report["layers"][-1], dict(self.report["kernels"][-1], counters={})
        layers = [root] + [dict(layer, id=1000 + i, parent=root["id"], path=root["path"] + [f"m{i}"]) for i in range(count)]
        kernels = [dict(kernel, layer=1000 + i, name=f"k{i}") for i in range(count)]
        alike = [dict(kernel, layer=1000, grid=[i + 1, 1, 1]) for i in range(count)]
        shapes = {"many": (layers, kernels), "alike": (layers[:2], alike), "turned": (layers[:2], alike[::-1])}
        for pid, (name, (some, their)) in enumerate(shapes.items()):
            run = dict(self.report["run"], pid=900 + pid)
            pathlib.Path(self.path(name)).write_text(json.dumps(dict(self.report, run=run, layers=some, kernels=their)), encoding="utf-8")
        many, alike, turned = (self.path(name) for name in shapes)
        for words in (["report", many], ["report", many, "--html", "-"], ["diff", many, self.base], ["diff", alike, turned],
                      ["merge", many, alike, "-o", "-"], ["predict", many, "--device", "h100"]):
            self.assertEqual(self.problems(words, self.gable(*words), (0,)), [])

    def test_failed_writes(self):
        recording = str(DATA / "recordings" / "small" / "layers.jsonl")
        csv = str(DATA / "import" / "ncu_raw.csv")
        readonly = self.path("readonly")
        os.mkdir(readonly, 0o500)
        outputs = ["/dev/full", self.path("no-folder/x"), self.folder] + ([os.path.join(readonly, "x")] if os.geteuid() != 0 else [])
        for out in outputs:
            for words in (["report", self.base, "--html", out], ["report", self.base, "--csv", out], ["report", self.base, "--svg", out],
                          ["report", self.base, "--markdown", out], ["report", recording, "--trace", out],
                          ["diff", self.base, self.other, "--html", out], ["diff", self.base, self.other, "--json", out],
                          ["diff", self.base, self.other, "--markdown", out], ["check", self.base, "--baseline", self.other, "--markdown", out],
                          ["merge", self.base, self.other, "-o", out], ["predict", self.base, "--device", "h100", "--html", out],
                          ["predict", self.base, "--device", "h100", "--csv", out], ["import", "--ncu", csv, "-o", out]):
                self.refused(words)
        # A limit on the size of files, as ulimit -f sets it.
        for words in (["report", self.base, "--html", self.path("page")], ["merge", self.base, self.other, "-o", self.path("merged")]):
            done = subprocess.run([GABLE, *words], env=self.env, capture_output=True, timeout=FOREVER, check=False,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024)))
            self.assertEqual(self.problems(words, done, (2,)), [])
            self.assertFalse(os.path.exists(words[-1]))
        # Standard output that takes nothing.
        for words in (["report", self.base], ["diff", self.base, self.other], ["predict", self.base, "--device", "h100"], ["dump", recording],
                      ["report", self.base, "--csv", "-"], ["--help"], ["report", "--help"], ["--version"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([GABLE, *words], env=self.env, stdout=full, stderr=subprocess.PIPE, timeout=FOREVER, check=False)
            self.assertEqual((done.returncode, done.stderr), (2, b"gable: Standard output could not be written to its end.\n"), words)


if __name__ == "__main__":
    sys.exit(unittest.main())
