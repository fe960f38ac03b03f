# SPDX-License-Identifier: Apache-2.0
# gable_cuda_headers: cuda.h, CUPTI's headers and NVTX v3, header only. Nothing of CUDA is linked: the library opens
# CUPTI at run time. Looked for in NVIDIA's layout, Debian's and Ubuntu's, and that of NVIDIA's pip wheels.
set(GABLE_CUDA_ROOT "" CACHE PATH "A CUDA toolkit, or a folder that holds NVIDIA's pip wheels (…/site-packages/nvidia)")

file(GLOB _gable_versioned /usr/local/cuda-1[23].*)
list(SORT _gable_versioned COMPARE NATURAL ORDER DESCENDING)
set(_gable_roots ${GABLE_CUDA_ROOT} $ENV{CUDA_HOME} $ENV{CUDA_PATH} $ENV{CUDAToolkit_ROOT}
    ${CMAKE_BINARY_DIR}/cuda-wheels/nvidia /usr/local/cuda ${_gable_versioned} /usr/lib/cuda /usr)
set(_gable_layouts include cu13/include cuda_runtime/include cuda_cupti/include nvtx/include cuda_nvcc/include
    nvidia/cu13/include nvidia/cuda_runtime/include nvidia/cuda_cupti/include nvidia/nvtx/include
    extras/CUPTI/include targets/x86_64-linux/include targets/sbsa-linux/include)

function(gable_find_header variable header)
  set(_dirs)
  foreach(root IN LISTS _gable_roots)
    foreach(layout IN LISTS _gable_layouts)
      list(APPEND _dirs ${root}/${layout})
    endforeach()
  endforeach()
  find_path(${variable} ${header} PATHS ${_dirs} NO_DEFAULT_PATH)
  mark_as_advanced(${variable})
endfunction()

gable_find_header(GABLE_CUDA_INCLUDE_DIR cuda.h)
gable_find_header(GABLE_CUPTI_INCLUDE_DIR cupti_range_profiler.h)
gable_find_header(GABLE_NVTX_INCLUDE_DIR nvtx3/nvToolsExt.h)

set(_gable_missing)
foreach(pair "GABLE_CUDA_INCLUDE_DIR:cuda.h" "GABLE_CUPTI_INCLUDE_DIR:cupti_range_profiler.h"
        "GABLE_NVTX_INCLUDE_DIR:nvtx3/nvToolsExt.h")
  string(REPLACE ":" ";" pair "${pair}")
  list(GET pair 0 _variable)
  list(GET pair 1 _header)
  if(NOT ${_variable})
    list(APPEND _gable_missing ${_header})
  endif()
endforeach()
if(_gable_missing)
  string(REPLACE ";" ", " _gable_missing "${_gable_missing}")
  message(FATAL_ERROR "The CUDA headers were not found (missing: ${_gable_missing}). Ways out:\n"
    "  1. install the CUDA toolkit 12.6 or newer, or point to it: -DGABLE_CUDA_ROOT=/usr/local/cuda-13.0\n"
    "  2. take the headers from NVIDIA's pip wheels: scripts/setup.sh --cuda-wheels <build folder>\n"
    "  3. build without the injected library (reports can still be read): -DGABLE_INJECT=OFF")
endif()

file(STRINGS ${GABLE_CUPTI_INCLUDE_DIR}/cupti_version.h _gable_line REGEX "#define CUPTI_API_VERSION")
string(REGEX MATCH "[0-9]+" GABLE_CUPTI_API_VERSION "${_gable_line}")
message(STATUS "CUPTI headers: ${GABLE_CUPTI_INCLUDE_DIR} (API ${GABLE_CUPTI_API_VERSION})")

add_library(gable_cuda_headers INTERFACE)
target_include_directories(gable_cuda_headers SYSTEM INTERFACE
  ${GABLE_CUDA_INCLUDE_DIR} ${GABLE_CUPTI_INCLUDE_DIR} ${GABLE_NVTX_INCLUDE_DIR})

# Where the real libcupti of this toolkit lies: the tests ask its host API; gable doctor offers it as the last resort.
find_library(GABLE_CUPTI_LIBRARY NAMES libcupti.so.13 libcupti.so.12 PATHS
  ${GABLE_CUPTI_INCLUDE_DIR}/../lib ${GABLE_CUPTI_INCLUDE_DIR}/../lib64 ${GABLE_CUPTI_INCLUDE_DIR}/../lib/x86_64-linux-gnu
  /usr/lib/x86_64-linux-gnu NO_DEFAULT_PATH)
mark_as_advanced(GABLE_CUPTI_LIBRARY)
message(STATUS "CUPTI library: ${GABLE_CUPTI_LIBRARY}")
