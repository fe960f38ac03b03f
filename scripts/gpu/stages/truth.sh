# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Kernels whose work is known exactly, under gable profile: the report against what their instructions say.
truth=$BUILD/bin/gable_truth
playback tests/gpu/truth.jsonl
may_be_empty gemm skip 'the playback GPU has no cuBLAS'
export truth

known() {  # family
  local options=() code
  if [[ $REHEARSE == yes ]]; then options=(--playback "$GABLE_PLAYBACK"); fi
  # As many steps as three windows of every phase take; the program goes on longer.
  "$GABLE" profile -q "${options[@]}" --step-range '^step$' -o "$WORK/$1.json" -- "$truth" "$1" >"$WORK/$1.expected"
  code=$?
  if [[ $code -ne 0 && $code -ne 77 ]]; then return "$code"; fi
  "$PROVE" truth "$WORK/$1.json" "$WORK/$1.expected"
}
# A PyTorch without a toolkit has cuBLAS too.
if [[ -n $PYTHON && -z ${GABLE_PROVE_CUBLAS:-} ]]; then
  GABLE_PROVE_CUBLAS=$("$PYTHON" -c 'import glob, sysconfig
found = glob.glob(sysconfig.get_paths()["purelib"] + "/nvidia/*/lib/libcublas.so.1[23]")
print(found[0] if found else "")' 2>/dev/null)
  export GABLE_PROVE_CUBLAS
fi

counted core 90 known core
counted half 60 known half
experiment times 90 known times
counted streams 90 known streams
counted caches 90 known caches
counted tensor 90 known tensor
counted gemm 90 known gemm
