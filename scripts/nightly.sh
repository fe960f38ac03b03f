#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What takes too long for every change: an hour of fuzzing, half an hour of a hundred thousand launches a second, and a
# newcomer's first hour with images of full size (GABLE_PROVE_EXAMPLES=DIR: and with PyTorch's example itself).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

scripts/setup.sh
scripts/setup.sh --cuda build
scripts/setup.sh --torch build
cmake --preset release
cmake --build --preset release
GABLE_SOAK_SECONDS=${GABLE_SOAK_SECONDS:-1800} ctest --preset release --no-tests=error --timeout 20000 --tests-regex '^soak$'
grep -a '^soak: ' build/Testing/Temporary/LastTest.log
GABLE_LONG_TESTS=1 ctest --preset release --no-tests=error --timeout 20000 --tests-regex '^first_contact$'
scripts/fuzz.sh "${GABLE_FUZZ_SECONDS:-3600}"
