# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# How CUPTI behaves on this GPU where its documentation is silent: the questions of docs/hardware-facts.md, which is made of
# these results (gable_prove facts-page). What may hang or leave counters held comes last.
probe=$BUILD/bin/gable_probe
playback tests/gpu/probe.jsonl
may_be_empty two_devices skip 'the playback GPU is one device'
samplings=(sampling sampling_interval sampling_bytes sampling_activity sampling_graph sampling_clock sampling_cost sampling_overflow)
for name in "${samplings[@]}"; do may_be_empty "$name" skip 'the playback GPU has no PM sampling'; done
may_be_empty torch_profiler skip 'PyTorch needs a real GPU'
may_be_empty collectives skip 'needs two GPUs'

# What the product's windows stand on first, then the rest.
for name in queue user_callbacks user_helper user_threads ranges_1024 start_module sass_user durations user_threads_open; do
  counted "$name" 60 "$probe" "$name"
done
for name in ranges_256 ranges_4096 ranges_16384 ranges_65536; do counted "$name" 60 "$probe" "$name"; done
for name in about callbacks user_launch same_name second_config start_twice overflow threads late_module; do
  counted "$name" 60 "$probe" "$name"
done
counted late_module_eager 60 env CUDA_MODULE_LOADING=EAGER "$probe" late_module
for name in copies counts times launch_cost decode_cost linger toggle; do
  counted "$name" 60 "$probe" "$name"
done

# The same program plain and under Gable: output, exit code, and a report.
endings() {
  local name plain code reported all=0 same=0 list=(return exit exit_in_range _exit quick_exit exception abort terminated
    interrupted own_handler fork many_forks context_destroyed)
  if [[ $REHEARSE == yes ]]; then
    list=(return exit terminated)
    export GABLE_PLAYBACK=$ROOT/tests/hazards/gpu.jsonl
  else
    # It is linked with the playback GPU's driver; the machine's own comes first here.
    local driver
    driver=$(ldconfig -p 2>/dev/null | sed -n 's/.*libcuda\.so\.1 .*x86-64.*=> //p' | head -n 1)
    mkdir -p "$WORK/driver"
    if [[ -n $driver ]]; then ln -sf "$driver" "$WORK/driver/libcuda.so.1"; fi
    export LD_LIBRARY_PATH=$WORK/driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  fi
  for name in "${list[@]}"; do
    timeout 30 "$BUILD/bin/gable_hazard" "$name" >"$WORK/plain" 2>/dev/null
    plain=$?
    rm -f "$WORK"/ending-*.json
    profile "$name"
    code=$?
    reported=false
    if compgen -G "$WORK/ending-*.json" >/dev/null; then reported=true; fi
    all=$((all + 1))
    if [[ $code == "$plain" && $reported == true ]] && cmp -s "$WORK/plain" "$WORK/profiled"; then same=$((same + 1)); fi
    printf '{"what":"ending","ending":"%s","plain_code":%d,"code":%d,"same_output":%s,"report":%s}\n' "$name" "$plain" "$code" \
      "$(cmp -s "$WORK/plain" "$WORK/profiled" && echo true || echo false)" "$reported"
  done
  printf '{"what":"answer","says":"%d of %d endings with the same output and exit code, and a report","agrees":%s,"endings":%d,"same":%d}\n' \
    "$same" "$all" "$([[ $same == "$all" ]] && echo true || echo false)" "$all" "$same"
}
profile() {
  local options=()
  if [[ $REHEARSE == yes ]]; then options=(--playback "$GABLE_PLAYBACK"); fi
  HAZARD_REPORTS=$WORK timeout 60 "$GABLE" profile -q "${options[@]}" --step-range '^step' --active 1 -o "$WORK/ending-%p.json" -- \
    "$BUILD/bin/gable_hazard" "$1" >"$WORK/profiled"
}
experiment endings 200 endings

experiment permission 60 "$probe" permission
# The same as a user who may not take counters, where there is such a user.
other_user() {
  if [[ $REHEARSE == yes ]]; then
    GABLE_PLAYBACK_FAULTS='{"fault":"no_permission"}' "$probe" permission
    return
  fi
  if [[ $(id -u) -ne 0 ]] || ! command -v setpriv >/dev/null; then
    echo '{"skipped":"only root with setpriv can run it as another user"}'
    return 77
  fi
  local folder cupti
  folder=$(mktemp -d)
  chmod 755 "$folder"
  cp "$probe" "$folder/"
  cupti=$("$PROVE" about 2>&1 >/dev/null | sed -n 's/^CUPTI: //p')
  if [[ -e $cupti ]]; then cp -L "$cupti" "$(dirname "$cupti")"/libnvperf_*.so "$folder/"; fi
  GABLE_PROVE_CUPTI=$folder/$(basename "$cupti") LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
    setpriv --reuid=65534 --regid=65534 --clear-groups "$folder/gable_probe" permission
  local code=$?
  rm -rf "$folder"
  return "$code"
}
export probe
experiment other_user 60 other_user

if [[ $TORCH == yes ]]; then
  torch_profiler() {
    "$GABLE" profile -q -o "$WORK/torch.json" -- "$PYTHON" "$ROOT/tests/gpu/torch_profiler.py"
    printf '{"what":"report","written":%s}\n' "$([[ -s $WORK/torch.json ]] && echo true || echo false)"
  }
  experiment torch_profiler 120 torch_profiler
else
  skip_experiment torch_profiler 'there is no PyTorch here that sees the GPU'
fi

counted two_contexts 60 "$probe" two_contexts
counted two_devices 60 "$probe" two_devices
skip_experiment collectives 'needs two GPUs and NCCL; nothing here starts that'
experiment many_records 60 "$probe" many_records
for name in graph_user graph_auto graph_replay replayed replay_1_gib replay_16_gib; do counted "$name" 60 "$probe" "$name"; done
for name in "${samplings[@]}"; do counted "$name" 60 "$probe" "$name"; done
counted capture 60 "$probe" capture
# Reported elsewhere to hang; playback takes it for a broken rule unless it is told otherwise.
counted activity_hw 60 env GABLE_PLAYBACK_SWITCHES=activity_with_counters=works "$probe" activity_hw
counted activity_flops 60 env GABLE_PLAYBACK_SWITCHES=activity_with_counters=works "$probe" activity_flops
