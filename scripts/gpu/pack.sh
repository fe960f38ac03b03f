#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packs what scripts/gpu/prove.sh needs of a built tree into a folder that travels: stripped, at most 44 MB.
#   scripts/gpu/pack.sh [BUILD [FOLDER]]    default: the first of build-ci, build and build-dev; build-prove
# CUPTI goes with it, from CUDA_HOME, /usr/local/cuda or the build folder's wheels, as a machine may have a driver alone. It is
# compressed (42 MB become 10), and prove.sh unpacks it.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
readonly limit=44000000

wrong() {
  printf 'pack: %s\n' "$1" >&2
  exit 2
}

build=${1:-}
for name in build-ci build build-dev; do
  if [[ -z $build && -x $root/$name/bin/gable_prove ]]; then build=$root/$name; fi
done
[[ -n $build && -x $build/bin/gable_prove ]] || wrong "no build folder has bin/gable_prove: build the target 'prove', or name the folder"
target=${2:-$root/build-prove}

rm -rf "$target"
mkdir -p "$target/bin" "$target/lib"
for program in gable gable_prove gable_probe gable_truth gable-sample gable_hazard; do
  if [[ -e $build/bin/$program ]]; then cp "$build/bin/$program" "$target/bin/"; fi
done
cp "$build/lib/libgable_inject.so" "$target/lib/"
cp -R "$build/lib/python" "$build/lib/playback" "$target/lib/"
find "$target/bin" "$target/lib" -type f \( -name '*.so*' -o -perm -u+x \) ! -name '*.py' -exec strip --strip-unneeded {} +

# Where the library looks for wheels of its own build folder.
wheel=$target/cuda-wheels/nvidia/cu13/lib
for folder in "${CUDA_HOME:-/usr/local/cuda}/lib64" "${CUDA_HOME:-/usr/local/cuda}/lib" "${CUDA_HOME:-/usr/local/cuda}/extras/CUPTI/lib64" \
  "$build/cuda-wheels/nvidia/cu13/lib"; do
  if [[ ! -e $wheel && -e $folder/libcupti.so.13 && -e $folder/libnvperf_host.so && -e $folder/libnvperf_target.so ]]; then
    mkdir -p "$wheel"
    for library in libcupti.so.13 libnvperf_host.so libnvperf_target.so; do gzip -c "$folder/$library" >"$wheel/$library.gz"; done
  fi
done
[[ -e $wheel ]] || printf 'pack: there is no CUPTI 13 here to bring along; the other machine must have one\n' >&2

bytes=$(du -sb "$target" | cut -f 1)
printf 'pack: %s has %d MB\n' "$target" $((bytes / 1000000)) >&2
((bytes <= limit)) || wrong "that is more than $((limit / 1000000)) MB: pack a Release build"
