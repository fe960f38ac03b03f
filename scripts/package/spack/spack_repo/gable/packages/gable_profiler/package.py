# SPDX-License-Identifier: Apache-2.0
import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *

RECORDING = "tests/data/recordings/small/layers.jsonl"


class GableProfiler(CMakePackage):
    """Per-layer rooflines of unmodified CUDA programs in one run."""

    # The checkout that this recipe is part of, as it is committed.
    git = pathlib.Path(__file__).resolve().parents[7].as_uri()

    license("Apache-2.0")

    version("main", branch="main")

    variant("inject", default=True, description="The library that profiles; without it, Gable reads reports and imports traces")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("python@3.8:", type="run")
    depends_on("nlohmann-json@3.10:", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("rapidjson", type="build")
    depends_on("protozero@1.7:", type="build")
    depends_on("d3@5:7", type="build")
    depends_on("sqlite")
    depends_on("zlib-api")
    depends_on("cuda@12.6:", when="+inject")

    conflicts("%gcc@:10", msg="Gable is written in C++20")

    sanity_check_is_file = ["bin/gable"]

    def cmake_args(self):
        args = [
            self.define("GABLE_TESTS", False),
            self.define("GABLE_BENCHMARKS", False),
            self.define_from_variant("GABLE_INJECT", "inject"),
            self.define("GABLE_D3", self.spec["d3"].prefix.share.d3.join("d3.min.js")),
        ]
        if self.spec.satisfies("+inject"):
            args += [self.define("GABLE_CUDA_ROOT", self.spec["cuda"].prefix), self.define("GABLE_CUDA_ONLY_ROOT", True)]
        return args

    @run_after("install")
    def install_completions(self):
        gable = Executable(self.prefix.bin.gable)
        for shell, place in (("bash", bash_completion_path(self.prefix) / "gable"), ("zsh", zsh_completion_path(self.prefix) / "_gable"),
                             ("fish", fish_completion_path(self.prefix) / "gable.fish")):
            mkdirp(place.parent)
            with open(place, "w", encoding="utf-8") as out:
                gable("completion", shell, output=out)

    @run_after("install")
    def keep_recording(self):
        cache_extra_test_sources(self, [RECORDING])

    def test_playback(self):
        """Profiles the playback GPU and finds its layers."""
        if self.spec.satisfies("~inject"):
            raise SkipTest("without +inject, nothing profiles")
        recording = self.test_suite.current_test_cache_dir.join(RECORDING)
        gable = which(self.prefix.bin.gable, required=True)
        said = gable("profile", "--playback", recording, "--step-range", "^step$", "--active", "1", "-o", "report.json", output=str, error=str)
        assert "step/block" in said
