# SPDX-License-Identifier: Apache-2.0
"""The promises that the source tree makes, as functions from {path: text} to a list of sentences about what breaks them."""
import pathlib
import re
import subprocess

TOP_LEVEL = {"CMakeLists.txt", "inject", "collector", "analysis", "tools", "tests", "scripts", "README.md", "docs", "LICENSE",
             "CMakePresets.json", "pyproject.toml", "CONTRIBUTING.md"}
# What may include what. Nothing includes tools; tests may include everything.
ALLOWED = {
    "inject": {"inject", "collector", "analysis"},
    "collector": {"collector", "analysis"},
    "analysis": {"analysis"},
    "tools": {"tools", "analysis"},
}
# The parts of the collector that need no GPU and that the program asks too.
SHARED_WITH_TOOLS = {"collector/metrics/plan.h", "collector/cupti/cupti_api.h", "collector/cupti/cupti_advice.h", "collector/options/settings.h", "collector/options/shell_words.h", "collector/options/option_kinds.h", "collector/cupti/remedies.h", "collector/options/request_socket.h",
                     "collector/cupti/device_query.h", "collector/cupti/driverless.h", "collector/counters/counter_access.h", "collector/options/metric_sets.h", "collector/options/range_name.h"}
CUDA_HEADER = re.compile(r"^(cuda|cupti|nvtx|nvperf|nvToolsExt|generated_cu|crt/)")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
SOURCE_ENDINGS = (".cpp", ".h", ".c", ".cu", ".py", ".sh", ".cmake", ".map", "CMakeLists.txt", ".ci/run")
MAX_LINES = 400


def read_tree(root):
    """Every file of the repository that is text; without a git checkout, whatever lies there except build folders."""
    root = pathlib.Path(root)
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, capture_output=True)
    if listed.returncode == 0:
        names = [n for n in listed.stdout.decode().split("\0") if n]
    else:
        names = [str(p.relative_to(root)) for p in root.rglob("*")
                 if p.is_file() and not p.relative_to(root).parts[0].startswith(("build", ".git"))
                 and "__pycache__" not in p.parts]
    files = {}
    for name in names:
        path = root / name
        if path.is_file():
            files[name] = path.read_text(encoding="utf-8", errors="replace")
    return files


def folder_of(path):
    return path.split("/", 1)[0]


def top_level_problems(files):
    return [f"{name}: the top level has a fixed list of names" for name in sorted({folder_of(p) for p in files})
            if name not in TOP_LEVEL and not name.startswith(".")]


def include_problems(files):
    """Includes point one way: inject -> collector -> analysis, tools -> analysis and the planner; CUDA only in the collector."""
    problems = []
    for path, text in sorted(files.items()):
        if not path.endswith((".cpp", ".h", ".c", ".cu")):
            continue
        here = folder_of(path)
        for bracket, name in INCLUDE.findall(text):
            if CUDA_HEADER.match(name) and here not in ("collector", "tests"):
                problems.append(f"{path} includes {name}: only the collector includes CUDA's headers")
            if bracket == "<" or here not in ALLOWED:
                continue
            if "/" not in name:
                problems.append(f'{path} includes "{name}": write it as "folder/file.h"')
            elif folder_of(name) not in ALLOWED[here] and not (here == "tools" and name in SHARED_WITH_TOOLS):
                problems.append(f"{path} includes {name}: that points against the flow")
    return problems


def is_source(path):
    return path.endswith(SOURCE_ENDINGS)


def licence_problems(files):
    return [f"{path}: its first lines lack SPDX-License-Identifier: Apache-2.0" for path, text in sorted(files.items())
            if is_source(path) and "SPDX-License-Identifier: Apache-2.0" not in "\n".join(text.split("\n")[:3])
            and not path.endswith(".map")]


def length_problems(files):
    return [f"{path} has {text.count(chr(10))} lines, more than {MAX_LINES}: split it by responsibility"
            for path, text in sorted(files.items()) if is_source(path) and text.count("\n") > MAX_LINES]


def test_problems(files):
    """A folder of tests that no CMakeLists.txt mentions would never run."""
    mentions = "\n".join(text for path, text in files.items()
                         if path.startswith("tests/") and path.endswith("CMakeLists.txt"))
    return [f"{path}: no CMakeLists.txt under tests runs it" for path in sorted(files)
            if re.search(r"^tests/.*/(test_[^/]+\.py|[^/]+_test\.cpp)$", path)
            and path.split("/")[-1] not in mentions
            and not any(other == path.rsplit("/", 1)[0] + "/CMakeLists.txt" and (
                "gable_unit_test" in text or "GLOB" in text) for other, text in files.items())]


ALL = [top_level_problems, include_problems, licence_problems, length_problems, test_problems]
