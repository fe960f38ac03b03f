#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the packages of this checkout for this machine's architecture: a tarball and a Debian package, with manual pages, completions,
# licences and an SBOM, and a wheel, which has none of these. Prints their sizes and checksums, which are in SHA256SUMS, too.
#   scripts/release.sh            into the folder packages
#   scripts/release.sh -o DIR     into DIR
#   scripts/release.sh --no-wheel -o DIR
# The same commit gives the same tarball, Debian package and SBOM, byte for byte, in whatever folder it is built.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=packages wheel=yes
while [[ $# -gt 0 ]]; do
  case $1 in
    -o)
      [[ $# -gt 1 ]] || {
        echo 'release: -o needs a folder' >&2
        exit 2
      }
      out=$2
      shift
      ;;
    --no-wheel) wheel=no ;;
    *)
      printf "release: there is no option '%s'; there are -o DIR and --no-wheel\n" "$1" >&2
      exit 2
      ;;
  esac
  shift
done
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$root"

phase() { printf 'release: %s, after %d s\n' "$1" "$SECONDS" >&2; }

scripts/setup.sh --program
scripts/setup.sh --package build-release
scripts/setup.sh --cuda build-release
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
# Nothing that is built names the folder it was built in.
export CXXFLAGS="-ffile-prefix-map=$root=. ${CXXFLAGS:-}" CFLAGS="-ffile-prefix-map=$root=. ${CFLAGS:-}"
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi

phase 'building'
cmake -S . -B build-release -G Ninja -DCMAKE_BUILD_TYPE=Release -DGABLE_TESTS=OFF -DGABLE_BENCHMARKS=OFF "${launcher[@]}" >/dev/null
cmake --build build-release --target gable gable_inject gable_python gable_playback
stage=build-release/stage
scripts/package/stage.sh build-release "$stage"
made=()
phase 'making the tarball'
made+=("$(scripts/package/tarball.sh "$stage" "$out")")
phase 'making the Debian package'
made+=("$(scripts/package/deb.sh "$stage" "$out")")
cp "$stage/share/doc/gable-profiler/sbom.spdx.json" "$out/"
made+=("$out/sbom.spdx.json")
if [[ $wheel == yes ]]; then
  phase 'building the wheel'
  rm -rf build-release/wheel
  build-release/package/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps -w build-release/wheel .
  # The tag says which C library the wheel needs; auditwheel finds it and names what a wheel may not have.
  PATH=$root/build-release/package/bin:$PATH build-release/package/bin/python -m auditwheel repair --plat auto -w build-release/wheel/tagged build-release/wheel/*.whl >/dev/null
  cp build-release/wheel/tagged/*.whl "$out/"
  made+=("$out/$(basename build-release/wheel/tagged/*.whl)")
fi

cd "$out"
sha256sum "${made[@]##*/}" >SHA256SUMS
phase 'done'
printf '%-58s %10s  %s\n' package bytes sha256
for file in "${made[@]##*/}"; do
  printf '%-58s %10d  %s\n' "$file" "$(stat -c %s "$file")" "$(awk -v f="$file" '$2 == f { print $1 }' SHA256SUMS)"
done
