#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The linters: clang-format on every C++ file, shellcheck on every script, and clang's check of locks on the product's sources.
#   scripts/lint.sh
#   scripts/lint.sh --format   only clang-format and shellcheck, which take seconds and need no build
#   scripts/lint.sh --tidy   and clang-tidy on the product's sources, which takes long
#   scripts/lint.sh --tidy --tests   and on the tests' sources
#   scripts/lint.sh --fix    formats in place first
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

folders=(inject collector analysis tools) fix=no tidy=no format_only=no
while [[ $# -gt 0 ]]; do
  case $1 in
    --tidy) tidy=yes ;;
    --tests) folders+=(tests) ;;
    --fix) fix=yes ;;
    --format) format_only=yes ;;
    *)
      printf "lint: there is no option '%s'; there are --format, --tidy, --tests and --fix\n" "$1" >&2
      exit 2
      ;;
  esac
  shift
done

scripts/setup.sh --lint
# Without precompiled headers, so that a source that does not include what it uses is noticed; nothing is built.
build="build-lint"

mapfile -t cpp < <(git ls-files '*.cpp' '*.h' '*.c' '*.cu')
mapfile -t shell < <(git ls-files '*.sh' .ci/run scripts/check)
[[ ${#cpp[@]} -gt 0 && ${#shell[@]} -gt 0 ]] || {
  echo 'lint: no files found; is this a git checkout?' >&2
  exit 1
}

if [[ $fix == yes ]]; then clang-format-14 -i "${cpp[@]}"; fi
clang-format-14 --dry-run -Werror "${cpp[@]}"
printf 'lint: clang-format: %d files are formatted\n' "${#cpp[@]}"
shellcheck "${shell[@]}"
printf 'lint: shellcheck: %d scripts are clean\n' "${#shell[@]}"
[[ $format_only == no ]] || exit 0

scripts/setup.sh --cuda "$build"
cmake --preset ci -B "$build" -DGABLE_PRECOMPILED=OFF -DGABLE_UNITY=OFF -DCMAKE_CXX_COMPILER_LAUNCHER= >/dev/null
# What a mutex guards is used with it held (analysis/base/mutex.h).
python3 scripts/check_locks.py "$build" inject collector analysis tools
[[ $tidy == yes ]] || exit 0
mapfile -t sources < <(python3 scripts/tidy_sources.py "$build" "${folders[@]}")
if [[ ${#sources[@]} -gt 0 ]]; then
  # One invocation a file, as many at once as there are cores. Warnings counted by clang-tidy itself are noise.
  printf '%s\0' "${sources[@]}" |
    xargs -0 -n 1 -P "$(nproc)" clang-tidy-14 --quiet --extra-arg=-Wno-unknown-warning-option -p "$build" 2> >(grep -vE '^[0-9]+ warnings? ' >&2 || true)
fi
printf 'lint: clang-tidy: %d sources are clean\n' "${#sources[@]}"
