#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What every package holds, in one folder that works from anywhere: the program, the library, the Python side, manual pages,
# completions, licences and the list of parts.
#   scripts/package/stage.sh BUILD STAGE   BUILD: a build folder; STAGE: the new folder
# SOURCE_DATE_EPOCH, seconds since 1970, is the date on what is made; without it that of the last commit.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[[ $# -eq 2 ]] || {
  echo 'stage: it takes a build folder and the new folder' >&2
  exit 2
}
source "$root/scripts/package/machine.sh"
build=$1 stage=$2
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
version=$(run_anywhere "$build/bin/gable" --version | cut -d' ' -f2)

rm -rf "$stage"
mkdir -p "$stage"
DESTDIR='' cmake --install "$build" --component program --prefix "$stage" --strip >/dev/null
share=$stage/share
"$root/scripts/package/man.py" "$root/docs/commands" "$share/man/man1" "$version" "$(date -u -d "@$epoch" +%F)"
for shell in bash-completion/completions/gable zsh/site-functions/_gable fish/vendor_completions.d/gable.fish; do
  mkdir -p "$share/${shell%/*}"
  run_anywhere "$stage/bin/gable" completion "$(cut -d/ -f1 <<<"${shell/-completion/}")" >"$share/$shell"
done
mkdir -p "$share/doc/gable-profiler"
cp "$root/LICENSE" "$root/CHANGELOG.md" "$root/README.md" "$share/doc/gable-profiler/"
# Where it was compiled with a root of its own (portable.sh), the parts are those in there.
toolchain=$(sed -n 's/^CMAKE_TOOLCHAIN_FILE:[A-Z]*=//p' "$build/CMakeCache.txt")
"$root/scripts/package/components.py" "$share/doc/gable-profiler" "$version" "$epoch" ${toolchain:+"${toolchain%/*}"}
find "$stage" -exec touch -h -d "@$epoch" {} +
chmod -R u=rwX,go=rX "$stage"
