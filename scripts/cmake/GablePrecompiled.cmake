# SPDX-License-Identifier: Apache-2.0
# gable_precompile(TARGET [HEADERS…]): the compiler reads the standard headers that most sources include, and those
# named, once for all sources of TARGET. In six sources looked at, reading headers took a quarter to
# three quarters of the time to compile.
#
# A source must still include what it uses: scripts/lint.sh reads every source without this.
option(GABLE_PRECOMPILED "Read common headers once for each target" ON)

function(gable_precompile target)
  if(NOT GABLE_PRECOMPILED)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <condition_variable> <cstdint> <cstdio> <cstdlib> <cstring>
    <deque> <filesystem> <fstream> <functional> <limits> <map> <memory> <mutex> <optional> <set> <sstream> <string>
    <string_view> <thread> <tuple> <unordered_map> <utility> <vector> ${ARGN})
endfunction()
