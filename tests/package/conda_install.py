# SPDX-License-Identifier: Apache-2.0
"""Installs a conda package as conda does: conda_install.py PACKAGE CHANNEL PREFIX. CHANNEL is a new folder, a channel with this package alone."""
import asyncio
import os
import pathlib
import platform
import shutil
import sys

import rattler

HERE = {"x86_64": "linux-64", "aarch64": "linux-aarch64"}[platform.machine()]
package, channel, prefix = (pathlib.Path(word).resolve() for word in sys.argv[1:])


async def main():
    (channel / HERE).mkdir(parents=True)
    (channel / "noarch").mkdir()
    shutil.copy(package, channel / HERE)
    await rattler.index.index_fs(channel)
    records = await rattler.solve([channel.as_uri()], ["gable-profiler"], platforms=[HERE, "noarch"],
                                  virtual_packages=rattler.VirtualPackage.detect())
    await rattler.install(records, prefix, cache_dir=channel / "cache", show_progress=False)
    print(*(record.name.normalized for record in records))


asyncio.run(main())
sys.stdout.flush()
os._exit(0)  # py-rattler's threads now and then crash an interpreter that ends
