#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes every parser of user and file input with libFuzzer, under the address and undefined-behaviour sanitizers.
#   scripts/fuzz.sh            the corpus and some thousand inputs made of it, the same ones every time: what a change must pass
#   scripts/fuzz.sh SECONDS    new inputs, shared evenly by the targets of tests/fuzz, as many at once as there are cores
# What SECONDS finds stays in build-fuzz/corpus for the next run. An input that breaks something is kept as
# build-fuzz/broken/TARGET-…, and `build-fuzz/bin/TARGET FILE` repeats it.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

total=${1:-0}
[[ $# == 0 || $total =~ ^[1-9][0-9]*$ ]] || {
  printf "fuzz: '%s' is not a number of seconds; write scripts/fuzz.sh 60\n" "$total" >&2
  exit 2
}

scripts/setup.sh --fuzz
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
# A short run is over before an optimised build would be.
cmake --preset fuzz "${launcher[@]}" "-DCMAKE_CXX_FLAGS=-g1 $([[ $total -gt 600 ]] && echo -O2 || echo -O0)"
cmake --build --preset fuzz

mkdir -p build-fuzz/broken build-fuzz/logs
# Names of fields and options, which no one guesses: those in the readers' own sources.
words() {
  grep -ohE '"[a-z_0-9]{2,}"' "$@" | sort -u | sed -E 's/"(.*)"/"\\"\1\\""/'
}
words analysis/report/report_json_read.cpp >build-fuzz/report.dict
words analysis/recording/*.cpp >build-fuzz/recording.dict
grep -ohE -- '"--[a-z-]+' collector/options/settings.cpp | sort -u | sed 's/$/="/' >build-fuzz/options.dict

mapfile -t targets < <(find tests/fuzz/corpus -mindepth 1 -type d -printf '%f\n' | sort)
each=$(((total + ${#targets[@]} - 1) / ${#targets[@]}))

fuzz_one() {  # target, seconds or 0
  local name=$1 seconds=$2 seeds=("tests/fuzz/corpus/$1") how=() same=()
  [[ $name != recording ]] || seeds+=(tests/data/recordings/small)
  [[ ! -e build-fuzz/$name.dict ]] || how+=("-dict=build-fuzz/$name.dict")
  if [[ $seconds == 0 ]]; then
    # In the order of their names, not of the disk; without operands that were compared, as addresses are among them; and, where
    # that is allowed, with the same addresses.
    local files inputs=10000
    files=$(find "${seeds[@]}" -type f | LC_ALL=C sort | paste -sd ,)
    # Whole reports are made of these, which takes long.
    ! grep -q fuzz_import.h "tests/fuzz/fuzz_$name.cpp" || inputs=800
    ! setarch -R true 2>/dev/null || same=(setarch -R)
    how+=(-seed=1 "-runs=$inputs" -use_cmp=0 "-seed_inputs=$files")
  else
    mkdir -p "build-fuzz/corpus/$name"
    how+=("-max_total_time=$seconds" "build-fuzz/corpus/$name" "${seeds[@]}")
  fi
  "${same[@]}" "build-fuzz/bin/fuzz_$name" -max_len=8192 -timeout=60 -rss_limit_mb=2048 -print_final_stats=1 \
    "-artifact_prefix=build-fuzz/broken/fuzz_$name-" "${how[@]}" >"build-fuzz/logs/$name" 2>&1
}
export -f fuzz_one

if ! printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I NAME bash -c "fuzz_one NAME $each"; then
  for name in "${targets[@]}"; do grep -HE 'ERROR|SUMMARY|fuzz: not kept|Test unit written' "build-fuzz/logs/$name" || true; done
  printf 'fuzz: an input broke something; it lies in build-fuzz/broken\n' >&2
  exit 1
fi
runs=0
for name in "${targets[@]}"; do
  count=$(awk '/^stat::number_of_executed_units/ { print $2 }' "build-fuzz/logs/$name")
  covered=$(grep -oE 'cov: [0-9]+' "build-fuzz/logs/$name" | tail -1)
  printf 'fuzz: %s: %d inputs, %s\n' "$name" "$count" "$covered"
  runs=$((runs + count))
done
printf 'fuzz: %d targets, %d inputs: nothing broke\n' "${#targets[@]}" "$runs"
