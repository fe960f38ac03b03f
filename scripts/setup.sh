#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing on a Debian or Ubuntu machine. Needs no root when nothing is missing.
#   scripts/setup.sh                       what building and testing need
#   scripts/setup.sh --program             what building the program and the library needs, and no more
#   scripts/setup.sh --lint                and what scripts/lint.sh needs
#   scripts/setup.sh --fuzz                what scripts/fuzz.sh needs
#   scripts/setup.sh --cuda BUILD          NVIDIA's wheels into BUILD where there is no CUDA toolkit, else nothing
#   scripts/setup.sh --torch BUILD         PyTorch (CPU) and torchvision into BUILD, for the tests that need them; a notice where
#                                          they cannot be had
#   scripts/setup.sh --old-torch BUILD     PyTorch 2.4 into BUILD, 1.8 GB, for the same tests; a notice where not
#   scripts/setup.sh --torches BUILD       that, 2.0 and 2.8 into BUILD, 6 GB, for the long form of these tests; a notice where not
#   scripts/setup.sh --browser BUILD       Chromium and Firefox, and what drives them into BUILD, for the tests of the report page; a notice where not
#   scripts/setup.sh --cuda-wheels BUILD   NVIDIA's wheels into BUILD in any case; with x86_64 or aarch64 behind it, those of that architecture
#   scripts/setup.sh --cupti-wheels BUILD  older and newer CUPTIs into BUILD, about 130 MB to fetch, for the tests in tests/cupti
#   scripts/setup.sh --disassembler BUILD  nvdisasm into BUILD, 5 MB, for the test that reads kernels; a notice where not
#   scripts/setup.sh --secrets BUILD       detect-secrets into BUILD, for the test that looks for secrets in reports; a notice where not
#   scripts/setup.sh --package BUILD       what scripts/release.sh needs: lowdown, dpkg-dev, lintian, qemu, buildah, and auditwheel and a compiler for
#                                          older and other machines into BUILD
#   scripts/setup.sh --programs BUILD      what the programs in tests/programs import into BUILD, 2 GB; a notice where not
#   scripts/setup.sh --launching BUILD     pytest, Jupyter's kernel, uv and what checks Kubernetes' manifests into BUILD, for tests of how programs are started
#   scripts/setup.sh --frameworks BUILD    Numba and its compiler into BUILD, 0.9 GB, for the long form of these tests; a notice where not
#   scripts/setup.sh --fleet BUILD         DuckDB, Arrow, Plotly, Dask and Polars into BUILD, for the tests in tests/fleet; a notice where not
#   scripts/setup.sh --spark BUILD         Java, and Spark into the same place, for the long form of these tests
#   scripts/setup.sh --slurm               Slurm's daemons, for the long form of these tests
#   scripts/setup.sh --hazards BUILD       compilers, allocators and servers for the long form of the table of hazards; a notice where not
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# CUDA headers, CUPTI and NVTX as NVIDIA publishes them for pip, of one CUDA release.
readonly wheels=(
  nvidia-cuda-runtime==13.0.96
  nvidia-cuda-crt==13.0.88
  nvidia-cuda-cupti==13.0.85
  nvidia-nvtx==13.0.85
)

# Release of CUDA and wheel: a CUPTI too old for counters, then every release with counters. Headers of the oldest of these
# and of the newest go with them.
readonly cupti_wheels=(
  12.1:nvidia-cuda-cupti-cu12==12.1.105
  12.6:nvidia-cuda-cupti-cu12==12.6.80
  12.6:nvidia-cuda-runtime-cu12==12.6.77
  12.8:nvidia-cuda-cupti-cu12==12.8.90
  12.9:nvidia-cuda-cupti-cu12==12.9.79
  13.0:nvidia-cuda-cupti==13.0.85
  13.1:nvidia-cuda-cupti==13.1.115
  13.2:nvidia-cuda-cupti==13.2.86
  13.3:nvidia-cuda-cupti==13.3.75
  13.4:nvidia-cuda-cupti==13.4.92
  13.5:nvidia-cuda-cupti==13.5.25
  13.5:nvidia-cuda-runtime==13.5.37
)

# Reads what every assembler up to its own release makes, also for the newest chips.
readonly disassembler=nvidia-cuda-nvdisasm==13.5.37

fail() {
  printf 'setup: %s\n' "$1" >&2
  exit 1
}

