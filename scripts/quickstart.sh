#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone to the first table: installs what is missing, builds the whole product (no tests) into
# build/, and profiles a program on this machine's GPU, or plays the recording of a ResNet-50 training where there is none.
#   GABLE_QUICKSTART_BUILD=DIR   uses this build folder, which is built already
#   GABLE_QUICKSTART_CMAKE=WORDS   more options of cmake
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${GABLE_QUICKSTART_BUILD:-$root/build}
recording=$root/tests/data/recordings/resnet50-train.jsonl

say() { printf '\nquickstart: %s\n' "$1" >&2; }

build_it() {
  "$root/scripts/setup.sh" --program
  "$root/scripts/setup.sh" --cuda "$build"
  say "building into $build"
  local log more=()
  read -ra more <<<"${GABLE_QUICKSTART_CMAKE:-}"
  log=$(cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGABLE_TESTS=OFF "${more[@]}" 2>&1) || {
    printf '%s\n' "$log" >&2
    exit 1
  }
  cmake --build "$build" --target quickstart >&2
}

# A driver and a device: the driver alone is also on machines that only build.
has_gpu() {
  [[ -e /dev/nvidiactl || -e /dev/dxg ]] && command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1
}

[[ -n ${GABLE_QUICKSTART_BUILD:-} ]] || build_it
gable=$build/bin/gable
report=$PWD/gable-quickstart.json

if has_gpu; then
  say "this machine has a GPU: profiling a small program on it"
  "$gable" profile --step-range '^step$' --output "$report" -- "$build/bin/gable-sample"
else
  say "no GPU here: playing the recording of a ResNet-50 training step on the playback GPU"
  "$gable" profile --step-range '^step$' --output "$report" --playback "$recording"
fi
[[ -s $report ]] || {
  say "no report was written"
  exit 1
}
say "the report is $report"
say "the program is $gable; try: $gable profile -- python main.py"
