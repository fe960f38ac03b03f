#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What compiling for another machine needs: a compiler that knows every C library, and a root with the headers and archives of the
# packages that Gable uses. Nothing of this machine's /usr is read.
#   scripts/package/portable.sh ARCH BUILD            ARCH: x86_64 or aarch64; into BUILD/portable/ARCH
#   scripts/package/portable.sh ARCH BUILD --tests    with GoogleTest, for a build with the tests
# BUILD has the environment of scripts/setup.sh --package. Prints the path of the toolchain file for CMake.
# zlib and SQLite are compiled from Debian's source packages, as Debian's archives want its own, newer C library.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# The oldest C library that the packages run with: that of Debian 10 and Red Hat Enterprise Linux 8.
readonly glibc=2.28
# Headers alone, but for D3, which is a script.
readonly header_packages=(nlohmann-json3-dev libcli11-dev rapidjson-dev libprotozero-dev node-d3)

fail() {
  printf 'portable: %s\n' "$1" >&2
  exit 1
}
[[ ($# -eq 2 || ($# -eq 3 && $3 == --tests)) && ($1 == x86_64 || $1 == aarch64) ]] || {
  echo 'portable: it takes the architecture, x86_64 or aarch64, a build folder and perhaps --tests' >&2
  exit 2
}
arch=$1
build=$(cd "$2" && pwd)
here=$build/portable/$arch
sources=$build/portable/sources
zig=$(compgen -G "$build/package/lib/python3*/site-packages/ziglang/zig") ||
  fail "there is no compiler in $build/package; scripts/setup.sh --package $2 puts it there"

make_compilers() {
  local name
  mkdir -p "$here/bin"
  for name in cc c++; do
    printf '#!/bin/sh\nexec %q %s -target %s-linux-gnu.%s "$@"\n' "$zig" "$name" "$arch" "$glibc" >"$here/bin/$name"
  done
  for name in ar ranlib; do
    printf '#!/bin/sh\nexec %q %s "$@"\n' "$zig" "$name" >"$here/bin/$name"
  done
  chmod +x "$here"/bin/*
}

# Debian's or Ubuntu's source packages, wherever this machine takes its packages from, with the distribution's own patches.
fetch_sources() {
  [[ ! -e $sources/complete ]] || return 0
  rm -rf "$sources"
  mkdir -p "$sources/lists/partial" "$sources/cache/archives/partial"
  local origin
  for origin in Debian Ubuntu; do  # the main archive before that of security, which has no copy of what is in both
    # shellcheck disable=SC2016  # apt-get fills them in
    apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' "Origin: $origin" | sort -ru
  done >"$sources/sources.list"
  local apt=(apt-get -qq -o "Dir::Etc::SourceList=$sources/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$sources/lists"
    -o "Dir::Cache=$sources/cache" -o APT::Sandbox::User=)
  "${apt[@]}" update >&2
  (cd "$sources" && "${apt[@]}" source zlib sqlite3 >&2 2>log) || fail "the sources of zlib and SQLite could not be fetched: $(tail -n 1 "$sources/log")"
  local name
  for name in zlib sqlite3; do
    mv "$sources"/$name-*/ "$sources/$name"
    dpkg-parsechangelog -l "$sources/$name/debian/changelog" -S Version >"$sources/$name.version"
  done
  (cd "$sources/sqlite3" && ./configure --disable-tcl && make sqlite3.c) >"$sources/log" 2>&1 || fail "SQLite's sources could not be joined: $sources/log says why"
  touch "$sources/complete"
}

make_root() {
  local to=$here/root name package
  rm -rf "$to"
  mkdir -p "$to/usr/include" "$to/usr/lib" "$here/objects"
  dpkg -L "${header_packages[@]}" | sed 's,^/,,' | while read -r name; do
    [[ -d /$name ]] || printf '%s\n' "$name"
  done | tar -C / -cf - -T - | tar -C "$to" -xf -
  # Release 1.1.0 assigns to a constant in a function that nobody calls, which newer compilers refuse.
  sed -i '/GenericStringRef& operator=(const GenericStringRef& rhs) { s = rhs.s; length = rhs.length; }/d' "$to/usr/include/rapidjson/document.h"

  local flags=(-O2 -fPIC -w "-ffile-prefix-map=$build=.")
  "$here/bin/cc" "${flags[@]}" -DSQLITE_THREADSAFE=1 -DSQLITE_OMIT_LOAD_EXTENSION -c "$sources/sqlite3/sqlite3.c" -o "$here/objects/sqlite3.o"
  for name in adler32 compress crc32 deflate gzclose gzlib gzread gzwrite infback inffast inflate inftrees trees uncompr zutil; do
    "$here/bin/cc" "${flags[@]}" -D_LARGEFILE64_SOURCE=1 -DHAVE_UNISTD_H -c "$sources/zlib/$name.c" -o "$here/objects/z-$name.o"
  done
  "$here/bin/ar" rcD "$to/usr/lib/libsqlite3.a" "$here/objects/sqlite3.o"
  "$here/bin/ar" rcD "$to/usr/lib/libz.a" "$here"/objects/z-*.o
  cp "$sources/sqlite3/sqlite3.h" "$sources/zlib/zlib.h" "$sources/zlib/zconf.h" "$to/usr/include/"

  local demangler=$here/objects/demangler
  rm -rf "$demangler"
  mkdir "$demangler"
  cp -R "${zig%/*}"/lib/libcxxabi/src/{cxa_demangle.cpp,abort_message.h,demangle} "$demangler/"
  sed -i -E 's/std::(malloc|realloc|free)\(/__libc_\1(/' "$demangler/cxa_demangle.cpp" "$demangler"/demangle/*.h
  "$here/bin/c++" "${flags[@]}" -std=c++20 -g0 -DNDEBUG -fvisibility=hidden -I"$demangler" -c "$root/scripts/package/demangle.cpp" -o "$to/usr/lib/demangle.o"

  # Name, version and licence of each part, for the list that goes with the packages.
  {
    for package in "${header_packages[@]}"; do
      printf '%s %s\n' "$package" "$(dpkg-query -W -f '${Version}' "$package")"
    done
    for package in zlib sqlite3; do
      printf '%s %s\n' "$package" "$(cat "$sources/$package.version")"
      mkdir -p "$to/usr/share/doc/$package"
      cp "$sources/$package/debian/copyright" "$to/usr/share/doc/$package/copyright"
    done
    printf 'ziglang %s\n' "$("$zig" version)"
    for package in libcxx libcxxabi libunwind; do
      printf '%s %s\n' "$package" "$("$here/bin/c++" --version | sed -n 's/^clang version \([0-9.]*\).*/\1/p')"
      mkdir -p "$to/usr/share/doc/$package"
      cp "${zig%/*}/lib/$package/LICENSE.TXT" "$to/usr/share/doc/$package/copyright"
    done
    mkdir -p "$to/usr/share/doc/ziglang"
    cp "${zig%/*}/LICENSE" "$to/usr/share/doc/ziglang/copyright"
  } >"$here/parts"
}

add_googletest() {
  local from=/usr/src/googletest to=$here/root/usr name part
  [[ -d $from ]] || fail "there is no $from; Debian's package googletest has it"
  cp -R "$from/googletest/include/gtest" "$from/googlemock/include/gmock" "$to/include/"
  for name in gtest gmock; do
    for part in "$name-all" "${name}_main"; do
      "$here/bin/c++" -std=c++20 -O1 -fPIC -w -I"$from/googletest/include" -I"$from/googletest" -I"$from/googlemock/include" -I"$from/googlemock" \
        -c "$from/google${name/g/}/src/$part.cc" -o "$here/objects/$part.o"
    done
    "$here/bin/ar" rcD "$to/lib/lib$name.a" "$here/objects/$name-all.o"
    "$here/bin/ar" rcD "$to/lib/lib${name}_main.a" "$here/objects/${name}_main.o"
  done
}

make_toolchain() {
  cat >"$here/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $arch)
set(CMAKE_C_COMPILER "$here/bin/cc")
set(CMAKE_CXX_COMPILER "$here/bin/c++")
set(CMAKE_AR "$here/bin/ar")
set(CMAKE_RANLIB "$here/bin/ranlib")
set(CMAKE_STRIP true)  # the linker does it: this machine's program may not know the other's files
set(CMAKE_CXX_FLAGS_INIT "-g0 -fno-sanitize=undefined")  # the compiler would check what is not optimised
set(CMAKE_CXX_STANDARD_LIBRARIES "$here/root/usr/lib/demangle.o")
set(CMAKE_EXE_LINKER_FLAGS_INIT -s)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -s)
set(CMAKE_FIND_ROOT_PATH "$here/root" "$here/cuda-wheels")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(GABLE_CUDA_ROOT "$here/cuda-wheels/nvidia" CACHE PATH "")
set(GABLE_CUDA_ONLY_ROOT ON CACHE BOOL "")
END
  [[ $arch == "$(uname -m)" ]] ||
    printf 'set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-%s-static;-L;/usr/%s-linux-gnu")\n' "$arch" "$arch" >>"$here/toolchain.cmake"
}

mkdir -p "$here"
# It is made again where its recipe, the compiler or the packages are others.
state=$({
  cat "$root"/scripts/package/{portable.sh,demangle.cpp} "$root/scripts/setup.sh"
  printf '%s\n' "$zig" "$here"
  "$zig" version
  dpkg-query -W "${header_packages[@]}"
} | sha256sum)
if [[ $(cat "$here/complete" 2>/dev/null) != "$state" ]]; then
  printf '%s\n' "$glibc" >"$here/glibc"
  make_compilers
  fetch_sources
  rm -rf "$here/cuda-wheels"
  "$root/scripts/setup.sh" --cuda-wheels "$here" "$arch"
  make_root
  make_toolchain
  printf '%s' "$state" >"$here/complete"
fi
if [[ ${3:-} == --tests && ! -e $here/root/usr/lib/libgtest.a ]]; then add_googletest; fi
printf '%s\n' "$here/toolchain.cmake"