# Says which of the packages are missing. Each is "package:probe": a command, a header below /usr or /usr/local, a pattern of
# files below /usr, or "import NAME" for a Python module that /usr/bin/python3 or the first python3 must have.
missing_packages() {
  local pair probe
  for pair in "$@"; do
    probe=${pair#*:}
    case $probe in
      'import '*)
        /usr/bin/python3 -c "$probe" 2>/dev/null || python3 -c "$probe" 2>/dev/null || printf '%s\n' "${pair%%:*}"
        ;;
      *'*'*) compgen -G "/usr/$probe" >/dev/null || printf '%s\n' "${pair%%:*}" ;;
      */* | *.h) [[ -e /usr/include/$probe || -e /usr/local/include/$probe ]] || printf '%s\n' "${pair%%:*}" ;;
      *) command -v "$probe" >/dev/null || printf '%s\n' "${pair%%:*}" ;;
    esac
  done
}

install_packages() {
  local missing=()
  mapfile -t missing < <(missing_packages "$@")
  [[ ${#missing[@]} -gt 0 ]] || return 0
  command -v apt-get >/dev/null ||
    fail "these are missing and there is no apt-get to install them: ${missing[*]}"
  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null ||
      fail "these are missing; run as root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  printf 'setup: installing with apt-get: %s\n' "${missing[*]}" >&2
  "${as_root[@]}" apt-get update -q >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
    "${missing[@]}" >&2
}

has_cuda_headers() {
  cmake "-DGABLE_BUILD=$1" -P "$root/scripts/cmake/GableCudaHeaders.cmake" >/dev/null 2>&1
}

fetch_wheels() {  # folder, options of pip, wheels of different packages
  local target=$1
  shift
  python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip:pip3
  mkdir -p "$target/download"
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
    --dest "$target/download" "$@" >&2 ||
    fail "pip could not download $*"
  local wheel
  for wheel in "$target"/download/*.whl; do
    python3 -m zipfile -e "$wheel" "$target"
  done
  rm -rf "$target/download"
}

fetch_cuda_wheels() {
  printf 'setup: taking the CUDA headers and CUPTI from NVIDIA'\''s pip wheels into %s\n' "$1/cuda-wheels" >&2
  local platform=()
  if [[ -n ${2:-} ]]; then platform=(--platform "manylinux_2_28_$2" --platform "manylinux_2_25_$2" --platform "manylinux2014_$2" --platform "manylinux1_$2"); fi
  fetch_wheels "$1/cuda-wheels" "${platform[@]}" "${wheels[@]}"
}

fetch_cupti_wheels() {
  local pair target
  for pair in "${cupti_wheels[@]}"; do
    target=$1/cupti-wheels/${pair%%:*}
    compgen -G "$target/$(dist_info "${pair#*:}")" >/dev/null && continue
    printf 'setup: taking %s into %s\n' "${pair#*:}" "$target" >&2
    fetch_wheels "$target" "${pair#*:}"
  done
}

fetch_disassembler() {
  local target=$1/disassembler
  compgen -G "$target/$(dist_info "$disassembler")" >/dev/null && return 0
  printf 'setup: taking %s into %s\n' "$disassembler" "$target" >&2
  if ! { (fetch_wheels "$target" "$disassembler") && chmod +x "$target/nvidia/cu13/bin/nvdisasm"; }; then  # unpacking forgets it
    printf 'setup: nvdisasm could not be fetched; the test that reads the kernels is skipped\n' >&2
    rm -rf "$target"
  fi
}

dist_info() {  # the folder that tells of an unpacked wheel: name==1.2 -> name-1.2.dist-info
  local name=${1%%==*}
  printf '%s-%s.dist-info' "${name//-/_}" "${1#*==}"
}

fetch_torch() {
  fetch_pytorch "$1/torch"
  [[ ! -x $1/torch/bin/python ]] || fetch_torchvision "$1/torch/bin/python" "$1/torchvision"
}

# Its models and datasets, beside PyTorch: pip would bring a PyTorch with CUDA along. Its operators in C++ want CUDA and do not
# load; what needs them is not used.
fetch_torchvision() {
  local python=$1 target=$2
  if [[ -d $target/torchvision && -d $target/PIL ]]; then return 0; fi
  printf 'setup: putting torchvision into %s\n' "$target" >&2
  if ! "$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$target" \
    torchvision==0.28.0 pillow==13.0.0 >&2; then
    printf 'setup: torchvision could not be installed; the tests with it are skipped\n' >&2
    rm -rf "$target"
  fi
}

# TARGET IMPORTS WHAT WITHOUT ARGUMENTS...: a virtual environment TARGET in which IMPORTS works, of pip's ARGUMENTS. Where WHAT cannot
# be had, a notice says what is so WITHOUT it.
fill_environment() {
  local target=$1 imports=$2 what=$3 without=$4
  shift 4
  if [[ -x $target/bin/python ]] && "$target/bin/python" -c "import $imports" 2>/dev/null; then return 0; fi
  printf 'setup: putting %s into %s\n' "$what" "$target" >&2
  if ! { python3 -m venv "$target" && "$target/bin/python" -m pip install --quiet --disable-pip-version-check "$@" >&2; }; then
    printf 'setup: %s could not be installed; %s\n' "$what" "$without" >&2
    rm -rf "$target"
  fi
}

fetch_pytorch() {
  fill_environment "$1" torch PyTorch 'the tests with it are skipped' torch==2.13.0 numpy==2.4.6
}

# PyPI has older ones for CUDA alone, whose libraries they do not load without and do not use on a CPU. The small ones, of that
# release of CUDA, are installed, and libraries without a body stand in for the others.
fetch_older_pytorch() {  # build folder, version, release of CUDA as in packages' names, versions of cudart, CUPTI, NVTX, NVRTC and numpy
  local target=$1/torch-${2%.*} folder
  if [[ -x $target/bin/python ]] && "$target/bin/python" -c 'import torch' 2>/dev/null; then return 0; fi
  printf 'setup: putting PyTorch %s into %s\n' "$2" "$target" >&2
  if python3 -m venv "$target" &&
    "$target/bin/python" -m pip install --quiet --disable-pip-version-check "numpy==$8" filelock==3.20.0 typing_extensions==4.15.0 \
      sympy==1.13.3 networkx==3.4.2 jinja2==3.1.6 fsspec==2025.10.0 setuptools==80.9.0 >&2 &&
    "$target/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-compile "torch==$2" \
      "nvidia-cuda-runtime-$3==$4" "nvidia-cuda-cupti-$3==$5" "nvidia-nvtx-$3==$6" "nvidia-cuda-nvrtc-$3==$7" >&2 &&
    folder=$("$target/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/torch/lib &&
    python3 -B "$root/scripts/cuda_stand_ins.py" "$folder" && "$target/bin/python" -c 'import torch'; then return 0; fi
  printf 'setup: PyTorch %s could not be installed; the tests with it are skipped\n' "$2" >&2
  rm -rf "$target"
}

fetch_old_pytorch() { fetch_older_pytorch "$1" 2.4.1 cu12 12.1.105 12.1.105 12.1.105 12.1.105 1.26.4; }

fetch_pytorches() {
  fetch_older_pytorch "$1" 2.0.1 cu11 11.7.99 11.7.101 11.7.91 11.7.99 1.26.4
  fetch_old_pytorch "$1"
  fetch_older_pytorch "$1" 2.8.0 cu12 12.8.90 12.8.90 12.8.90 12.8.93 2.4.6
}

fetch_programs() {
  fill_environment "$1/programs" gpytorch,pyro,skorch,x_transformers 'the packages of real programs' 'the tests with them are skipped' \
    -r "$root/tests/programs/requirements.txt"
}

fetch_browser() {
  install_packages chromium:chromium
  fill_environment "$1/browser" axe_playwright_python,playwright,pypdf Playwright 'the tests of the report page are skipped' \
    playwright==1.65.2 axe-playwright-python==0.1.8 pypdf==7.1.1
}

# Playwright drives a Firefox of its own alone; puppeteer-core drives Debian's.
fetch_firefox() {
  local target=$1/firefox
  if [[ -d $target/node_modules/puppeteer-core ]] && command -v firefox-esr >/dev/null; then return 0; fi
  if ! command -v npm >/dev/null; then
    printf 'setup: there is no npm; the test of the report page in Firefox is skipped\n' >&2
    return 0
  fi
  install_packages firefox-esr:firefox-esr
  printf 'setup: putting puppeteer-core into %s\n' "$target" >&2
  mkdir -p "$target"
  if ! npm install --prefix "$target" --silent --no-audit --no-fund puppeteer-core@24.43.1 >&2; then
    printf 'setup: puppeteer-core could not be installed; the test of the report page in Firefox is skipped\n' >&2
    rm -rf "$target"
  fi
}

fetch_secrets() {
  fill_environment "$1/secrets" detect_secrets detect-secrets 'the test that looks for secrets is skipped' detect-secrets==1.5.0
}

# PyTorch is the one beside it.
fetch_launching() {
  fill_environment "$1/launching" kubernetes_validate,ipykernel,mcp,nbclient,nvtx,pytest,uv,yaml 'pytest, Jupyter and uv' 'the tests with them are skipped' \
    kubernetes-validate==1.37.0 ipykernel==7.4.0 mcp==2.3.0 nbclient==0.11.0 nvtx==0.2.17 pytest==9.2.0 uv==0.13.9 pyyaml==6.0.4
  if [[ -x $1/launching/bin/python && -x $1/torch/bin/python ]]; then
    "$1/torch/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$(echo "$1"/launching/lib/python3*/site-packages)/torch-beside.pth"
  fi
}

