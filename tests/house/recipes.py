# SPDX-License-Identifier: Apache-2.0
"""The lists that CONTRIBUTING.md's recipes keep in step, as functions from {path: text} to a list of sentences about what is
missing where."""
import re

SETS = "collector/options/metric_sets.cpp"
QUANTITIES = "analysis/events/quantities.cpp"
METRICS_PAGE = "docs/metrics.md"
MODEL, TABLES = "tools/playback/cupti/chip_model.cpp", "tools/playback/cupti/chip_tables.cpp"
PRINT = f"print it anew: build-ci/bin/gable doctor --chip all --markdown >{METRICS_PAGE}"
CATALOGUE, RATES = "tools/gpus/gpu_catalogue.cpp", "analysis/roofline/chip_rates.cpp"
BOARDS, CEILINGS = "tests/unit/analysis/roofline/ceiling_boards_test.cpp", "docs/ceilings.md"
PLANS, PRODUCTS = "tests/unit/collector/metrics/chip_plans_test.cpp", "tools/doctor/doctor_chip.cpp"
IMPORT = "tools/commands/cmd_import.cpp"


def between(text, begin, end):
    return text.split(begin, 1)[1].split(end, 1)[0]


def option_row(page, option):
    """The row of a page's table of options; empty where there is none."""
    found = re.search(rf"^\| `{re.escape(option)}[ `].*$", page, re.MULTILINE)
    return found[0] if found else ""


def set_metrics(files):
    return re.findall(r'"([a-z0-9]+__[a-z0-9_.]+)"', files[SETS])


