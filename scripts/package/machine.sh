# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# For scripts that package what was compiled for another architecture than this machine's. To be read in with `source`.

# machine_of FILE: x86_64 or aarch64
machine_of() {
  case $(LC_ALL=C readelf -h "$1" | sed -n 's/^ *Machine: *//p') in
    *X86-64*) echo x86_64 ;;
    *AArch64*) echo aarch64 ;;
    *)
      printf '%s: it is for neither x86-64 nor aarch64\n' "$1" >&2
      return 1
      ;;
  esac
}

# run_anywhere PROGRAM ARGUMENTS...: by this machine, or by an emulator that plays the other
run_anywhere() {
  local machine
  machine=$(machine_of "$1")
  if [[ $machine == "$(uname -m)" ]]; then
    "$@"
  else
    "qemu-$machine-static" -L "/usr/$machine-linux-gnu" "$@"
  fi
}

# oldest_glibc FILE...: the C library that all of them run with; fails where one needs more than the C library
oldest_glibc() {
  local strange
  strange=$(LC_ALL=C readelf -dW "$@" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u |
    grep -vxE 'lib(c|m|pthread|dl|rt)\.so\.[0-9]|ld-linux-(x86-64|aarch64)\.so\.[0-9]|libcuda\.so\.1' || true)
  if [[ -n $strange ]]; then
    printf 'what is packaged needs more than the C library: %s\n' "$strange" >&2
    return 1
  fi
  LC_ALL=C readelf -VW "$@" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -Vu | tail -n 1
}