fetch_frameworks() {
  fill_environment "$1/frameworks" numba.cuda,nvtx Numba 'the tests with it are skipped' 'numba-cuda[cu13]==0.30.4' nvtx==0.2.17
}

fetch_fleet() {
  fill_environment "$1/fleet" dask.dataframe,distributed,duckdb,opentelemetry.sdk,opentelemetry.exporter.otlp.proto.http,plotly,polars,prometheus_client,pyarrow,rich 'DuckDB, Arrow and Dask' 'the tests of fleets are skipped' \
    'dask[dataframe]==2026.8.0' distributed==2026.8.0 duckdb==2.0.1 opentelemetry-exporter-otlp-proto-http==1.45.2 opentelemetry-sdk==1.45.2 \
    pandas==3.1.1 plotly==7.1.0 polars==2.1.0 prometheus_client==0.26.0 pyarrow==26.0.1 rich==15.0.0
}

fetch_spark() {
  fetch_fleet "$1"
  install_packages default-jre-headless:java
  "$1/fleet/bin/python" -c 'import pyspark' 2>/dev/null || "$1/fleet/bin/python" -m pip install --quiet --disable-pip-version-check pyspark==4.3.0 >&2
}

fetch_hazards() {
  install_packages "${hazard_packages[@]}"
  fill_environment "$1/hazards" distributed,gunicorn,ray,uvicorn 'the servers' 'the table of hazards skips them' \
    -r "$root/tests/hazards/requirements.txt"
}

