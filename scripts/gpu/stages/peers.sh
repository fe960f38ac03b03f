# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The same programs plain, under Gable, under ncu with the same metrics, and under torch.profiler.
# shellcheck source=scripts/gpu/programs/pytorch.sh
. "$ROOT/scripts/gpu/programs/pytorch.sh"

if [[ -n $PYTHON ]]; then
  experiment sample 120 "$PYTHON" -B "$programs/peers.py" program gable-sample "$BUILD/bin/gable-sample"
  playback tests/gpu/truth.jsonl
  experiment truth 200 "$PYTHON" -B "$programs/peers.py" program gable_truth "$BUILD/bin/gable_truth" core
else
  skip_experiment sample 'there is no python3 here'
fi
for name in resnet block gpt; do
  may_be_empty "counters-$name" skip 'ncu needs a real GPU'
  if [[ $REHEARSE == yes && $name != block ]]; then continue; fi
  pytorch_experiment "added-$name" 150 peers.py added "$name"
  pytorch_experiment "times-$name" 120 peers.py times "$name"
  pytorch_experiment "counters-$name" 200 peers.py counters "$name"
done
