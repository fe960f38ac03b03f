#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What takes too long for every change: an hour of fuzzing, half an hour of a hundred thousand launches a second, and a thousand
# rounds of programs that hold locks.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

scripts/setup.sh
scripts/setup.sh --cuda build
cmake --preset release
cmake --build --preset release
GABLE_SOAK_SECONDS=${GABLE_SOAK_SECONDS:-1800} ctest --preset release --no-tests=error --timeout 20000 --tests-regex '^soak$'
grep -a '^soak: ' build/Testing/Temporary/LastTest.log
GABLE_LOCK_ROUNDS=${GABLE_LOCK_ROUNDS:-1000} GABLE_LOCK_RUNS=${GABLE_LOCK_RUNS:-50} \
  ctest --preset release --no-tests=error --timeout 20000 --output-on-failure --tests-regex '^locks'
scripts/fuzz.sh "${GABLE_FUZZ_SECONDS:-3600}"
