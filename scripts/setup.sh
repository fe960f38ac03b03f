#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing on a Debian or Ubuntu machine. Needs no root when nothing is missing.
#   scripts/setup.sh                       what building and testing need
#   scripts/setup.sh --program             what building the program and the library needs, and no more
#   scripts/setup.sh --lint                and what scripts/lint.sh needs
#   scripts/setup.sh --cuda BUILD          NVIDIA's wheels into BUILD where there is no CUDA toolkit, else nothing
#   scripts/setup.sh --cuda-wheels BUILD   NVIDIA's wheels into BUILD in any case
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# CUDA headers, CUPTI and NVTX as NVIDIA publishes them for pip, of one CUDA release.
readonly wheels=(
  nvidia-cuda-runtime==13.0.96
  nvidia-cuda-crt==13.0.88
  nvidia-cuda-cupti==13.0.85
  nvidia-nvtx==13.0.85
)

fail() {
  printf 'setup: %s\n' "$1" >&2
  exit 1
}

# Says which of the packages are missing. Each is "package:probe": a command, a header below /usr or /usr/local, or
# "import NAME" for a Python module that /usr/bin/python3 or the first python3 must have.
missing_packages() {
  local pair probe
  for pair in "$@"; do
    probe=${pair#*:}
    case $probe in
      'import '*)
        /usr/bin/python3 -c "$probe" 2>/dev/null || python3 -c "$probe" 2>/dev/null || printf '%s\n' "${pair%%:*}"
        ;;
      */*) [[ -e /usr/include/$probe || -e /usr/local/include/$probe ]] || printf '%s\n' "${pair%%:*}" ;;
      *) command -v "$probe" >/dev/null || printf '%s\n' "${pair%%:*}" ;;
    esac
  done
}

install_packages() {
  local missing=()
  mapfile -t missing < <(missing_packages "$@")
  [[ ${#missing[@]} -gt 0 ]] || return 0
  command -v apt-get >/dev/null ||
    fail "these are missing and there is no apt-get to install them: ${missing[*]}"
  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null ||
      fail "these are missing; run as root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  printf 'setup: installing with apt-get: %s\n' "${missing[*]}" >&2
  "${as_root[@]}" apt-get update -q >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
    "${missing[@]}" >&2
}

has_cuda_headers() {
  cmake "-DGABLE_BUILD=$1" -P "$root/scripts/cmake/GableCudaHeaders.cmake" >/dev/null 2>&1
}

fetch_cuda_wheels() {
  local target=$1/cuda-wheels
  python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip:pip3
  printf 'setup: taking the CUDA headers and CUPTI from NVIDIA'\''s pip wheels into %s\n' "$target" >&2
  mkdir -p "$target/download"
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
    --dest "$target/download" "${wheels[@]}" >&2 ||
    fail "pip could not download ${wheels[*]}"
  local wheel
  for wheel in "$target"/download/*.whl; do
    python3 -m zipfile -e "$wheel" "$target"
  done
  rm -rf "$target/download"
}

build_packages=(
  g++:g++
  cmake:cmake
  ninja-build:ninja
  nlohmann-json3-dev:nlohmann/json.hpp
  libcli11-dev:CLI/CLI.hpp
  python3:python3
)
test_packages=(
  libgtest-dev:gtest/gtest.h
  libbenchmark-dev:benchmark/benchmark.h
  'python3-jsonschema:import jsonschema'
  openmpi-bin:mpirun
)
lint_packages=(
  clang-format-14:clang-format-14
  clang-tidy-14:clang-tidy-14
  shellcheck:shellcheck
)

case ${1:-} in
  '') install_packages "${build_packages[@]}" "${test_packages[@]}" ;;
  --program) install_packages "${build_packages[@]}" ;;
  --lint) install_packages "${build_packages[@]}" "${test_packages[@]}" "${lint_packages[@]}" ;;
  --cuda)
    [[ $# -eq 2 ]] || fail "write scripts/setup.sh --cuda <build folder>"
    has_cuda_headers "$2" || fetch_cuda_wheels "$2"
    ;;
  --cuda-wheels)
    [[ $# -eq 2 ]] || fail "write scripts/setup.sh --cuda-wheels <build folder>"
    fetch_cuda_wheels "$2"
    ;;
  *) fail "there is no option '$1'; there are --program, --lint, --cuda BUILD and --cuda-wheels BUILD" ;;
esac
