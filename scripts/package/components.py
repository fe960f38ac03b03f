#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What others wrote and a package of Gable contains: components.py OUT VERSION EPOCH [PORTABLE]

Writes OUT/sbom.spdx.json (SPDX 2.3) and OUT/licenses/NAME, the licence text of each part. Versions and texts are those of the packages
that the build took the parts from: this machine's, or those that portable.sh put into the folder PORTABLE.
"""
import datetime
import json
import pathlib
import re
import subprocess
import sys

# Name, Debian's package, licence, what is in a package of Gable, and where it is from.
HEADERS = (
    ("nlohmann_json", "nlohmann-json3-dev", "MIT", "compiled in", "https://github.com/nlohmann/json"),
    ("CLI11", "libcli11-dev", "BSD-3-Clause", "compiled in", "https://github.com/CLIUtils/CLI11"),
    ("RapidJSON", "rapidjson-dev", "MIT", "compiled in", "https://github.com/Tencent/rapidjson"),
    ("protozero", "libprotozero-dev", "BSD-2-Clause", "compiled in", "https://github.com/mapbox/protozero"),
    ("D3", "node-d3", "BSD-3-Clause", "in the report's page", "https://d3js.org"),
)
LIBRARIES = (
    ("SQLite", "{sqlite}", "blessing", "linked", "https://www.sqlite.org"),
    ("zlib", "{zlib}", "Zlib", "linked", "https://zlib.net"),
)
GCC = (("libstdc++", "libstdc++-{gcc}-dev", "GPL-3.0-or-later WITH GCC-exception-3.1", "linked", "https://gcc.gnu.org"),)
# The compiler of portable.sh brings its own.
LLVM = (
    ("libc++", "libcxx", "Apache-2.0 WITH LLVM-exception", "linked", "https://libcxx.llvm.org"),
    ("libc++abi", "libcxxabi", "Apache-2.0 WITH LLVM-exception", "linked", "https://libcxxabi.llvm.org"),
    ("libunwind", "libunwind", "Apache-2.0 WITH LLVM-exception", "linked", "https://github.com/llvm/llvm-project/tree/main/libunwind"),
    ("zig-compiler-rt", "ziglang", "MIT", "linked", "https://ziglang.org"),
)


class Installed:
    """The packages of this machine."""

    def __init__(self):
        gcc = subprocess.run(["g++", "-dumpversion"], capture_output=True, text=True, check=True).stdout.strip().split(".")[0]
        self.parts = tuple((name, package.format(sqlite="libsqlite3-dev", zlib="zlib1g-dev", gcc=gcc), *rest)
                           for name, package, *rest in (*HEADERS, *LIBRARIES, *GCC))

    def version(self, package):
        found = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True, check=False)
        if found.returncode != 0 or not found.stdout:
            sys.exit(f"components: the package {package} is not installed, so its version and licence are not known; scripts/setup.sh installs it")
        return found.stdout

    def licence(self, package):
        return pathlib.Path("/usr/share/doc", package, "copyright").read_bytes()

    def address(self, package):
        return f"pkg:deb/debian/{package}@{self.version(package)}"


class Portable:
    """What portable.sh put into a root of its own."""
    SOURCES = ("sqlite3", "zlib")

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.versions = dict(line.split() for line in (self.folder / "parts").read_text(encoding="utf-8").splitlines())
        self.parts = tuple((name, package.format(sqlite="sqlite3", zlib="zlib"), *rest) for name, package, *rest in (*HEADERS, *LIBRARIES, *LLVM))

    def version(self, package):
        return self.versions[package]

    def licence(self, package):
        return (self.folder / "root" / "usr" / "share" / "doc" / package / "copyright").read_bytes()

    def address(self, package):
        if package in {package for _, package, *_ in LLVM}:
            return f"pkg:pypi/ziglang@{self.versions['ziglang']}"
        return f"pkg:deb/debian/{package}@{self.versions[package]}" + ("?arch=source" if package in self.SOURCES else "")


def upstream(version):
    return re.sub(r"-[^-]*$", "", version.split(":")[-1]).split("+")[0]


def document(version, epoch, origin):
    created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    packages = [{"SPDXID": "SPDXRef-gable", "name": "gable-profiler", "versionInfo": version, "licenseConcluded": "Apache-2.0",
                 "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION", "downloadLocation": "NOASSERTION", "filesAnalyzed": False}]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-gable"}]
    for name, package, licence, how, home in origin.parts:
        ref = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)
        packages.append({"SPDXID": ref, "name": name, "versionInfo": upstream(origin.version(package)), "licenseConcluded": licence, "licenseDeclared": licence,
                         "copyrightText": "NOASSERTION", "downloadLocation": "NOASSERTION", "homepage": home, "filesAnalyzed": False,
                         "comment": how, "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                                          "referenceLocator": origin.address(package)}]})
        relation = "STATIC_LINK" if how == "linked" else "CONTAINS"
        relations.append({"spdxElementId": "SPDXRef-gable", "relationshipType": relation, "relatedSpdxElement": ref})
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"gable-profiler-{version}",
            "documentNamespace": f"https://spdx.org/spdxdocs/gable-profiler-{version}-{epoch}",
            "creationInfo": {"created": created, "creators": ["Tool: gable-components"]}, "packages": packages, "relationships": relations}


def main():
    out, version, epoch = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    (out / "licenses").mkdir(parents=True, exist_ok=True)
    origin = Portable(sys.argv[4]) if len(sys.argv) > 4 else Installed()
    made = document(version, epoch, origin)
    (out / "sbom.spdx.json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    for name, package, *_ in origin.parts:
        (out / "licenses" / name).write_bytes(origin.licence(package))


main()
