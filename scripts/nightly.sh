#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What takes too long for every change, or looks at the clock. Prints counts at the end.
#   scripts/nightly.sh              every stage, in this order
#   scripts/nightly.sh STAGE...     these alone
# Stages:
#   tests     all tests with their long rounds, under the sanitizers too, and half an hour of a hundred thousand launches a second
#   portable  all tests once more, with the compiler and the libraries of the packages
#   lint      every linter, on the tests' sources too
#   fuzz      the corpus, then an hour of new inputs
#   bugs      fifty planted bugs
# What a stage prints stays in build-nightly/STAGE.log. A stage that fails does not keep the others from running.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

# Tests that have a long form take it. GABLE_PROVE_EXAMPLES=DIR: PyTorch's own example is run, too.
export GABLE_SIGNALS=1000 GABLE_LONG_TESTS=1 GABLE_EVERY_CASE=1
export GABLE_SOAK_SECONDS=${GABLE_SOAK_SECONDS:-1800}
export GABLE_LOCK_ROUNDS=${GABLE_LOCK_ROUNDS:-1000} GABLE_LOCK_RUNS=${GABLE_LOCK_RUNS:-50} GABLE_PROVE_FRESH=yes
export GABLE_HAZARD_ROUNDS=${GABLE_HAZARD_ROUNDS:-200}
export GABLE_SEEDS=${GABLE_SEEDS:-200}

run_tests() {
  mkdir -p build-ci &&
    scripts/setup.sh --cupti-wheels build-ci &&
    scripts/setup.sh --hazards build-ci &&
    scripts/setup.sh --slurm &&
    scripts/setup.sh --spark build-ci &&
    scripts/setup.sh --frameworks build-ci &&
    scripts/setup.sh --torches build-ci &&
    scripts/setup.sh --programs build-ci &&
    scripts/setup.sh --package build-ci &&
    scripts/test.sh --all
}
run_portable() { scripts/test.sh --portable; }
run_lint() { scripts/lint.sh --tidy --tests; }
run_fuzz() { scripts/fuzz.sh && scripts/fuzz.sh "${GABLE_FUZZ_SECONDS:-3600}"; }
# Other bugs each night; the number of the night draws the same ones again. Nine in ten is the aim. Of each draw some change nothing
# that anybody could see and are not listed yet, so four in five are caught.
run_bugs() { python3 -B scripts/plant_bugs.py --seed "$(date -u +%Y%m%d)" --count 50 --at-least 75 --work build-bugs; }

stages=("$@")
[[ $# -gt 0 ]] || stages=(tests portable lint fuzz bugs)
for stage in "${stages[@]}"; do
  case $stage in
    tests | portable | lint | fuzz | bugs) ;;
    *)
      printf "nightly: there is no stage '%s'; there are tests, portable, lint, fuzz and bugs\n" "$stage" >&2
      exit 2
      ;;
  esac
done

mkdir -p build-nightly
failed=()
for stage in "${stages[@]}"; do
  started=$SECONDS
  "run_$stage" 2>&1 | tee "build-nightly/$stage.log"
  status=${PIPESTATUS[0]}
  [[ $status == 0 ]] || failed+=("$stage")
  printf 'nightly: %s ended with %d after %d s\n' "$stage" "$status" $((SECONDS - started)) | tee -a "build-nightly/$stage.log"
done

printf '\n'
for stage in "${stages[@]}"; do
  grep -aE '^([0-9]+% tests passed|failures: |soak: |locks: |threads: |signals: |ends: |hazards: |hostile: |lint: |fuzz: [0-9]+ targets|plant_bugs: seed [0-9]+: |test: .*, after|nightly: )' \
    "build-nightly/$stage.log" | sed 's/^nightly: //;s/^/nightly: /'
done
if [[ ${#failed[@]} -gt 0 ]]; then
  printf 'nightly: red: %s\n' "${failed[*]}"
  exit 1
fi
printf 'nightly: green after %d s\n' "$SECONDS"
