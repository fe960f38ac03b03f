#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds everything with warnings as errors, and runs all tests.
#   scripts/test.sh                  the presets ci and reader (without CUDA)
#   scripts/test.sh --sanitizers     and the unit tests again under the address and undefined-behaviour sanitizers
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
build ci
ctest --preset ci -j2 --no-tests=error

# Reports can be read where there is no CUDA at all.
build reader
ctest --preset reader -j2 --no-tests=error

if [[ $sanitizers == yes ]]; then
  scripts/setup.sh --cuda build-asan
  # Programs into which the library is injected do not carry the sanitizers' run-time: only unit tests do.
  build asan --target unit_tests
  ctest --preset asan -j2 --no-tests=error --label-regex '^unit$' --exclude-regex '^Processes[.]'
fi