fetch_packaging() {
  install_packages "${package_packages[@]}"
  fill_environment "$1/package" auditwheel,rattler,rattler_build,scikit_build_core,spdx_tools,wheel,ziglang 'auditwheel and a compiler' 'nothing can be packaged' \
    auditwheel==6.8.2 py-rattler==0.28.0 py-rattler-build==0.73.0 scikit-build-core==0.11.6 spdx-tools==0.8.5 wheel==0.48.0 ziglang==0.17.1
  [[ -x $1/package/bin/python ]] || exit 1
}

build_packages=(
  g++:g++
  cmake:cmake
  ninja-build:ninja
  nlohmann-json3-dev:nlohmann/json.hpp
  libcli11-dev:CLI/CLI.hpp
  rapidjson-dev:rapidjson/document.h
  libprotozero-dev:protozero/pbf_reader.hpp
  libsqlite3-dev:sqlite3.h
  zlib1g-dev:zlib.h
  'node-d3:share/nodejs/d3/dist/d3.min*.js'
  python3:python3
)
test_packages=(
  ccache:ccache
  libgtest-dev:gtest/gtest.h
  libbenchmark-dev:benchmark/benchmark.h
  'python3-jsonschema:import jsonschema'
  openmpi-bin:mpirun
  strace:strace
  'locales:share/i18n/charmaps/ANSI_X3.4-1968*'
  lowdown:lowdown
  dpkg-dev:dpkg-shlibdeps
  zsh:zsh
  fish:fish
)
package_packages=(
  lowdown:lowdown
  dpkg-dev:dpkg-shlibdeps
  lintian:lintian
  tcl:tclsh
  mmdebstrap:mmdebstrap
  patchelf:patchelf
  buildah:buildah
  qemu-user-static:qemu-aarch64-static
)
# The C library of the other architecture, for the emulator.
case $(uname -m) in
  x86_64) package_packages+=(libc6-arm64-cross:../aarch64-linux-gnu/lib/ld-linux-aarch64.so.1) ;;
  aarch64) package_packages+=(libc6-amd64-cross:../x86_64-linux-gnu/lib64/ld-linux-x86-64.so.2) ;;
