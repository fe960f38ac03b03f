# SPDX-License-Identifier: Apache-2.0
from spack_repo.builtin.build_systems.generic import Package

from spack.package import *


class D3(Package):
    """Library that draws data in web pages: the built script, which the repository of its sources does not hold."""

    homepage = "https://d3js.org"
    git = "https://github.com/mbostock-bower/d3-bower.git"

    license("BSD-3-Clause")

    version("5.16.0", tag="v5.16.0", commit="c15b85ce115be200bd4ca473f97fcd0bb43bba07")

    def install(self, spec, prefix):
        mkdirp(prefix.share.d3)
        install("d3.min.js", prefix.share.d3)
        install("LICENSE", prefix.share.d3)
