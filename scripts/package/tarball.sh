#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/package/tarball.sh STAGE OUT   a folder made by stage.sh as OUT/gable-VERSION-linux-ARCH.tar.gz, which runs wherever it is
# unpacked. The same stage gives the same bytes.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[[ $# -eq 2 ]] || {
  echo 'tarball: it takes the stage and the folder of the package' >&2
  exit 2
}
source "$root/scripts/package/machine.sh"
stage=$(cd "$1" && pwd) out=$2
name=gable-$(run_anywhere "$stage/bin/gable" --version | cut -d' ' -f2)-linux-$(machine_of "$stage/bin/gable")
mkdir -p "$out"
tar --sort=name --owner=0 --group=0 --numeric-owner --format=gnu --transform="s,^\.,$name," -C "$stage" -c . |
  gzip -9n >"$out/$name.tar.gz"
printf '%s\n' "$out/$name.tar.gz"
