# SPDX-License-Identifier: Apache-2.0
# gable_warnings: what every target of ours is compiled with.
add_library(gable_warnings INTERFACE)
target_compile_options(gable_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wundef)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # In `"text" + std::string` it sees copies that overlap or are out of bounds where there are none (GCC bugs 105329, 105651).
  target_compile_options(gable_warnings INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()
if(GABLE_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A source that another one includes passes for a header, and GCC 12 loses sight of what an optional holds in large ones.
  target_compile_options(gable_warnings INTERFACE -Wno-subobject-linkage -Wno-maybe-uninitialized)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(gable_warnings INTERFACE -Wno-overlength-strings)  # the report's page
  if(GABLE_UNITY)
    # What two sources call by one name is one name where they are compiled together.
    target_compile_options(gable_warnings INTERFACE -Wno-shadow)
  endif()
endif()
if(GABLE_WARNINGS_AS_ERRORS)
  target_compile_options(gable_warnings INTERFACE -Werror)
endif()
if(GABLE_SANITIZE)
  add_compile_options(-fsanitize=${GABLE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${GABLE_SANITIZE})
  if(GABLE_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
