# SPDX-License-Identifier: Apache-2.0
"""A Python of Debian's for aarch64 with PyTorch, unpacked into a folder, and run by an emulator."""
import os
import pathlib
import subprocess
import sys
import zipfile

PYTORCH = ("torch==2.8.0", "numpy==2.3.4", "typing_extensions==4.16.0", "sympy==1.14.0", "networkx==3.6.1", "jinja2==3.1.6", "filelock==4.3.1",
           "fsspec==2026.9.0", "mpmath==1.4.1", "markupsafe==3.0.4")


class NotHere(Exception):
    """It cannot be had on this machine; the text says why."""


def _try(words, what):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, timeout=1200)
    if done.returncode != 0:
        raise NotHere(f"{what}: {done.stderr.strip()[-300:]}")
    return done.stdout


class EmulatedPython:
    def __init__(self, folder):
        folder = pathlib.Path(folder)
        self.root, self.site = folder / "root", folder / "site"
        self.emulator = ("qemu-aarch64-static", "-L", self.root)
        if not (folder / "complete").exists():
            self._unpack_python(folder / "apt")
            self._unpack_pytorch(folder / "wheels")
            (folder / "complete").touch()

    def _unpack_python(self, work):
        for name in ("lists/partial", "cache/archives/partial", "state"):
            (work / name).mkdir(parents=True, exist_ok=True)
        (work / "state" / "status").touch()
        (work / "sources.list").write_text("deb [arch=arm64] http://deb.debian.org/debian bookworm main\n", encoding="utf-8")
        settings = {"Dir::Etc::SourceList": work / "sources.list", "Dir::Etc::SourceParts": "-", "Dir::State": work / "state",
                    "Dir::State::status": work / "state" / "status", "Dir::State::Lists": work / "lists", "Dir::Cache": work / "cache",
                    "APT::Architecture": "arm64", "APT::Architectures": "arm64", "APT::Sandbox::User": ""}
        apt = ["apt-get", "-qq", *(word for name, value in settings.items() for word in ("-o", f"{name}={value}"))]
        _try([*apt, "update"], "Debian's packages for arm64")
        _try([*apt, "install", "-y", "--download-only", "--no-install-recommends", "python3", "libgomp1", "libstdc++6"], "Debian's packages for arm64")
        self.root.mkdir(exist_ok=True)
        for package in (work / "cache" / "archives").glob("*.deb"):
            _try(["dpkg-deb", "-x", package, self.root], package.name)

    def _unpack_pytorch(self, wheels):
        platforms = [f"--platform={name}_aarch64" for name in ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014")]
        _try([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", *platforms,
              "--python-version=3.11", "-d", wheels, *PYTORCH], "PyTorch for aarch64")
        for wheel in wheels.glob("*.whl"):
            self.install(wheel)

    def install(self, wheel):
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                path = pathlib.Path(archive.extract(entry, self.site))
                if entry.external_attr >> 16 & 0o100 and path.is_file():
                    path.chmod(0o755)

    def words(self, *variables):
        """What runs it, with environment variables for it alone."""
        return (*self.emulator, *(word for variable in variables for word in ("-E", variable)), self.root / "usr" / "bin" / "python3.11")

    def environment(self, **more):
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        return {**kept, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(self.site), **more}
