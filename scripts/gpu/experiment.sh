# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What stages of scripts/gpu/prove.sh call; its head says how.

# Seconds of a stage: within 8 minutes on a GPU, 50 s in a rehearsal. GABLE_PROVE_SECONDS sets it: a rehearsal on a slow machine.
begin_stage() {
  local limit=460
  if [[ $REHEARSE == yes ]]; then limit=50; fi
  STAGE_ENDS=$((SECONDS + ${GABLE_PROVE_SECONDS:-$limit}))
  # Of the whole run, where it is bounded.
  if [[ -n $ENDS ]] && ((STAGE_ENDS > ENDS)); then STAGE_ENDS=$ENDS; fi
  PROFILE=("$GABLE" profile)
  if [[ $REHEARSE == yes ]]; then playback tests/hazards/gpu.jsonl; fi
  cd "$WORK" || exit 2
  trap 'end_group "${CURRENT:-}"' EXIT
  trap 'exit 130' INT TERM
}

seconds_left() { echo $((STAGE_ENDS - SECONDS)); }

playback() {
  [[ $REHEARSE == yes ]] || return 0
  local file=$1
  [[ $file == /* ]] || file=$ROOT/$file
  export GABLE_PLAYBACK=$file
  # Stages use it.
  # shellcheck disable=SC2034
  PROFILE=("$GABLE" profile --playback "$file")
}

may_be_empty() { printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$ALLOWED"; }

head_of() { printf '{"stage":"%s","experiment":"%s",%s' "$STAGE" "$1" "${ABOUT#\{}"; }

# Whether it is asked for, and not done yet.
wanted() {
  case "$ONLY " in
    *'  '*) ;; # the whole stage
    *" /$1 "*) ;;
    *) return 1 ;;
  esac
  # shellcheck disable=SC2086
  ! "$PROVE" finished "$OUT/$STAGE.jsonl" "$1" $RETRY
}

skip_experiment() {
  wanted "$1" || return 0
  "$PROVE" skip "$OUT/$STAGE.jsonl" "$(head_of "$1")" "$2"
  "$PROVE" end "$OUT/$STAGE.jsonl" "$(head_of "$1")" 77 0
}

# One that is nothing without counters, which some places hide from every profiler.
counted() {
  if [[ $COUNTERS == no ]]; then
    skip_experiment "$1" 'this place hides the counters; facts/runtime says which call it refuses'
  else
    experiment "$@"
  fi
}

# Nothing that it started may go on beside the next experiment.
end_group() {
  if [[ -n $1 ]]; then kill -KILL -- "-$1" 2>/dev/null || true; fi
}

# Waits until the process has ended or SECONDS reaches $2.
await() {
  while kill -0 "$1" 2>/dev/null; do
    ((SECONDS < $2)) || return 1
    sleep 0.05
  done
}

seconds_between() {  # two values of EPOCHREALTIME
  local us=$((${2/[.,]/} - ${1/[.,]/}))
  printf '%d.%02d' $((us / 1000000)) $((us / 10000 % 100))
}

experiment() {
  local name=$1 limit=$2 cut=no code=0 began process reader
  shift 2
  wanted "$name" || return 0
  local room=$((STAGE_ENDS - SECONDS))
  if ((room < 3)); then
    echo "$STAGE/$name" >>"$LEFT"
    return 0
  fi
  # In a run that is bounded, a few that hang may not take the time of all others.
  if [[ -n $ENDS ]] && ((limit > room / 4)); then limit=$((room / 4 < 20 ? 20 : room / 4)); fi
  if ((limit > room)); then
    limit=$room
    cut=yes
  fi
  local head
  head=$(head_of "$name")
  printf '\nprove: %s/%s: %s\n' "$STAGE" "$name" "$*" >>"$LOG"
  if declare -F "$1" >/dev/null; then
    local function
    while read -r _ _ function; do export -f "${function?}"; done < <(declare -F)
    set -- bash -c '"$@"' bash "$@"
  fi
  rm -f "$WORK/.lines"
  mkfifo "$WORK/.lines"
  "$PROVE" tag "$OUT/$STAGE.jsonl" "$LOG" "$head" <"$WORK/.lines" &
  reader=$!
  began=$EPOCHREALTIME
  # A session of its own: also what it starts can be ended.
  setsid timeout --kill-after=5 "$limit" "$@" >"$WORK/.lines" 2>>"$LOG" </dev/null &
  process=$!
  CURRENT=$process
  # One that even SIGKILL does not end is left behind.
  if await "$process" $((SECONDS + limit + 10)); then
    wait "$process" 2>/dev/null
    code=$?
  else
    code=137
  fi
  local ended=$EPOCHREALTIME
  end_group "$process"
  CURRENT=
  await "$reader" $((SECONDS + 5)) || kill "$reader" 2>/dev/null
  wait "$reader" 2>/dev/null
  if [[ $cut == yes && ($code == 124 || $code == 137) ]]; then
    echo "$STAGE/$name" >>"$LEFT"
    return 0
  fi
  "$PROVE" end "$OUT/$STAGE.jsonl" "$head" "$code" "$(seconds_between "$began" "$ended")"
}
