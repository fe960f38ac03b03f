#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What takes too long for every change, or looks at the clock: all tests with their long rounds, every linter, half an hour of a
# hundred thousand launches a second, an hour of fuzzing, and fifty planted bugs. Prints counts at the end.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Tests that have a long form take it. GABLE_PROVE_EXAMPLES=DIR: PyTorch's own example is run, too.
export GABLE_SIGNALS=1000 GABLE_LONG_TESTS=1 GABLE_EVERY_CASE=1
export GABLE_SOAK_SECONDS=${GABLE_SOAK_SECONDS:-1800}
export GABLE_LOCK_ROUNDS=${GABLE_LOCK_ROUNDS:-1000} GABLE_LOCK_RUNS=${GABLE_LOCK_RUNS:-50} GABLE_PROVE_FRESH=yes
export GABLE_HAZARD_ROUNDS=${GABLE_HAZARD_ROUNDS:-200}
export GABLE_SEEDS=${GABLE_SEEDS:-200}
mkdir -p build-ci
scripts/setup.sh --cupti-wheels build-ci
scripts/setup.sh --hazards build-ci
scripts/test.sh --all 2>&1 | tee "$log"
scripts/lint.sh --tidy --tests 2>&1 | tee -a "$log"
scripts/fuzz.sh 2>&1 | tee -a "$log"
scripts/fuzz.sh "${GABLE_FUZZ_SECONDS:-3600}" 2>&1 | tee -a "$log"
# Other bugs each night; the number of the night draws the same ones again. Nine in ten is the aim, and some three in four is what
# the fast tests catch so far: far fewer are news.
python3 -B scripts/plant_bugs.py --seed "$(date -u +%Y%m%d)" --count 50 --at-least 60 --work build-bugs 2>&1 | tee -a "$log"

printf '\nnightly: green after %d s\n' "$SECONDS"
grep -aE '^([0-9]+% tests passed|failures: |soak: |locks: |threads: |signals: |ends: |hazards: |hostile: |lint: |fuzz: [0-9]+ targets|plant_bugs: seed [0-9]+: |test: .*, after)' "$log" | sed 's/^/nightly: /'
