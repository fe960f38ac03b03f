# SPDX-License-Identifier: Apache-2.0
# gable_cuda_headers: cuda.h, CUPTI's headers and NVTX v3, header only. Nothing of CUDA is linked: the library opens
# CUPTI at run time.
set(GABLE_CUDA_ROOT "" CACHE PATH "A CUDA toolkit, or a folder that holds NVIDIA's pip wheels (…/site-packages/nvidia)")
option(GABLE_CUDA_ONLY_ROOT "Look for CUDA only in GABLE_CUDA_ROOT and in the build folder's wheels" OFF)
mark_as_advanced(GABLE_CUDA_ONLY_ROOT)

include(GableCudaHeaders)
gable_find_cuda_headers(${CMAKE_BINARY_DIR})
if(GABLE_CUDA_MISSING)
  string(REPLACE ";" ", " _gable_missing "${GABLE_CUDA_MISSING}")
  message(FATAL_ERROR "The CUDA headers were not found (missing: ${_gable_missing}). Ways out:\n"
    "  1. install the CUDA toolkit 12.6 or newer, or point to it: -DGABLE_CUDA_ROOT=/usr/local/cuda-13.0\n"
    "  2. take the headers from NVIDIA's pip wheels: scripts/setup.sh --cuda-wheels ${CMAKE_BINARY_DIR}\n"
    "  3. build without the injected library (reports can still be read): -DGABLE_INJECT=OFF")
endif()

file(STRINGS ${GABLE_CUPTI_INCLUDE_DIR}/cupti_version.h _gable_line REGEX "#define CUPTI_API_VERSION")
string(REGEX MATCH "[0-9]+" GABLE_CUPTI_API_VERSION "${_gable_line}")
message(STATUS "CUPTI headers: ${GABLE_CUPTI_INCLUDE_DIR} (API ${GABLE_CUPTI_API_VERSION})")

add_library(gable_cuda_headers INTERFACE)
target_include_directories(gable_cuda_headers SYSTEM INTERFACE ${GABLE_CUDA_INCLUDE_DIRS})

# Where the real libcupti of this toolkit lies: the tests ask its host API; gable doctor offers it as the last resort.
set(_gable_cupti_places ${GABLE_CUPTI_INCLUDE_DIR}/../lib ${GABLE_CUPTI_INCLUDE_DIR}/../lib64
    ${GABLE_CUPTI_INCLUDE_DIR}/../lib/x86_64-linux-gnu)
if(NOT GABLE_CUDA_ONLY_ROOT)
  list(APPEND _gable_cupti_places /usr/lib/x86_64-linux-gnu)
endif()
find_library(GABLE_CUPTI_LIBRARY NAMES libcupti.so.13 libcupti.so.12 PATHS ${_gable_cupti_places} NO_DEFAULT_PATH)
mark_as_advanced(GABLE_CUPTI_LIBRARY)
message(STATUS "CUPTI library: ${GABLE_CUPTI_LIBRARY}")
