#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/package/deb.sh STAGE OUT   a folder made by stage.sh as OUT/gable-profiler_VERSION_ARCH.deb
# DEBFULLNAME and DEBEMAIL name the maintainer; without them it is the author of the last commit. The same stage gives the same bytes.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[[ $# -eq 2 ]] || {
  echo 'deb: it takes the stage and the folder of the package' >&2
  exit 2
}
source "$root/scripts/package/machine.sh"
stage=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
epoch=$(stat -c %Y "$stage/bin/gable")
version=$(run_anywhere "$stage/bin/gable" --version | cut -d' ' -f2)
case $(machine_of "$stage/bin/gable") in
  x86_64) arch=amd64 ;;
  aarch64) arch=arm64 ;;
esac
maintainer="${DEBFULLNAME:-$(git -C "$root" log -1 --format=%an)} <${DEBEMAIL:-$(git -C "$root" log -1 --format=%ae)}>"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
doc=$tree/usr/share/doc/gable-profiler
mkdir -p "$tree/usr/lib/gable" "$tree/usr/bin" "$tree/usr/include" "$tree/usr/share/zsh" "$tree/DEBIAN"
cp -a "$stage/bin" "$stage/lib" "$tree/usr/lib/gable/"
cp -a "$stage/include/gable.h" "$tree/usr/include/"
cp -a "$stage/share/man" "$stage/share/bash-completion" "$stage/share/fish" "$tree/usr/share/"
cp -a "$stage/share/zsh/site-functions" "$tree/usr/share/zsh/vendor-completions"
mkdir -p "$doc"
cp -a "$stage/share/doc/gable-profiler/licenses" "$stage/share/doc/gable-profiler/sbom.spdx.json" "$stage/share/doc/gable-profiler/README.md" "$doc/"
ln -s ../lib/gable/bin/gable "$tree/usr/bin/gable"
gzip -9n "$tree"/usr/share/man/man1/*.1
cp -a "$stage/share/doc/gable-profiler/CHANGELOG.md" "$doc/"
gzip -9nc >"$doc/changelog.gz" <<END
gable-profiler ($version) unstable; urgency=medium

  * What changed is in CHANGELOG.md beside this file.

 -- $maintainer  $(LC_ALL=C date -u -R -d "@$epoch")
END
# The program carries its own zlib and SQLite, so that one package fits every machine with a C library that is new enough.
mkdir -p "$tree/usr/share/lintian/overrides"
cat >"$tree/usr/share/lintian/overrides/gable-profiler" <<'END'
gable-profiler: embedded-library zlib [usr/lib/gable/bin/gable]
END
cat >"$doc/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: gable-profiler
Comment: what others wrote and the program contains is listed in sbom.spdx.json beside this file; the licences are in licenses/.

Files: *
Copyright: $(date -u -d "@$epoch" +%Y) the authors of Gable
License: Apache-2.0
 On Debian systems, the full text of the Apache License, version 2.0, is in /usr/share/common-licenses/Apache-2.0.
END

# dpkg-shlibdeps wants the C library of the package's architecture; what is linked says enough.
glibc=$(oldest_glibc "$tree/usr/lib/gable/bin/gable" "$tree/usr/lib/gable/lib/libgable_inject.so" "$tree"/usr/lib/gable/lib/playback/*)
cat >"$tree/DEBIAN/control" <<END
Package: gable-profiler
Version: $version
Architecture: $arch
Maintainer: $maintainer
Installed-Size: $(du -ks --apparent-size --exclude=DEBIAN "$tree" | cut -f1)
Depends: libc6 (>= $glibc)
Recommends: python3
Section: devel
Priority: optional
Description: per-layer rooflines of unmodified CUDA programs in one run
 Gable runs a CUDA program once, with a library injected through CUPTI, and
 shows where every layer and every kernel stands under the GPU's roofline: its
 floating-point operations, the bytes it moves, its time, and the roof that
 limits it. PyTorch's modules become layers by themselves.
 .
 CUPTI is not part of this package: it comes with the CUDA toolkit, or with
 the packages of the program that is profiled.
END
(cd "$tree" && find usr -type f -exec md5sum {} + | LC_ALL=C sort -k2) >"$tree/DEBIAN/md5sums"
find "$tree" -exec touch -h -d "@$epoch" {} +
chmod -R u=rwX,go=rX "$tree"
SOURCE_DATE_EPOCH=$epoch dpkg-deb --root-owner-group -Zxz -b "$tree" "$out/gable-profiler_${version}_$arch.deb" >/dev/null
printf '%s\n' "$out/gable-profiler_${version}_$arch.deb"
