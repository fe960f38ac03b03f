#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An OCI image with nothing but Debian's smallest system, Python and the Debian package of Gable, for docker, podman and apptainer.
#   scripts/package/image.sh DEB OUT   DEB: made by deb.sh for this machine; the image is OUT/gable-VERSION-ARCH.oci.tar
# Needs root, mmdebstrap and buildah; nothing is run as a daemon. SOURCE_DATE_EPOCH is the date of what is in the image.
set -euo pipefail
fail() {
  printf 'image: %s\n' "$1" >&2
  exit 1
}
[[ $# -eq 2 ]] || {
  echo 'image: it takes the Debian package and the folder of the image' >&2
  exit 2
}
[[ $(id -u) -eq 0 ]] || fail 'it has to run as root, who alone may unpack a system'
for program in mmdebstrap buildah; do
  command -v "$program" >/dev/null || fail "there is no $program; install Debian's packages mmdebstrap and buildah"
done
deb=$(realpath "$1")
mkdir -p "$2"
out=$(cd "$2" && pwd)
version=$(dpkg-deb -f "$deb" Version)
arch=$(dpkg-deb -f "$deb" Architecture)
[[ $arch == "$(dpkg --print-architecture)" ]] || fail "the package is for $arch, and an image is made on a machine of its own architecture"
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(stat -c %Y "$deb")}

work=$(mktemp -d)
# What buildah keeps lies in this folder, too, so that nothing stays on the machine.
buildah=(buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run")
trap '"${buildah[@]}" rm -a >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
mmdebstrap --quiet --variant=minbase --include=python3-minimal --customize-hook="copy-in '$deb' /tmp" \
  --customize-hook="chroot \"\$1\" sh -c 'dpkg -i /tmp/*.deb && rm /tmp/*.deb'" bookworm "$work/system.tar" http://deb.debian.org/debian >&2
container=$("${buildah[@]}" from scratch)
"${buildah[@]}" add -q "$container" "$work/system.tar" / >&2
"${buildah[@]}" config --entrypoint '["/usr/bin/gable"]' --cmd doctor --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  --env NVIDIA_DRIVER_CAPABILITIES=compute,utility --label org.opencontainers.image.title=gable-profiler \
  --label "org.opencontainers.image.version=$version" --label org.opencontainers.image.licenses=Apache-2.0 "$container"
image=$out/gable-$version-$arch.oci.tar
rm -f "$image"
"${buildah[@]}" commit -q --disable-compression=false --timestamp "$SOURCE_DATE_EPOCH" "$container" "oci-archive:$image:gable:$version" >&2
printf '%s\n' "$image"
