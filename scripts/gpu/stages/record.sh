# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Recordings of short real runs for the playback GPU, each played again at once; OUT/recordings.tar.gz has them.
# shellcheck source=scripts/gpu/programs/pytorch.sh
. "$ROOT/scripts/gpu/programs/pytorch.sh"

if [[ -n $PYTHON ]]; then
  experiment sample 60 "$PYTHON" -B "$programs/recordings.py" program sample "$BUILD/bin/gable-sample"
  playback tests/gpu/truth.jsonl
  families=(core half tensor times)
  if [[ $REHEARSE == yes ]]; then families=(core); fi
  for family in "${families[@]}"; do
    experiment "truth-$family" 90 "$PYTHON" -B "$programs/recordings.py" program "truth-$family" "$BUILD/bin/gable_truth" "$family"
  done
else
  skip_experiment sample 'there is no python3 here'
fi
small=()
if [[ $REHEARSE == no ]]; then small=(--batch 32); fi
pytorch_experiment resnet50-train 90 recordings.py pytorch resnet50-train resnet --mode train "${small[@]}"
pytorch_experiment transformer-layer 90 recordings.py pytorch transformer-layer block --mode train --batch 2
if [[ $REHEARSE == no ]]; then
  pytorch_experiment gpt 90 recordings.py pytorch gpt gpt --batch 1
fi
