# SPDX-License-Identifier: Apache-2.0
# gable_precompile(TARGET [HEADERS…]): the compiler reads the standard headers that most sources include, and those
# named, once for all sources of TARGET. In six sources looked at, reading headers took a quarter to
# three quarters of the time to compile.
# gable_precompile_as(TARGET KIND): the same for the folders of the product, once for all folders of one KIND: std, json, cli
# or cupti.
#
# A source must still include what it uses: scripts/lint.sh reads every source without this.
option(GABLE_PRECOMPILED "Read common headers once for each target" ON)

set(GABLE_COMMON_STD
    <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <condition_variable> <cstdint> <cstdio> <cstdlib> <cstring>
    <deque> <filesystem> <fstream> <functional> <limits> <map> <memory> <mutex> <optional> <set> <sstream> <string>
    <string_view> <thread> <tuple> <unordered_map> <utility> <vector>)
set(GABLE_COMMON_JSON <nlohmann/json.hpp>)
set(GABLE_COMMON_CLI <nlohmann/json.hpp> <CLI/CLI.hpp>)
set(GABLE_COMMON_CUPTI <cuda.h> <cupti.h>)

function(gable_precompile target)
  if(NOT GABLE_PRECOMPILED)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE ${GABLE_COMMON_STD} ${ARGN})
endfunction()

function(gable_precompile_as target kind)
  if(NOT GABLE_PRECOMPILED)
    return()
  endif()
  if(NOT TARGET gable_common_${kind})
    # Compiled as the folders are, or the compiler would not take it.
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/common/${kind}.cpp CONTENT "// Only its headers count.\n")
    add_library(gable_common_${kind} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/common/${kind}.cpp)
    target_link_libraries(gable_common_${kind} PRIVATE gable_warnings)
    set_target_properties(gable_common_${kind} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    string(TOUPPER ${kind} _kind)
    set(_headers ${GABLE_COMMON_STD})
    if(NOT kind STREQUAL "std")
      list(APPEND _headers ${GABLE_COMMON_${_kind}})
    endif()
    if(kind STREQUAL "json" OR kind STREQUAL "cli")
      target_link_libraries(gable_common_${kind} PRIVATE nlohmann_json::nlohmann_json CLI11::CLI11)
    elseif(kind STREQUAL "cupti")
      target_link_libraries(gable_common_${kind} PRIVATE gable_cuda_headers)
    endif()
    target_precompile_headers(gable_common_${kind} PRIVATE ${_headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM gable_common_${kind})
endfunction()
