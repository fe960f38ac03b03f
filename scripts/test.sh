#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds everything with warnings as errors, and runs the tests.
#   scripts/test.sh                  all but those that take long or look at the clock, which scripts/nightly.sh runs
#   scripts/test.sh --sanitizers     and some of PyTorch's with an old one, and the unit tests and programs on the playback GPU under the
#                                    address, leak and undefined-behaviour sanitizers, and such programs under the thread sanitizer
#   scripts/test.sh --all            and the tests that take long, and the reader's preset, which needs no CUDA
#   scripts/test.sh --portable       all but those that take long, with the compiler and the libraries that make the packages
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

sanitizers=no all=no preset=ci
for option in "$@"; do
  case $option in
    --sanitizers) sanitizers=yes ;;
    --all) sanitizers=yes all=yes ;;
    --portable) preset=portable ;;
    *)
      printf "test: there is no option '%s'; there are --sanitizers, --all and --portable\n" "$option" >&2
      exit 2
      ;;
  esac
done
if [[ $preset == portable && $# -gt 1 ]]; then
  echo 'test: --portable goes with no other option' >&2
  exit 2
fi
tests=build-$preset

# Tests wait more than they compute, so more of them run at once than there are cores.
jobs=$(($(nproc) * 3 / 2 + 1))

phase() { printf 'test: %s, after %d s\n' "$1" "$SECONDS"; }

# run_tests FOLDER, then options of ctest. A long run's log is often cut in its middle, so what failed is shown at the end too.
run_tests() {
  local log=$1/Testing/Temporary/LastTest.log status=0
  shift
  ctest "$@" "-j$jobs" --no-tests=error || status=$?
  [[ $status == 0 ]] || awk '
    / Testing: / { name = $NF; count = 0 }
    { lines[++count] = $0 }
    /^Test (Failed|Timeout)/ {
      print "test: the end of what " name " printed:"
      for (i = count > 40 ? count - 39 : 1; i <= count; ++i) print lines[i]
    }' "$log"
  return "$status"
}

build() {  # preset, then options of cmake --build
  local preset=$1
  shift
  phase "building the preset $preset"
  cmake --preset "$preset" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
  cmake --build --preset "$preset" "$@"
}

scripts/setup.sh
# The tests build the program again, as users do: by the quickstart in a clone below this folder, and by pip. ccache knows the
# objects by then, but for the option that makes warnings errors.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root} CCACHE_NOHASHDIR=true CCACHE_IGNOREOPTIONS=-Werror
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
if [[ $preset == portable ]]; then
  scripts/setup.sh --package "$tests"
  GABLE_TOOLCHAIN=$(scripts/package/portable.sh "$(uname -m)" "$tests" --tests)
  export GABLE_TOOLCHAIN CCACHE_COMPILERCHECK=content  # the compiler is a script that is written anew
else
  scripts/setup.sh --cuda "$tests"
fi
scripts/setup.sh --torch "$tests"
if [[ $sanitizers == yes ]]; then scripts/setup.sh --old-torch "$tests"; fi
scripts/setup.sh --browser "$tests"
scripts/setup.sh --disassembler "$tests"
scripts/setup.sh --secrets "$tests"
scripts/setup.sh --launching "$tests"
scripts/setup.sh --fleet "$tests"
build "$preset"
phase 'running the tests'
run_tests "$tests" --preset "$([[ $all == yes ]] && echo nightly || echo "$preset")"
# Gable's own gate: what is made of a recording may not get worse than its baseline. The times and counts of a playback are
# exact, so any drift is a change of the code.
"$tests/bin/gable" profile --playback tests/data/recordings/small/layers.jsonl --active 1 --step-range '^step' -o "$tests/layers.json"
"$tests/bin/gable" check "$tests/layers.json" --baseline tests/data/baselines/layers.json --gate 0 --what time,dram,flops,roof
grep -aE '^(failures: .* pairs of call and use|soak: |locks: |threads: |signals: |ends: |hazards: |hostile: )' "$tests/Testing/Temporary/LastTest.log"

if [[ $all == yes ]]; then
  # Reports can be read where there is no CUDA at all.
  build reader
  run_tests build-reader --preset reader
fi

if [[ $sanitizers == yes ]]; then
  scripts/setup.sh --cuda build-asan
  # Programs that must carry the sanitizers' run-time, as what is injected into them cannot bring it along.
  playback=(gable_inject gable_playback gable_hazard gable_long_run gable_with_other_tool gable_other_tool_now
    gable_other_tool_lazy)
  # under PREFIX NAME, then options of ctest. The reports that the sanitizers wrote are findings, also where no test noticed, and
  # shown where one failed: its own output does not tell what was found.
  under() {
    local reports=$1 name=$2 status=0
    shift 2
    rm -f "$reports".*
    run_tests "$(dirname "$reports")" "$@" || status=$?
    compgen -G "$reports.*" >/dev/null || return "$status"
    cat "$reports".*
    echo "test: $name found these" >&2
    return 1
  }

  build asan --target unit_tests gable_cupti_symbols "${playback[@]}"
  phase 'running tests under the address sanitizer'
  under build-asan/error 'the address sanitizer' --preset asan --label-regex '^unit$' --exclude-regex '^Processes[.]'
  # Not report.budget: what callbacks take counts there, and the sanitizer makes them take more than the budget.
  under build-asan/error 'the address sanitizer' --preset asan \
    --tests-regex '^(hazards|failures\.(matrix|limits|ladder|other_tools)|report\.(metrics|graphs|scopes|borders|window))$'

  # The library, the programs and their GPU; what launches them has no threads, so that of ci does.
  scripts/setup.sh --cuda build-tsan
  build tsan --target "${playback[@]}"
  cp build-ci/bin/gable build-tsan/bin/
  phase 'running tests under the thread sanitizer'
  under build-tsan/race 'the thread sanitizer' --preset tsan --tests-regex '^(hazards|threads|failures\.(limits|ladder|other_tools))$'
fi
phase 'all green'
