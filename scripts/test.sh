#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds everything with warnings as errors, and runs all tests.
#   scripts/test.sh                  the preset ci
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

build() {  # preset
  scripts/setup.sh --cuda "build-$1"
  cmake --preset "$1" "${launcher[@]}"
  cmake --build --preset "$1"
}

scripts/setup.sh
build ci
ctest --preset ci -j2 --no-tests=error

if [[ $sanitizers == yes ]]; then
  build asan
  # Programs into which the library is injected do not carry the sanitizers' run-time: only the unit tests do.
  ctest --preset asan -j2 --no-tests=error --tests-regex '^(unit\.|[A-Za-z/]+\.)' --label-exclude injected
fi
