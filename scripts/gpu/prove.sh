#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The proof on a real GPU: compares Gable's numbers with what is known, with other tools, and with published figures.
#   scripts/gpu/prove.sh [options] [STAGE|STAGE/EXPERIMENT …]    all stages where none is named
#     --rehearse   on the playback GPU, with 50 s a stage; fails when a field of the output stays empty. Builds what it needs, into
#                  build unless there is build-ci or build-dev; with -b it takes what is there
#     -o DIR       where the results go: $OUT, else prove-results
#     -b BUILD     the build folder: build-prove, else the first of build-ci, build and build-dev that has the programs
#     --first      what tells most, within 9 minutes: a first command on a new GPU
#     --seconds N  bounds the whole run; what is left is said, and another run goes on with it
#     --retry      repeat also what a former run tried and did not manage
#     --list       the stages
# It needs an NVIDIA driver and a built tree (scripts/gpu/pack.sh; docs/gpu-proof.md says how it travels), and neither a network
# nor a toolkit; python3, nvcc, ncu and PyTorch are used where they are. It never changes the GPU's clocks or modes. Results are
# appended to DIR/STAGE.jsonl the moment they exist; another run goes on where one stopped; DIR/prove.log has what was said on
# the way. A table comes last. It ends with 0, with 1 when something failed or time was too short, with 2 on wrong use.
#
# To add a stage: write scripts/gpu/stages/NAME.sh, which calls, for each of its experiments (see experiment.sh),
#     experiment NAME SECONDS COMMAND…         a program, or a function of the stage's file
#     skip_experiment NAME REASON              where it cannot be done here
#     counted NAME SECONDS COMMAND…            an experiment that is skipped where counters are hidden (COUNTERS is no)
#     may_be_empty NAME FIELD REASON           in a rehearsal: a field that may be null; FIELD "skip": NAME may be skipped
#     playback FILE                            the recording for what follows (paths below the repository); of no effect on hardware
#     seconds_left                             of this stage; an experiment that does not fit is left for the next run
# COMMAND prints one JSON object a line on standard output: {"what": "window", "says": "one sentence for the table", any other
# fields}; "unknown": {"field": "why it is null"} where a field is null; {"skipped": "why"} and exit code 77 where it cannot be
# done. Everything else it prints goes to the log. What it finds set and exported: ROOT (of the repository), BUILD (the build
# folder), GABLE (the program), PROFILE (an array, not exported: gable profile with --playback where it rehearses), OUT (results),
# WORK (a folder for this stage's files, removed at the end), REHEARSE (yes or no), SOURCE (hardware or playback), STAGE, and
# PYTHON, NVCC, NCU (paths, empty where there is none), TORCH (yes where PYTHON has a PyTorch that sees this GPU).
# Then add it to `stages` below and to docs/gpu-proof.md. Keep the results few and flat: DIR/STAGE.jsonl and at most one archive.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$root/scripts/gpu
stages=(facts sample truth peers resnet sweeps record)
# Whether counters can be had, what Gable says of a program, what its windows stand on, and how PM sampling behaves.
first=(sample facts/queue facts/user_callbacks facts/user_helper facts/user_threads facts/ranges_1024 facts/ranges_4096 facts/ranges_65536
  facts/ranges_16384 facts/ranges_256 facts/start_module facts/sass_user facts/durations facts/user_threads_open facts/second_config
  facts/toggle facts/counts facts/times facts/linger facts/callbacks facts/about facts/permission facts/graph_user facts/late_module
  facts/launch_cost facts/overflow facts/sampling facts/sampling_interval facts/sampling_bytes facts/sampling_cost)

wrong() {
  printf 'prove: %s\n' "$1" >&2
  exit 2
}