esac
lint_packages=(
  clang-format-14:clang-format-14
  clang-tidy-14:clang-tidy-14
  shellcheck:shellcheck
)
hazard_packages=(
  musl-tools:musl-gcc
  'libjemalloc2:lib/*/libjemalloc.so.2*'
  'libtcmalloc-minimal4:lib/*/libtcmalloc_minimal.so.4*'
)
slurm_packages=(
  'slurmctld:sbin/slurmctld*'
  'slurmd:sbin/slurmd*'
  slurm-client:srun
  'munge:sbin/munged*'
)
fuzz_packages=(
  clang-14:clang++-14
  # Not recommended but needed: libFuzzer and the sanitizers' run-time.
  libclang-rt-14-dev:lib/llvm-14/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a
)

case ${1:-} in
  '') install_packages "${build_packages[@]}" "${test_packages[@]}" ;;
  --program) install_packages "${build_packages[@]}" ;;
  --lint) install_packages "${build_packages[@]}" "${test_packages[@]}" "${lint_packages[@]}" ;;
  --fuzz) install_packages "${build_packages[@]}" "${fuzz_packages[@]}" ;;
  --cuda)
    [[ $# -eq 2 ]] || fail "write scripts/setup.sh --cuda <build folder>"
    has_cuda_headers "$2" || fetch_cuda_wheels "$2"
    ;;
  --torch)
    [[ $# -eq 2 ]] || fail "write scripts/setup.sh --torch <build folder>"
    fetch_torch "$2"
    ;;
  --old-torch)
    [[ $# -eq 2 ]] || fail "write scripts/setup.sh --old-torch <build folder>"
    fetch_old_pytorch "$2"
    ;;
  --torches)
    [[ $# -eq 2 ]] || fail "write scripts/setup.sh --torches <build folder>"
    fetch_pytorches "$2"
    ;;
  --browser)
    [[ $# -eq 2 ]] || fail "write scripts/setup.sh --browser <build folder>"
    fetch_browser "$2"
    fetch_firefox "$2"
    ;;
  --cuda-wheels)
    [[ $# -eq 2 || $# -eq 3 ]] || fail "write scripts/setup.sh --cuda-wheels <build folder> [<architecture>]"
    fetch_cuda_wheels "$2" "${3:-}"
    ;;
  --cupti-wheels)
    [[ $# -eq 2 ]] || fail "write scripts/setup.sh --cupti-wheels <build folder>"
    fetch_cupti_wheels "$2"
    ;;
  --disassembler)
    [[ $# -eq 2 ]] || fail "write scripts/setup.sh --disassembler <build folder>"
    fetch_disassembler "$2"
    ;;
  --secrets)
    [[ $# -eq 2 ]] || fail "write scripts/setup.sh --secrets <build folder>"
    fetch_secrets "$2"
    ;;
  --package)
    [[ $# -eq 2 ]] || fail "write scripts/setup.sh --package <build folder>"
    fetch_packaging "$2"
    ;;
  --programs)
    [[ $# -eq 2 ]] || fail "write scripts/setup.sh --programs <build folder>"
    fetch_programs "$2"
    ;;
  --hazards)
    [[ $# -eq 2 ]] || fail "write scripts/setup.sh --hazards <build folder>"
    fetch_hazards "$2"
    ;;
  --launching)
    [[ $# -eq 2 ]] || fail "write scripts/setup.sh --launching <build folder>"
    fetch_launching "$2"
    ;;
  --frameworks)
    [[ $# -eq 2 ]] || fail "write scripts/setup.sh --frameworks <build folder>"
    fetch_frameworks "$2"
    ;;
  --fleet)
    [[ $# -eq 2 ]] || fail "write scripts/setup.sh --fleet <build folder>"
    fetch_fleet "$2"
    ;;
  --spark)
    [[ $# -eq 2 ]] || fail "write scripts/setup.sh --spark <build folder>"
    fetch_spark "$2"
    ;;
  --slurm) install_packages "${slurm_packages[@]}" ;;
  *) fail "there is no option '$1'; there are --program, --lint, --fuzz, --cuda BUILD, --torch BUILD, --old-torch BUILD, --torches BUILD, --browser BUILD, --cuda-wheels BUILD, --cupti-wheels BUILD, --disassembler BUILD, --secrets BUILD, --package BUILD, --programs BUILD, --launching BUILD, --frameworks BUILD, --fleet BUILD, --spark BUILD, --slurm and --hazards BUILD" ;;
esac
