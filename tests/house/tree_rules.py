# SPDX-License-Identifier: Apache-2.0
"""The promises that the source tree makes, as functions from {path: text} to a list of sentences about what breaks them."""
import ast
import collections
import pathlib
import re
import subprocess

TOP_LEVEL = {"CMakeLists.txt", "inject", "collector", "analysis", "tools", "tests", "scripts", "README.md", "docs", "LICENSE",
             "CMakePresets.json", "pyproject.toml", "CONTRIBUTING.md", "CHANGELOG.md"}
# The product's parts, and what each may include: which folder of one may include which, CMake says (borders.py). Nothing
# includes tools; tests may include everything.
ALLOWED = {
    "inject": {"inject", "collector", "analysis"},
    "collector": {"collector", "analysis"},
    "analysis": {"analysis"},
    "tools": {"tools", "collector", "analysis"},
}
CUDA_HEADER = re.compile(r"^(cuda|cupti|nvtx|nvperf|nvToolsExt|generated_cu|crt/)")
# The collector's dealings with CUPTI, its entry for NVTX, and the playback GPU, which stands in for both.
INCLUDE_CUDA = ("collector/cupti", "collector/metrics", "collector/counters", "collector/runtime", "tools/playback/", "tests/")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
SOURCE_ENDINGS = (".cpp", ".h", ".c", ".cu", ".py", ".sh", ".cmake", ".map", "CMakeLists.txt", ".ci/run")
MAX_FILES = 40


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
    """Includes point one way: inject -> collector -> analysis, tools -> collector and analysis; CUDA only where it is met."""
    problems = []
    for path, text in sorted(files.items()):
        if not path.endswith((".cpp", ".h", ".c", ".cu")):
            continue
        here = folder_of(path)
        for bracket, name in INCLUDE.findall(text):
            if CUDA_HEADER.match(name) and not path.startswith(INCLUDE_CUDA):
                problems.append(f"{path} includes {name}: CUDA's headers are included in {', '.join(INCLUDE_CUDA)} alone")
            if bracket == "<" or here not in ALLOWED:
                continue
            if "/" not in name:
                problems.append(f'{path} includes "{name}": write it as "folder/file.h"')
            elif folder_of(name) not in ALLOWED[here]:
                problems.append(f"{path} includes {name}: that points against the flow")
    return problems


def folder_problems(files):
    """A folder has one responsibility: no source lies beside the folders of a part, and no folder is too full to look through."""
    problems = [f"{path}: a source of {folder_of(path)}/ lies in one of its folders" for path in sorted(files)
                if re.match(r"(collector|analysis|tools)/[^/]+\.(cpp|h)$", path)]
    counts = collections.Counter(path.rpartition("/")[0] for path in files if not path.startswith("tests/data/"))
    return problems + [f"{folder} has {count} files, more than {MAX_FILES}: split it by responsibility"
                       for folder, count in sorted(counts.items()) if count > MAX_FILES]


def name_problems(files):
    """A source's name is of lower-case words; a test's says so at its end."""
    problems = [f"{path}: name it with lower-case words and _" for path in sorted(files)
                if path.startswith((*ALLOWED, "tests/")) and path.endswith((".cpp", ".h", ".c", ".py"))
                and not re.fullmatch(r"[a-z0-9_]+\.\w+", path.rpartition("/")[2])]
    return problems + [f"{path}: a test's name ends with _test" for path in sorted(files)
                       if re.fullmatch(r"tests/.*/test_[^/]+\.(cpp|py)", path)]


def is_source(path):
    return path.endswith(SOURCE_ENDINGS)


def licence_problems(files):
    return [f"{path}: its first lines lack SPDX-License-Identifier: Apache-2.0" for path, text in sorted(files.items())
            if is_source(path) and "SPDX-License-Identifier: Apache-2.0" not in "\n".join(text.split("\n")[:3])
            and not path.endswith(".map")]


def test_problems(files):
    """A folder of tests that no CMakeLists.txt mentions would never run."""
    problems = []
    for path in sorted(files):
        found = re.match(r"(tests/.*)/([^/]+)_test\.(py|cpp)$", path)
        if not found:
            continue
        cmake = files.get(found[1] + "/CMakeLists.txt", "")
        above = files.get(found[1].rpartition("/")[0] + "/CMakeLists.txt", "")
        folder = found[1].removeprefix("tests/unit/")
        whole = found[3] == "cpp" and ("gable_unit_test" in cmake or re.search(rf"\bgable_folder_tests\({folder}[ )]", above))
        if not whole and not re.search(rf"\b{found[2]}(_test)?\b", cmake):
            problems.append(f"{path}: no CMakeLists.txt runs it")
    return problems


TEXT_HEADERS = tuple(f"analysis/base/{name}.h" for name in ("ascii", "display", "number_text", "text"))
FUNCTION = re.compile(r"^(?:\[\[nodiscard\]\] )?(?:inline |static |constexpr )*(?!return |else |using )[\w:<>,&*]+[ &*]+(\w+)\(", re.MULTILINE)


def hidden_name_problems(files):
    """Several sources are compiled as one, where a file's own function would be taken for that of base in its neighbours."""
    common = {name for header in TEXT_HEADERS for name in FUNCTION.findall(files.get(header, ""))}
    return [f"{path}: {name}() is analysis/base's, and would hide it from the file's neighbours: take that one, or name this one otherwise"
            for path, text in sorted(files.items()) if path.startswith(tuple(ALLOWED)) and path.endswith(".cpp") and not path.startswith("analysis/base/")
            for name in sorted(common & set(FUNCTION.findall(text)))]


OLDEST = re.compile(r'^requires-python = ">=3\.(\d+)"', re.MULTILINE)


def python_problems(files):
    """What runs in other people's Python can be read by the oldest that pyproject.toml allows."""
    oldest = OLDEST.search(files.get("pyproject.toml", ""))
    if oldest is None:
        return ["pyproject.toml: requires-python names no oldest Python 3"]
    problems = []
    for path, text in sorted(files.items()):
        if not path.startswith(("inject/", "tools/")) or not path.endswith(".py"):
            continue
        try:
            ast.parse(text, path, feature_version=(3, int(oldest[1])))
        except SyntaxError as error:
            problems.append(f"{path}:{error.lineno}: not in the syntax of Python 3.{oldest[1]}: {error.msg}")
    return problems


ALL = [top_level_problems, include_problems, folder_problems, name_problems, licence_problems, test_problems, hidden_name_problems,
       python_problems]
