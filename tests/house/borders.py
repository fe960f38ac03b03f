# SPDX-License-Identifier: Apache-2.0
"""Which folders of the product each folder may include, as the build's own include paths say."""
import pathlib

import tree_rules


class Borders:
    def __init__(self, build):
        """`build`: a configured build folder."""
        self.roots = {}  # by folder: its sources' include paths
        self.uses = {}   # and the folders that it says it uses
        for line in (pathlib.Path(build) / "include" / "folders.txt").read_text(encoding="utf-8").splitlines():
            folder, uses, roots = line.split(":", 2)
            self.uses[folder] = uses.split(";") if uses else []
            self.roots[folder] = [pathlib.Path(root) for root in roots.split(";") if root]

    def finds(self, folder, header):
        """Whether a compiler that reads a source of `folder` finds `header`."""
        return any((root / header).is_file() for root in self.roots[folder])

    def visible(self, folder):
        return {other for other in self.roots if any((root / other).is_dir() for root in self.roots[folder])}


def border_problems(files, borders):
    """Every include of the product, also those that this build does not compile."""
    problems = []
    for path, text in sorted(files.items()):
        folder = path.rpartition("/")[0]
        if tree_rules.folder_of(path) not in tree_rules.ALLOWED or not path.endswith((".cpp", ".h")):
            continue
        if folder not in borders.roots:
            problems.append(f"{path}: no target of CMake is its folder's")
            continue
        problems += [f"{path} includes {name}: its folder does not say that it uses {name.rpartition('/')[0]}"
                     for bracket, name in tree_rules.INCLUDE.findall(text)
                     if bracket == '"' and not borders.finds(folder, name)]
    return problems
