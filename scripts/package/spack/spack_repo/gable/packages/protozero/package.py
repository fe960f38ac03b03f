# SPDX-License-Identifier: Apache-2.0
from spack_repo.builtin.build_systems.generic import Package

from spack.package import *


class Protozero(Package):
    """Reader and writer of protocol buffers: headers alone."""

    homepage = "https://github.com/mapbox/protozero"
    git = "https://github.com/mapbox/protozero.git"

    license("BSD-2-Clause")

    version("1.8.1", tag="v1.8.1", commit="89a55ad2962cca3adbe8383a4b6d9a8411352ef2")

    def install(self, spec, prefix):
        install_tree("include", prefix.include)
