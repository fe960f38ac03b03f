# SPDX-License-Identifier: Apache-2.0
"""Which folders of the product each folder may include, as the build's own include paths say; and what the folders are made of:

    borders.py --graph [ROOT]     the floors of the folders, includes that go up, and counts of files and lines
"""
import collections
import pathlib
import sys

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


class Graph:
    """Which folder of the product includes which, and how often. A folder stands on the floor above all that it includes; folders
    that include each other stand on one floor."""

    def __init__(self, files):
        self.files = {path: text for path, text in files.items()
                      if tree_rules.folder_of(path) in tree_rules.ALLOWED and path.endswith((".cpp", ".h"))}
        self.uses = {path.rpartition("/")[0]: collections.Counter() for path in sorted(self.files)}
        self.includes = []  # (path, folder, header, its folder)
        for path, text in sorted(self.files.items()):
            folder = path.rpartition("/")[0]
            for bracket, header in tree_rules.INCLUDE.findall(text):
                other = header.rpartition("/")[0]
                if bracket == '"' and other != folder and other in self.uses:
                    self.uses[folder][other] += 1
                    self.includes.append((path, folder, header, other))
        reached = {folder: self.reached_from(folder) for folder in self.uses}
        self.floor = {}
        # Who reaches less stands lower; those of a circle reach the same.
        for folder in sorted(self.uses, key=lambda folder: len(reached[folder] - {folder})):
            below = [self.floor[other] for other in reached[folder] if folder not in reached[other]]
            self.floor[folder] = 1 + max(below, default=0)

    def reached_from(self, folder):
        found, left = set(), list(self.uses[folder])
        while left:
            other = left.pop()
            if other not in found:
                found.add(other)
                left += self.uses[other]
        return found

    def upward(self):
        """Includes of a folder that does not stand lower: some of them close a circle."""
        return [f"{path} includes {header}, and {other} does not stand below {folder}"
                for path, folder, header, other in self.includes if self.floor[other] >= self.floor[folder]]

    def counts(self, part=""):
        """(files, lines, largest folder with its files and lines, .cpp without a header of their name, headers without a source)"""
        own = {path: text for path, text in self.files.items() if not part or tree_rules.folder_of(path) == part}
        sizes = collections.defaultdict(lambda: [0, 0])
        for path, text in own.items():
            sizes[path.rpartition("/")[0]][0] += 1
            sizes[path.rpartition("/")[0]][1] += text.count("\n")
        largest = max(sizes, key=lambda folder: (sizes[folder][0], folder))
        return (len(own), sum(lines for _, lines in sizes.values()), (largest, *sizes[largest]),
                sum(path.endswith(".cpp") and path[:-4] + ".h" not in own for path in own),
                sum(path.endswith(".h") and path[:-2] + ".cpp" not in own for path in own))

    def lines(self):
        for floor in range(max(self.floor.values()), 0, -1):
            yield f"floor {floor}"
            for folder in sorted(folder for folder in self.floor if self.floor[folder] == floor):
                uses = self.uses[folder]
                yield f"  {folder}" + (": " if uses else "") + ", ".join(f"{other} {uses[other]}" for other in sorted(uses))
        upward = self.upward()
        yield "\nincludes that go up: " + (f"{len(upward)}" if upward else "none")
        yield from (f"  {one}" for one in upward)
        yield f"\n{'':10} {'files':>6} {'lines':>7}  {'.cpp without .h':>15}  {'.h without .cpp':>15}  largest folder"
        for part in (*tree_rules.ALLOWED, ""):
            files, lines, (largest, most, long), sources, headers = self.counts(part)
            yield f"{part or 'all':10} {files:6} {lines:7}  {sources:15}  {headers:15}  {largest} ({most} files, {long} lines)"


def main(arguments):
    if not arguments or arguments[0] != "--graph" or len(arguments) > 2:
        sys.exit(__doc__)
    root = pathlib.Path(arguments[1]) if len(arguments) == 2 else pathlib.Path(__file__).resolve().parents[2]
    print("\n".join(Graph(tree_rules.read_tree(root)).lines()))


if __name__ == "__main__":
    main(sys.argv[1:])
