# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Whole networks as a user profiles them: layers, FLOPs against the formula, the same output, and what measuring adds.
# shellcheck source=scripts/gpu/programs/pytorch.sh
. "$ROOT/scripts/gpu/programs/pytorch.sh"

resnet() { pytorch_experiment "$1" "$2" resnet.py "${@:3}"; }

resnet flops 120 flops
resnet overhead 400 overhead
if [[ $REHEARSE == no ]]; then
  for batch in "${batches[@]}"; do
    resnet "train-fp32-$batch" 60 case resnet --batch "$batch"
  done
  resnet infer-fp32 60 case resnet --mode infer --batch 1
  for precision in tf32 amp; do
    for batch in 1 64 256; do
      resnet "train-$precision-$batch" 60 case resnet --precision "$precision" --batch "$batch"
    done
    resnet "infer-$precision-256" 60 case resnet --mode infer --precision "$precision" --batch 256
  done
  resnet train-channels-last 60 case resnet --precision amp --channels-last --batch 64
  resnet block 60 case block --batch 8
  resnet graphs 60 case block --mode infer --graph
  resnet compiled 150 case block --compile --mode infer --batch 8
fi
resnet gpt 60 case gpt --batch "${batches[0]}"
resnet torch-profiler 60 case resnet --batch "${batches[0]}" --trace "$WORK/trace.json"
# PyTorch's examples, where somebody has them.
example=${GABLE_PROVE_EXAMPLES:-$ROOT/../examples}/imagenet/main.py
if [[ $REHEARSE == no && -e $example ]]; then
  resnet imagenet 300 imagenet "$example"
fi
