#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What takes too long for every change: every release of CUPTI and every case of the switches, an hour of fuzzing, and half an
# hour of a hundred thousand launches a second.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

scripts/setup.sh
scripts/setup.sh --cuda build
scripts/setup.sh --cupti-wheels build
cmake --preset release
cmake --build --preset release
GABLE_EVERY_CASE=1 ctest --preset release --no-tests=error --timeout 20000 --tests-regex '^(cupti\.|report\.switches)'
GABLE_SOAK_SECONDS=${GABLE_SOAK_SECONDS:-1800} ctest --preset release --no-tests=error --timeout 20000 --tests-regex '^soak$'
grep -a '^soak: ' build/Testing/Temporary/LastTest.log
scripts/fuzz.sh "${GABLE_FUZZ_SECONDS:-3600}"
