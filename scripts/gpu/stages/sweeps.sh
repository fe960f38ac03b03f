# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The study of arXiv 2009.04598 repeated: convolutions and an LSTM cell over their parameters, forward and backward.
# shellcheck source=scripts/gpu/programs/pytorch.sh
. "$ROOT/scripts/gpu/programs/pytorch.sh"

sweep() { pytorch_experiment "$1" 150 sweeps.py "${@:2}"; }

if [[ $REHEARSE == yes ]]; then
  sweep conv-batch conv fp32 --batch --channels 4 --inputs 4 1 2
  sweep lstm-length lstm fp32 --length --channels 8 --batch 2 2 4
else
  for precision in fp32 fp16; do
    sweep "conv-batch-$precision" conv "$precision" --batch 16 32 64 128 256
    sweep "conv-channels-$precision" conv "$precision" --channels --batch 16 64 128 256 512
    sweep "conv-kernel-$precision" conv "$precision" --kernel --batch 16 1 3 5 7
    sweep "conv-stride-$precision" conv "$precision" --stride --batch 16 1 2 3
    sweep "lstm-batch-$precision" lstm "$precision" --batch --channels 1024 16 32 64 128
    sweep "lstm-length-$precision" lstm "$precision" --length --channels 1024 --batch 16 16 32 64
  done
fi
