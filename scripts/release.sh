#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the packages of this checkout, for x86-64 and for aarch64: a tarball, a Debian package, a wheel and a conda package each, with
# licences and an SBOM; all but the wheel have manual pages and completions, too. Prints their sizes and checksums, which are in SHA256SUMS, too.
#   scripts/release.sh                   into the folder packages
#   scripts/release.sh -o DIR            into DIR
#   scripts/release.sh --arch aarch64    for one architecture alone
# They run with every C library from 2.28 on, so from Debian 10, Ubuntu 20.04 and Red Hat Enterprise Linux 8 on. The same commit gives the
# same bytes, in whatever folder it is built.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=packages archs=(x86_64 aarch64)
while [[ $# -gt 0 ]]; do
  case $1 in
    -o | --arch)
      [[ $# -gt 1 ]] || {
        printf 'release: %s needs a word after it\n' "$1" >&2
        exit 2
      }
      if [[ $1 == -o ]]; then out=$2; else archs=("$2"); fi
      shift
      ;;
    *)
      printf "release: there is no option '%s'; there are -o DIR and --arch ARCH\n" "$1" >&2
      exit 2
      ;;
  esac
  shift
done
[[ ${archs[0]} == x86_64 || ${archs[0]} == aarch64 ]] || {
  printf "release: there is no package for '%s'; there are x86_64 and aarch64\n" "${archs[0]}" >&2
  exit 2
}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$root"

phase() { printf 'release: %s, after %d s\n' "$1" "$SECONDS" >&2; }

scripts/setup.sh --program
scripts/setup.sh --package build-release
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
# Nothing that is built names the folder it was built in.
export CXXFLAGS="-ffile-prefix-map=$root=. ${CXXFLAGS:-}"
made=()
for arch in "${archs[@]}"; do
  phase "building for $arch"
  toolchain=$(scripts/package/portable.sh "$arch" build-release)
  build=build-release/$arch stage=build-release/stage-$arch
  cmake -S . -B "$build" -G Ninja --toolchain "$toolchain" -DCMAKE_BUILD_TYPE=Release -DGABLE_TESTS=OFF -DGABLE_BENCHMARKS=OFF >/dev/null
  cmake --build "$build" --target gable gable_inject gable_python gable_playback
  scripts/package/stage.sh "$build" "$stage"
  phase "packaging for $arch"
  made+=("$(scripts/package/tarball.sh "$stage" "$out")")
  made+=("$(scripts/package/deb.sh "$stage" "$out")")
  made+=("$(build-release/package/bin/python scripts/package/wheel.py "$build" "$stage" "$out")")
  made+=("$(build-release/package/bin/python scripts/package/conda.py "$stage" "$out")")
done
cp "$stage/share/doc/gable-profiler/sbom.spdx.json" "$out/"
made+=("$out/sbom.spdx.json")

cd "$out"
sha256sum "${made[@]##*/}" >SHA256SUMS
phase 'done'
printf '%-58s %10s  %s\n' package bytes sha256
for file in "${made[@]##*/}"; do
  printf '%-58s %10d  %s\n' "$file" "$(stat -c %s "$file")" "$(awk -v f="$file" '$2 == f { print $1 }' SHA256SUMS)"
done
