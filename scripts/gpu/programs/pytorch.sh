# shellcheck shell=bash disable=SC2034,SC2153
# SPDX-License-Identifier: Apache-2.0
# Stages that run PyTorch programs. A rehearsal takes a PyTorch for the CPU: GABLE_PROVE_TORCH names its python, else python3's.
programs=$ROOT/scripts/gpu/programs
torch_python=${GABLE_PROVE_TORCH:-$PYTHON}
batches=(1 8 64 256)
torch=$TORCH patience=1
if [[ $REHEARSE == yes ]]; then
  batches=(2)
  patience=5 # beside the tests of a busy machine
  if [[ -n $torch_python ]] && timeout -k 5 60 "$torch_python" -c 'import torch' 2>/dev/null; then torch=yes; fi
fi

# NAME SECONDS FILE ARGUMENTS…: of a Python program beside this file.
pytorch_experiment() {
  if [[ $torch == yes ]]; then
    experiment "$1" $(($2 * patience)) "$torch_python" -B "$programs/$3" "${@:4}"
  else
    may_be_empty "$1" skip 'there is no PyTorch here'
    skip_experiment "$1" 'there is no PyTorch that sees this GPU'
  fi
}