def played(files):
    """Whether the playback GPU knows a metric."""
    known = set(re.findall(r'\{"([a-z0-9_.]+)"', files[MODEL] + files[TABLES]))
    known |= {f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum" for op in known}
    known |= set(re.findall(r'"([a-z0-9]+__[a-z0-9_]+)"', between(files[MODEL], "kPlain[] = {", "};")))
    return lambda metric: metric in known or metric.removesuffix(".sum") in known


def metric_problems(files):
    problems, page = [], files[METRICS_PAGE]
    sets, is_played = set_metrics(files), played(files)
    name = re.compile(re.search(r'"counters": .*?"pattern": "([^"]+)"', files["docs/report.schema.json"])[1].replace("\\\\", "\\"))
    for metric in sets:
        if f"`{metric}`" not in between(page, "## Sets for --metrics", "\n## "):
            problems.append(f"{METRICS_PAGE} lacks {metric}, which {SETS} has: {PRINT}")
        if not is_played(metric):
            problems.append(f"the playback GPU does not know {metric}: write {TABLES} anew, or where it is counted by instrumented "
                            f"code, name it in {MODEL}")
        if not name.match(metric):
            problems.append(f"docs/report.schema.json allows no counter {metric}")
    for metric in re.findall(r"`([a-z0-9]+__[a-z0-9_.]+)` (?:and|\|)", between(page, "\n`mix`: ", "\n## ")):
        if metric not in sets:
            problems.append(f"{METRICS_PAGE} has {metric}, which is in no set of {SETS}: {PRINT}")
    for metric, quantity in re.findall(r'\{"([a-z0-9]+__[a-z0-9_.]+)",\s+Quantity::(\w+)', between(files[QUANTITIES], "kPlain[]", "};")):
        if f"`{metric}`" not in page:
            problems.append(f"{METRICS_PAGE} lacks {metric}, which counts {quantity} in {QUANTITIES}: {PRINT}")
    for quantity in re.findall(r"^  (\w+),", between(files["analysis/events/quantities.h"], "enum class Quantity", "};"), re.MULTILINE):
        if f"Quantity::{quantity}" not in files[QUANTITIES]:
            problems.append(f"{QUANTITIES} has no metric for Quantity::{quantity}")
    for wanted in re.findall(r'\{"(\w+)", "[^"]*", \w+\(\)\}', files[SETS]):
        for path, text in (("docs/commands/profile.md", option_row(files["docs/commands/profile.md"], "--metrics")),
                           ("docs/commands/env.md", option_row(files["docs/commands/env.md"], "--metrics"))):
            if f"`{wanted}`" not in text:
                problems.append(f"{path}, --metrics, does not name the set `{wanted}` of {SETS}")
    return problems


def chip_problems(files):
    problems = []
    catalogue = re.findall(r'\.name = "([^"]+)"', files[CATALOGUE])
    listed = re.findall("`([^`]+)`", option_row(files["docs/commands/predict.md"], "--gpu").split("|")[2])
    problems += [f"docs/commands/predict.md, --gpu, does not list `{gpu}`, which {CATALOGUE} has" for gpu in catalogue if gpu not in listed]
    problems += [f"docs/commands/predict.md, --gpu, lists `{gpu}`, which {CATALOGUE} does not have" for gpu in listed if gpu not in catalogue]

    rated = {f"{major}.{minor}" for major, minor in re.findall(r"\badd\((\d+), (\d+), ", files[RATES])}
    boards = {f"{major}.{minor}" for major, minor in re.findall(r'\{"[^"]+",\s+(\d+),\s+(\d+),\s+\d+,', between(files[BOARDS], "kBoards = {", "\n};"))}
    unchecked = set(re.findall(r"\d+\.\d", between(files[CEILINGS], "Not checked against a second source:", " and ")))
    for capability in sorted(rated - boards - unchecked):
        problems.append(f"no board of compute capability {capability} is held against {RATES}: add one to {BOARDS}, or say in {CEILINGS} "
                        "that there is no second source")
    for spec in re.split(r"(?=\.name = )", files[CATALOGUE])[1:]:
        major = int((re.search(r"compute_major = (\d+)", spec) or ["", "0"])[1])
        minor = int((re.search(r"compute_minor = (\d+)", spec) or ["", "0"])[1])
        if major >= 7 and f"{major}.{minor}" not in rated:
            problems.append(f"{RATES} has no row for {major}.{minor}, the compute capability of {re.findall(r'name = .([^,]+).,', spec)[0]} in {CATALOGUE}")

    planned = re.findall(r'\{"([A-Z0-9]+)", \d', between(files[PLANS], "kChips[] = {", "};"))
    headings = re.findall(r"[A-Z]{2}[0-9A-Z]+", " ".join(re.findall("^### (.*)$", files[METRICS_PAGE], re.MULTILINE)))
    problems += [f"{METRICS_PAGE} has no part about {chip}, which {PLANS} has: {PRINT}" for chip in planned if chip not in headings]
    problems += [f"{PLANS} has no row for {chip}, which {METRICS_PAGE} has: look at its plan and add one to kChips" for chip in headings
                 if chip not in planned]
    for path, named in ((PRODUCTS, re.findall(r'\{"([A-Z0-9]+)", "', between(files[PRODUCTS], "kProducts[] = {", "};"))),
                        (TABLES, re.findall(r'\{"([A-Z0-9]+)", k\1,', files[TABLES]))):
        problems += [f"{path} names the chip {chip}, which {PLANS} does not have in kChips" for chip in named if chip not in planned]
    return problems


def command_problems(files):
    found = sorted(re.findall(r"^tools/commands/cmd_(\w+)\.cpp$", "\n".join(files), re.MULTILINE))
    problems = []
    for command in found:
        page = f"docs/commands/{command}.md"
        if page not in files:
            problems.append(f"gable {command} has no page: write {page}")
            continue
        if not re.search(rf"^    gable {command} ", files["docs/commands/gable.md"], re.MULTILINE):
            problems.append(f"docs/commands/gable.md has no line `gable {command}`: add one to its list of commands")
        if not re.search(rf"gable {command}\b", files["README.md"]):
            problems.append(f"README.md does not name `gable {command}`: add it to its part Further commands, with a link to {page}")
    problems += [f"{path} is the page of no command: tools/commands has no cmd_{found_in[1]}.cpp" for path in sorted(files)
                 if (found_in := re.fullmatch(r"docs/commands/(\w+)\.md", path)) and found_in[1] not in (*found, "gable")]
    return problems


def importer_problems(files):
    problems = []
    for name in re.findall(r'^    \{"--(\w+)", ', between(files[IMPORT], "kFormats[] = {", "};"), re.MULTILINE):
        missing = {
            f"docs/commands/import.md: a row for `--{name} FILE` in its table of options": option_row(files["docs/commands/import.md"], f"--{name}"),
            f"docs/import.md: a part that begins `--{name}` reads": re.search(rf"^`--{name}` reads ", files["docs/import.md"], re.MULTILINE),
            f"tests/import/{name}_test.py": f"tests/import/{name}_test.py" in files,
            f"tests/import/CMakeLists.txt: gable_import_test({name}_test.py)": f"({name}_test.py)" in files["tests/import/CMakeLists.txt"],
            f"tests/fuzz/fuzz_{name}.cpp": f"tests/fuzz/fuzz_{name}.cpp" in files,
            f"tests/fuzz/corpus/{name}/: a file to begin with": any(path.startswith(f"tests/fuzz/corpus/{name}/") for path in files),
            f"tests/hazards/hostile_inputs.py: wrong files for --{name}": f'"--{name}"' in files["tests/hazards/hostile_inputs.py"],
        }
        problems += [f"gable import --{name} lacks {what}" for what, there in missing.items() if not there]
    return problems


ALL = [metric_problems, chip_problems, command_problems, importer_problems]


class Page:
    """What a page names: in backticks and in blocks of commands."""

    def __init__(self, text):
        self.blocks = re.findall(r"^ *```sh\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE)
        self.code = re.findall("`([^`\n]+)`", re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE))
        self.commands = [" ".join(line.split()) for block in self.blocks for line in block.replace("\\\n", " ").splitlines()]

    def words(self):
        for piece in self.code + self.commands:
            yield from re.split(r"[\s=><]+", piece)

    def paths(self):
        """Files and folders of the tree. NAME stands for any word."""
        top = r"(?:analysis|collector|docs|inject|scripts|tests|tools|\.ci)"
        return sorted({word.rstrip("/") for word in self.words() if re.fullmatch(rf"{top}/[\w./-]+", word)})

    def options(self, option):
        """The values of an option of the commands, without quotes."""
        for command in self.commands + self.code:
            for value in re.findall(rf"{option}[= ]('[^']*'|[^-\s]\S*(?: [a-z_]\w*)*)", command):
                yield value.strip("'")

    def programs(self):
        return sorted(set(re.findall(r"\bbuild-ci/bin/(\w[\w-]*)", "\n".join(self.commands + self.code))))

    def tests(self):
        """Names of single tests: of GoogleTest, and of ctest."""
        return [word for word in self.code if re.fullmatch(r"[A-Z]\w+\.[A-Z]\w+", word)]

    def methods(self):
        """(test file, class, method) of commands that run one method."""
        return re.findall(r"(tests/\S+_test\.py) (\w+)\.(\w+)", "\n".join(self.commands))
