#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What action.yml runs first: profiles base and head in turns, compares them, and leaves reports, pages and summary.md in one folder.
# Its inputs are the variables GABLE_…, as action.yml sets them; the head is the checkout in the current folder. Writes result and
# folder to GITHUB_OUTPUT, and the summary to GITHUB_STEP_SUMMARY. Ends with 0 if there is a result, whatever it is.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
head=$PWD
work=$(mktemp -d "${RUNNER_TEMP:-/tmp}/gable.XXXXXX")
out=$work/gable
base=$work/base
mkdir "$out"

fail() {
  printf '::error::%s\n' "$1"
  exit 1
}
finish() {  # result
  printf 'result=%s\nfolder=%s\n' "$1" "$out" >>"$GITHUB_OUTPUT"
  cat "$out/summary.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
  exit 0
}
refuse() {  # why
  printf '### Gable: no comparison\n\n%s\n' "$1" >"$out/summary.md"
  printf '::warning::%s\n' "$1"
  finish refused
}

command -v gable >/dev/null || fail 'There is no gable: install the wheel in a step before this one.'
[[ -n $GABLE_BASE ]] || fail 'There is no base to compare with: run on pull_request, or name one with base.'
[[ $GABLE_RUNS =~ ^[1-9][0-9]?$ ]] || fail "runs takes a number from 1 to 99, not '$GABLE_RUNS'."
git cat-file -e "$GABLE_BASE^{commit}" 2>/dev/null || git fetch --quiet --depth=1 origin "$GABLE_BASE" ||
  fail "The base $GABLE_BASE is not in this checkout and could not be fetched: give actions/checkout fetch-depth: 0."
git worktree add --quiet --detach "$base" "$GABLE_BASE"
trap 'git -C "$head" worktree remove --force "$base"' EXIT

for side in base head; do
  [[ -z $GABLE_SETUP ]] || (cd "${!side}" && bash -euo pipefail -c "$GABLE_SETUP") || fail "The setup failed on the $side."
done
if [[ -n $GABLE_KERNELS ]]; then
  read -ra globs <<<"$GABLE_KERNELS"
  if said=$("$here/same_kernels.py" "$base" "$head" "${globs[@]}"); then
    printf '### Gable: nothing to compare\n\n%s\n' "$said" >"$out/summary.md"
    printf '%s\n' "$said"
    finish same
  else
    [[ $? == 1 ]] || fail "$said"
  fi
fi

profile() {  # side, number
  local status=0
  printf '::group::%s, run %s of %s\n' "$1" "$2" "$GABLE_RUNS"
  # The options are words of a shell, as in a terminal.
  (cd "${!1}" && eval "gable profile -q $GABLE_PROFILE -o \"\$out/$1-$2.json\" -- bash -c \"\$GABLE_COMMAND\"") || status=$?
  echo '::endgroup::'
  [[ $status == 0 ]] || refuse "The program ended with exit code $status on the $1, in run $2 of $GABLE_RUNS."
  [[ -s $out/$1-$2.json ]] || refuse "The program left no report on the $1, in run $2 of $GABLE_RUNS: the log says why."
}
# In turns, the base first and then the head first, so that a GPU that warms up favours neither side.
for ((i = 1; i <= GABLE_RUNS; ++i)); do
  if ((i % 2)); then order=(base head); else order=(head base); fi
  for side in "${order[@]}"; do profile "$side" "$i"; done
done

cd "$out"
for side in base head; do gable report "$side-1.json" --html "$side.html" >/dev/null; done
gable diff base-1.json head-1.json --html diff.html --markdown diff.md >/dev/null
status=0
eval "gable check head-*.json --baseline base-*.json --gate \"\$GABLE_GATE\" --markdown summary.md $GABLE_CHECK" >check.txt 2>&1 || status=$?
cat check.txt
if [[ $status -le 1 ]]; then
  printf '\n<details><summary>Layer by layer, the first run of each side</summary>\n\n%s\n\n</details>\n' "$(cat diff.md)" >>summary.md
fi
case $status in
  0) finish passed ;;
  1) finish worse ;;
  3) refuse "$(cat check.txt)" ;;
  *) fail "$(tail -n 1 check.txt)" ;;
esac
