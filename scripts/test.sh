#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds everything with warnings as errors, and runs all tests.
#   scripts/test.sh                  the presets ci and reader (without CUDA)
#   scripts/test.sh --sanitizers     and the unit tests and programs on the playback GPU under the address, leak and
#                                    undefined-behaviour sanitizers, such programs under the thread sanitizer, and fuzzing
#                                    with the same inputs every time
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
if command -v ccache >/dev/null; then
  launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  # The quickstart's build of tests/first_contact, in a clone below this folder, finds what is compiled here.
  export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root} CCACHE_NOHASHDIR=true
fi

build() {  # preset, then options of cmake --build
  local preset=$1
  shift
  cmake --preset "$preset" "${launcher[@]}"
  cmake --build --preset "$preset" "$@"
}

scripts/setup.sh
scripts/setup.sh --cuda build-ci
scripts/setup.sh --torch build-ci
scripts/setup.sh --browser build-ci
build ci
ctest --preset ci -j2 --no-tests=error
# Gable's own gate: what is made of a recording may not get worse than its baseline. The times and counts of a playback are
# exact, so any drift is a change of the code.
build-ci/bin/gable profile --playback tests/data/recordings/small/layers.jsonl --active 1 --step-range '^step' -o build-ci/layers.json
build-ci/bin/gable check build-ci/layers.json --baseline tests/data/baselines/layers.json --gate 0 --what time,dram,flops,roof
grep -aE '^(failures: .* pairs of call and use|soak: )' build-ci/Testing/Temporary/LastTest.log

# Reports can be read where there is no CUDA at all.
build reader
ctest --preset reader -j2 --no-tests=error

if [[ $sanitizers == yes ]]; then
  scripts/setup.sh --cuda build-asan
  # Programs that must carry the sanitizers' run-time, as what is injected into them cannot bring it along.
  playback=(gable_inject gable_playback gable_hazard gable_long_run gable_with_other_tool gable_other_tool_now
    gable_other_tool_lazy)
  # found PREFIX NAME: the reports that the sanitizers wrote are findings, also where no test noticed.
  found() {
    compgen -G "$1.*" >/dev/null || return 0
    cat "$1".*
    echo "test: $2 found these" >&2
    exit 1
  }

  build asan --target unit_tests gable_cupti_symbols "${playback[@]}"
  rm -f build-asan/error.*
  ctest --preset asan -j2 --no-tests=error --label-regex '^unit$' --exclude-regex '^Processes[.]'
  # Not report.budget: what callbacks take counts there, and the sanitizer makes them take more than the budget.
  ctest --preset asan -j2 --no-tests=error \
    --tests-regex '^(hazards|failures\.(matrix|limits|other_tools)|report\.(metrics|graphs|scopes|borders|window))$'
  found build-asan/error 'the address sanitizer'

  # The library, the programs and their GPU; what launches them has no threads, so that of ci does.
  scripts/setup.sh --cuda build-tsan
  build tsan --target "${playback[@]}"
  cp build-ci/bin/gable build-tsan/bin/
  rm -f build-tsan/race.*
  ctest --preset tsan -j2 --no-tests=error --tests-regex '^(hazards|failures\.(limits|other_tools))$'
  found build-tsan/race 'the thread sanitizer'

  scripts/fuzz.sh
fi
