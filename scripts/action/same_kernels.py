#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the files that decide what runs on the GPU are the same in two folders: same_kernels.py BASE HEAD GLOB...

Of ELF files only the sections with the GPU's code count; other files count whole. Ends with 0 if all are the same, 1 if not, 2 if no file
matches. Prints one sentence.
"""
import hashlib
import pathlib
import struct
import sys

_SECTIONS = (b".nv_fatbin", b"__nv_relfatbin")


def gpu_code(data):
    """The sections of a 64-bit ELF file that hold the GPU's code; None where the file is none."""
    if data[:5] != b"\x7fELF\x02":
        return None
    (table,), (size, count, names) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<3H", data, 58)
    sections = [struct.unpack_from("<IIQQQQ", data, table + number * size) for number in range(count)]
    found = []
    for name, _, _, _, offset, length in sections:
        at = sections[names][4] + name
        if data[at:data.index(b"\0", at)] in _SECTIONS:
            found.append(data[offset:offset + length])
    return b"".join(found)


def digest(path):
    data = path.read_bytes()
    try:
        code = gpu_code(data)
    except (struct.error, ValueError, IndexError):
        code = None  # damaged: it counts whole
    return hashlib.sha256(data if code is None else code).hexdigest()


def main():
    base, head, *globs = sys.argv[1:]
    found = []
    for folder in (pathlib.Path(base), pathlib.Path(head)):
        paths = {path for glob in globs for path in folder.glob(glob) if path.is_file()}
        found.append({path.relative_to(folder).as_posix(): digest(path) for path in paths})
    names = set(found[0]) | set(found[1])
    if not names:
        print(f"No file matches kernels: {' '.join(globs)}.")
        return 2
    differ = sorted(name for name in names if found[0].get(name) != found[1].get(name))
    if differ:
        print(f"{len(differ)} of {len(names)} files of GPU code differ: {', '.join(differ[:5])}{', …' if len(differ) > 5 else ''}.")
        return 1
    print(f"The GPU's code is the same in base and head ({len(names)} files: {' '.join(globs)}), so nothing was profiled.")
    return 0


sys.exit(main())
