# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What a user sees first: gable doctor, and gable profile of a small program whose work is known (tests/gpu/sample.cpp). The
# report goes to OUT/sample.json, the table to the log.
playback tests/gpu/sample.jsonl

doctor() {
  local code=0
  "$GABLE" doctor >"$WORK/doctor" 2>&1 || code=$?
  cat "$WORK/doctor" >&2
  printf '{"what":"answer","says":"gable doctor ends with %d","agrees":%s,"code":%d,"lines":%d}\n' "$code" \
    "$([[ $code -le 1 ]] && echo true || echo false)" "$code" "$(wc -l <"$WORK/doctor")"
}
experiment doctor 60 doctor

# Of 2^24 elements: triad is one FMA on 12 bytes, polynomial 512 on 8. Arrays of 64 MiB stay in a large L2 in part.
expected() {
  local null=
  if [[ $COUNTERS == no ]]; then null=',"may_be_null":"this place hides the counters"'; fi
  row() {
    printf '{"row":"kernel","name":"%s","quantity":"%s","kind":"%s","value":%s%s,"why":"%s"%s}\n' "$@" \
      "$([[ $2 == time* ]] || echo "$null")"
  }
  row triad flops.fp32 exact 33554432 '' '1 FMA an element'
  row polynomial flops.fp32 exact 17179869184 '' '512 FMA an element'
  row triad bytes.l2 near 201326592 ',"tolerance":0.01' '12 bytes an element'
  row polynomial bytes.l2 near 134217728 ',"tolerance":0.01' '8 bytes an element'
  row triad bytes.dram_read between 13421773 ',"high":140928614' '8 bytes an element, less what the L2 still has'
  row polynomial bytes.dram_read between 0 ',"high":70464307' '4 bytes an element, less what the L2 still has'
  row triad time_ns.median between 10000 ',"high":10000000' '192 MiB: between 10 us and 10 ms'
  row polynomial time_ns.median between 10000 ',"high":100000000' '17 GFLOP: between 10 us and 100 ms'
}
sample() {
  local options=() code
  if [[ $REHEARSE == yes ]]; then options=(--playback "$GABLE_PLAYBACK"); fi
  "$GABLE" profile "${options[@]}" --step-range '^step$' -o "$WORK/sample.json" -- "$BUILD/bin/gable-sample" 100 >"$WORK/said"
  code=$?
  cat "$WORK/said" >&2
  if [[ -e $WORK/sample.json ]]; then cp "$WORK/sample.json" "$OUT/sample.json"; fi
  if [[ $code -ne 0 ]]; then return "$code"; fi
  expected >"$WORK/expected"
  "$PROVE" truth "$WORK/sample.json" "$WORK/expected"
}
experiment sample 150 sample