rehearse=no out=${OUT:-prove-results} build='' retry='' ends='' wanted=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --rehearse) rehearse=yes ;;
    --retry) retry=--good ;;
    --first) wanted+=("${first[@]}") ends=${ends:-540} ;;
    --seconds)
      [[ ${2:-} =~ ^[1-9][0-9]{0,5}$ ]] || wrong "--seconds wants a number, from 1 on"
      ends=$2
      shift
      ;;
    -o | -b)
      [[ $# -ge 2 ]] || wrong "$1 wants a folder"
      if [[ $1 == -o ]]; then out=$2; else build=$2; fi
      shift
      ;;
    --list)
      for stage in "${stages[@]}"; do if [[ -e $here/stages/$stage.sh ]]; then echo "$stage"; fi; done
      exit 0
      ;;
    -h | --help)
      sed -n '3,17s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    -*) wrong "there is no option '$1'; there are --rehearse, -o DIR, -b BUILD, --first, --seconds N, --retry and --list" ;;
    *)
      [[ -e $here/stages/${1%%/*}.sh ]] || wrong "there is no stage '${1%%/*}'; scripts/gpu/prove.sh --list names them"
      wanted+=("$1")
      ;;
  esac
  shift
done
if [[ ${#wanted[@]} -eq 0 ]]; then
  for stage in "${stages[@]}"; do if [[ -e $here/stages/$stage.sh ]]; then wanted+=("$stage"); fi; done
fi

# --- what it runs ---
# In a checkout a rehearsal builds, which takes a second where all is built; a packed tree, and a GPU's machine, have it built.
build_it() {
  local name folder=$root/build kind=("-DCMAKE_BUILD_TYPE=${GABLE_PROVE_BUILD_TYPE:-Release}") log
  for name in build build-dev build-ci; do if [[ -e $root/$name/CMakeCache.txt ]]; then folder=$root/$name kind=(); fi; done
  log=$(mktemp)
  printf 'prove: building into %s\n' "$folder" >&2
  {
    "$root/scripts/setup.sh" && "$root/scripts/setup.sh" --cuda "$folder" &&
      cmake -S "$root" -B "$folder" -G Ninja -DGABLE_TESTS=ON "${kind[@]}" &&
      cmake --build "$folder" --target prove
  } >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    rm -f "$log"
    wrong "what a rehearsal needs could not be built into $folder"
  }
  rm -f "$log"
  build=$folder
}
if [[ -z $build && $rehearse == yes && -e $root/CMakeLists.txt && ! -x $root/build-prove/bin/gable_prove ]]; then build_it; fi
if [[ -z $build ]]; then
  for name in build-prove build-ci build build-dev; do
    if [[ -z $build && -x $root/$name/bin/gable_prove ]]; then build=$root/$name; fi
  done
  [[ -n $build ]] || wrong "no build folder has bin/gable_prove: build the target 'prove' here, or bring build-prove along, which scripts/gpu/pack.sh makes"
fi
build=$(cd "$build" 2>/dev/null && pwd) || wrong "the build folder '$build' does not exist"
needed=(bin/gable bin/gable_prove bin/gable_probe bin/gable_truth bin/gable_hazard bin/gable-sample lib/libgable_inject.so lib/python)
if [[ $rehearse == yes ]]; then needed+=(lib/playback/libcuda.so.1 lib/playback/libcupti.so.13 lib/playback/gable-player); fi
for file in "${needed[@]}"; do
  [[ -e $build/$file ]] || wrong "$build lacks $file: build the target 'prove', or let scripts/gpu/pack.sh pack the tree again"
done
for packed in "$build"/cuda-wheels/nvidia/cu13/lib/*.gz; do # as pack.sh makes them
  if [[ -e $packed ]]; then gzip -df "$packed" || wrong "$packed is damaged: pack the tree again with scripts/gpu/pack.sh"; fi
done
mkdir -p "$out" 2>/dev/null || wrong "the results folder '$out' cannot be made; name another with -o"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What a user's shell has set for Gable does not count here.
for name in $(compgen -e | grep -E '^(GABLE_|CUDA_INJECTION64_PATH$|NVTX_INJECTION64_PATH$)' | grep -v '^GABLE_PROVE_'); do unset "$name"; done

export ROOT=$root BUILD=$build GABLE=$build/bin/gable PROVE=$build/bin/gable_prove OUT=$out REHEARSE=$rehearse LOG=$out/prove.log
export ENDS=$ends RETRY=$retry ALLOWED=$work/allowed LEFT=$work/left
: >"$ALLOWED"
: >"$LEFT"
if [[ $rehearse == yes ]]; then
  export GABLE_PROVE_CUPTI=$build/lib/playback/libcupti.so.13
  export LD_LIBRARY_PATH=$build/lib/playback${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export GABLE_PLAYBACK=$root/tests/hazards/gpu.jsonl
  if [[ -n ${GABLE_PROVE_FAULTS:-} ]]; then export GABLE_PLAYBACK_FAULTS=$GABLE_PROVE_FAULTS; fi
fi

PYTHON=$(command -v python3 || true)
NVCC=$(command -v nvcc || compgen -G '/usr/local/cuda/bin/nvcc' || true)
NCU=$(command -v ncu || compgen -G '/usr/local/cuda/bin/ncu' || true)
# Without a toolkit, CUPTI is the one beside the build or PyTorch's.
if [[ -z ${GABLE_PROVE_CUPTI:-} && -n $PYTHON ]] && ! "$PROVE" about 2>/dev/null | grep -q '"counters":true'; then
  GABLE_PROVE_CUPTI=$("$PYTHON" -c 'import glob, sysconfig
found = [f for p in ("cu13", "cuda_cupti") for f in glob.glob(sysconfig.get_paths()["purelib"] + "/nvidia/" + p + "/lib/libcupti.so.1[23]")]
print(found[0] if found else "")' 2>/dev/null)
fi
if [[ -n ${GABLE_PROVE_CUPTI:-} ]]; then
  export GABLE_PROVE_CUPTI
  if [[ $rehearse == no ]]; then export GABLE_OPTIONS="--cupti $GABLE_PROVE_CUPTI"; fi
fi
ABOUT=$(timeout -k 5 60 "$PROVE" about 2>"$work/about") ||
  wrong "$(head -n 1 "$work/about") scripts/gpu/prove.sh --rehearse needs no GPU."
SOURCE=$(grep -oE '"source":"[a-z]+"' <<<"$ABOUT" | cut -d '"' -f 4)
TORCH=no
if [[ -n $PYTHON && $SOURCE == hardware ]] &&
  timeout -k 5 120 "$PYTHON" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then TORCH=yes; fi
export PYTHON NVCC NCU TORCH ABOUT SOURCE
for file in "$OUT"/*.jsonl; do
  if [[ -e $file ]] && grep -qvF "${ABOUT:1:-1}" "$file"; then
    wrong "$file has results of another GPU, driver or CUPTI, or of another kind (hardware, playback): name another folder with -o"
  fi
done
{
  printf '\nprove: %s: %s\n' "$(date -u +%FT%TZ)" "$ABOUT"
  cat "$work/about"
} >>"$LOG"
printf 'prove: %s; results go to %s\n' "$(grep -oE '"gpu":"[^"]*"' <<<"$ABOUT" | cut -d '"' -f 4) ($SOURCE)" "$OUT" >&2
if [[ $ABOUT != *'"counters":true'* ]]; then printf 'prove: counters cannot be had here: %s\n' "$(tail -n 1 "$work/about")" >&2; fi

# --- the stages, each in a shell of its own ---
declare -A only=()
names=()
for item in "${wanted[@]}"; do
  stage=${item%%/*}
  [[ -n ${only[$stage]:-} ]] || names+=("$stage")
  only[$stage]+=" ${item#"$stage"}"
done
run_stage() {  # a stage and what of it is asked for, then what begins it
  export STAGE=$1 WORK=$work/$1 ONLY=$2
  mkdir -p "$WORK"
  (
    # shellcheck source=scripts/gpu/experiment.sh
    . "$here/experiment.sh"
    begin_stage
    "$3"
  )
}
# shellcheck disable=SC2317
stage_file() {
  # shellcheck disable=SC1090
  . "$here/stages/$STAGE.sh"
}
# Asked once for each folder of results, as it decides what can be tried.
# shellcheck disable=SC2317
ask_runtime() {
  playback tests/gpu/probe.jsonl
  experiment runtime 60 "$BUILD/bin/gable_probe" runtime
}
export COUNTERS=unknown
for stage in "${names[@]}"; do
  if grep -qE '^ *counted |COUNTERS' "$here/stages/$stage.sh"; then
    run_stage facts ' /runtime' ask_runtime
    answer=$(grep '"experiment":"runtime"' "$OUT/facts.jsonl" 2>/dev/null | grep '"what":"answer"' | tail -n 1)
    case $answer in
      *'"counted":true'*) COUNTERS=yes ;;
      *'"counted":false'*) COUNTERS=no ;;
    esac
    printf 'prove: %s\n' "$(sed -n 's/.*"says":"\([^"]*\)".*/\1/p' <<<"${answer:-"says":"facts/runtime gave no answer: what is tried may fail"}")" >&2
    break
  fi
done
files=()
for stage in "${names[@]}"; do
  printf 'prove: %s\n' "$stage" >&2
  run_stage "$stage" "${only[$stage]}" stage_file
  files+=("$OUT/$stage.jsonl")
done

good=0
if [[ $rehearse == yes ]]; then "$PROVE" check "$ALLOWED" "${files[@]}" || good=1; fi
left=()
while read -r name; do left+=(--left "$name"); done <"$LEFT"
echo
"$PROVE" table "${files[@]}" "${left[@]}" || good=1
exit "$good"
