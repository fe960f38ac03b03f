# SPDX-License-Identifier: Apache-2.0
"""What libgable_inject.so shows to the program it is loaded into: library_test.py LIBRARY EXPORTS_MAP [unittest's arguments]."""
import re
import subprocess
import sys
import unittest

LIBRARY, EXPORTS_MAP = sys.argv.pop(1), sys.argv.pop(1)
# glibc's own, and the loader. Everything else would have to be on the user's machine, or clash with what the program has.
GLIBC = re.compile(r"^(libc\.so\.6|libm\.so\.6|libdl\.so\.2|libpthread\.so\.0|librt\.so\.1|ld-linux-[a-z0-9-]+\.so\.[12])$")
NEWEST_GLIBC = (2, 36)  # Debian 12


def readelf(*options):
    return subprocess.run(["readelf", "-W", *options, LIBRARY], capture_output=True, text=True, check=True).stdout


def symbols():
    """(name, defined here) of every dynamic symbol."""
    found = []
    for line in readelf("--dyn-syms").splitlines():
        columns = line.split()
        if len(columns) >= 8 and columns[0].rstrip(":").isdigit():
            found.append((columns[7], columns[6] != "UND"))
    return found


class TheLibrary(unittest.TestCase):
    def test_exports_its_entry_points_and_nothing_else(self):
        with open(EXPORTS_MAP, encoding="utf-8") as file:
            listed = re.search(r"global:(.*?)local:", file.read(), re.DOTALL).group(1)
        expected = {name.strip() for name in listed.split(";") if name.strip()}
        self.assertIn("InitializeInjection", expected)
        self.assertEqual(expected, {name.split("@")[0] for name, defined in symbols() if defined})

    def test_needs_glibc_alone(self):
        needed = re.findall(r"\(NEEDED\).*\[(.+)\]", readelf("-d"))
        self.assertIn("libc.so.6", needed)
        self.assertEqual([], [name for name in needed if not GLIBC.match(name)])

    def test_runs_with_the_glibc_of_debian_12(self):
        versions = {tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_(\d+\.\d+)", readelf("-V"))}
        self.assertTrue(versions)
        self.assertLessEqual(max(versions), NEWEST_GLIBC)

    def test_links_neither_cuda_nor_cupti(self):
        wanted = [name for name, defined in symbols() if not defined and re.match(r"^(cu[A-Z]|cupti|cuda|nvtx)", name)]
        self.assertEqual([], wanted)

    def test_cannot_be_unloaded_and_asks_for_no_writable_code(self):
        self.assertRegex(readelf("-d"), r"FLAGS_1.*NODELETE")
        self.assertNotIn("TEXTREL", readelf("-d"))
        self.assertNotRegex(readelf("-l"), r"GNU_STACK\s.*RWE")


if __name__ == "__main__":
    unittest.main()
