#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What others wrote and a package of Gable contains: components.py OUT VERSION EPOCH

Writes OUT/sbom.spdx.json (SPDX 2.3) and OUT/licenses/NAME, the licence text of each part. Versions and texts are those of the Debian
packages that the build took the parts from.
"""
import datetime
import json
import pathlib
import re
import subprocess
import sys

GCC = subprocess.run(["g++", "-dumpversion"], capture_output=True, text=True, check=True).stdout.strip().split(".")[0]
# Name, Debian's package, licence, what is in a package of Gable, and where it is from.
PARTS = (
    ("nlohmann_json", "nlohmann-json3-dev", "MIT", "compiled in", "https://github.com/nlohmann/json"),
    ("CLI11", "libcli11-dev", "BSD-3-Clause", "compiled in", "https://github.com/CLIUtils/CLI11"),
    ("RapidJSON", "rapidjson-dev", "MIT", "compiled in", "https://github.com/Tencent/rapidjson"),
    ("protozero", "libprotozero-dev", "BSD-2-Clause", "compiled in", "https://github.com/mapbox/protozero"),
    ("SQLite", "libsqlite3-dev", "blessing", "linked", "https://www.sqlite.org"),
    ("zlib", "zlib1g-dev", "Zlib", "linked", "https://zlib.net"),
    ("libstdc++", f"libstdc++-{GCC}-dev", "GPL-3.0-or-later WITH GCC-exception-3.1", "linked", "https://gcc.gnu.org"),
    ("D3", "node-d3", "BSD-3-Clause", "in the report's page", "https://d3js.org"),
)


def version_of(package):
    found = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True, check=False)
    if found.returncode != 0 or not found.stdout:
        sys.exit(f"components: the package {package} is not installed, so its version and licence are not known; scripts/setup.sh installs it")
    return found.stdout


def upstream(version):
    return re.sub(r"-[^-]*$", "", version.split(":")[-1]).split("+")[0]


def document(version, epoch, parts):
    created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    packages = [{"SPDXID": "SPDXRef-gable", "name": "gable-profiler", "versionInfo": version, "licenseConcluded": "Apache-2.0",
                 "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION", "downloadLocation": "NOASSERTION", "filesAnalyzed": False}]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-gable"}]
    for name, package, licence, how, home in parts:
        debian = version_of(package)
        ref = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)
        packages.append({"SPDXID": ref, "name": name, "versionInfo": upstream(debian), "licenseConcluded": licence, "licenseDeclared": licence,
                         "copyrightText": "NOASSERTION", "downloadLocation": "NOASSERTION", "homepage": home, "filesAnalyzed": False,
                         "comment": how, "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                                          "referenceLocator": f"pkg:deb/debian/{package}@{debian}"}]})
        relation = "STATIC_LINK" if how == "linked" else "CONTAINS"
        relations.append({"spdxElementId": "SPDXRef-gable", "relationshipType": relation, "relatedSpdxElement": ref})
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"gable-profiler-{version}",
            "documentNamespace": f"https://spdx.org/spdxdocs/gable-profiler-{version}-{epoch}",
            "creationInfo": {"created": created, "creators": ["Tool: gable-components"]}, "packages": packages, "relationships": relations}


def main():
    out, version, epoch = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    (out / "licenses").mkdir(parents=True, exist_ok=True)
    made = document(version, epoch, PARTS)
    (out / "sbom.spdx.json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    for name, package, *_ in PARTS:
        text = pathlib.Path("/usr/share/doc", package, "copyright").read_bytes()
        (out / "licenses" / name).write_bytes(text)


main()
