#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds everything with warnings as errors, and runs all tests.
#   scripts/test.sh                  the presets ci and reader (without CUDA)
#   scripts/test.sh --sanitizers     and the unit tests again under the address and undefined-behaviour sanitizers, and
#                                    programs on the playback GPU under the thread sanitizer, and a minute of fuzzing
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

sanitizers=no
case ${1:-} in
  '') ;;
  --sanitizers) sanitizers=yes ;;
  *)
    printf "test: there is no option '%s'; there is --sanitizers\n" "$1" >&2
    exit 2
    ;;
esac

launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi

build() {  # preset, then options of cmake --build
  local preset=$1
  shift
  cmake --preset "$preset" "${launcher[@]}"
  cmake --build --preset "$preset" "$@"
}

scripts/setup.sh
scripts/setup.sh --cuda build-ci
scripts/setup.sh --torch build-ci
build ci
ctest --preset ci -j2 --no-tests=error
grep -aE '^(failures: .* pairs of call and use|soak: )' build-ci/Testing/Temporary/LastTest.log

# Reports can be read where there is no CUDA at all.
build reader
ctest --preset reader -j2 --no-tests=error

if [[ $sanitizers == yes ]]; then
  scripts/setup.sh --cuda build-asan
  # Programs into which the library is injected do not carry the sanitizers' run-time: only unit tests do.
  build asan --target unit_tests
  ctest --preset asan -j2 --no-tests=error --label-regex '^unit$' --exclude-regex '^(Processes|Simulation)[.]'

  # The library, the programs and their GPU; what launches them has no threads, so that of ci does.
  scripts/setup.sh --cuda build-tsan
  build tsan --target gable_inject gable_playback gable_hazard gable_long_run gable_with_other_tool \
    gable_other_tool_now gable_other_tool_lazy
  cp build-ci/bin/gable build-tsan/bin/
  rm -f build-tsan/race.*
  ctest --preset tsan -j2 --no-tests=error --tests-regex '^(hazards|failures\.(limits|other_tools))$'
  if compgen -G 'build-tsan/race.*'; then
    cat build-tsan/race.*
    echo 'test: the thread sanitizer found these' >&2
    exit 1
  fi

  scripts/fuzz.sh 60
fi
