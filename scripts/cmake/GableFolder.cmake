# SPDX-License-Identifier: Apache-2.0
# A folder of sources is a library, and what it may include is what it says that it uses: docs/architecture.md.
#
# Headers are included by their path from the root ("collector/queue/planner.h"), but the root is in nobody's include path.
# Each folder has a root of its own in the build folder, include/TARGET, which holds a link to that folder alone, and whoever
# links the folder's target gets this root. So the compiler does not find what a folder does not use.
include(GablePrecompiled)

# gable_show_headers(TARGET SCOPE FOLDER): who sees TARGET may include the headers of FOLDER.
function(gable_show_headers target scope folder)
  set(_root ${CMAKE_BINARY_DIR}/include/${target})
  if(NOT IS_SYMLINK ${_root}/${folder})
    get_filename_component(_parent ${_root}/${folder} DIRECTORY)
    file(MAKE_DIRECTORY ${_parent})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${_root}/${folder} SYMBOLIC)
  endif()
  target_include_directories(${target} ${scope} ${_root})
  set_property(GLOBAL APPEND PROPERTY GABLE_FOLDERS ${folder})
  set_property(GLOBAL PROPERTY GABLE_TARGET_OF_${folder} ${target})
endfunction()

# gable_folder(FOLDER [USES FOLDER…] [LIBRARIES TARGET…] [INSIDE TARGET…] [COMMON KIND] [EXCEPT FILE…] [SOURCES FILE…])
# The target gable_FOLDER, with _ for /. Its headers, and with them those who use it, may include those of USES.
#   LIBRARIES  libraries of others that its headers need, too; INSIDE: that its sources alone need
#   COMMON     which headers are read beforehand: std (as a rule), json, cli or cupti
#   EXCEPT     sources of the folder that are left out; SOURCES: sources that the build generates
function(gable_folder folder)
  cmake_parse_arguments(PARSE_ARGV 1 _arg "" "COMMON" "USES;LIBRARIES;INSIDE;EXCEPT;SOURCES")
  if(_arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gable_folder(${folder}): there is no word ${_arg_UNPARSED_ARGUMENTS}.")
  endif()
  string(REPLACE "/" "_" _name "gable_${folder}")
  file(GLOB _sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  foreach(_file IN LISTS _arg_EXCEPT)
    list(REMOVE_ITEM _sources ${PROJECT_SOURCE_DIR}/${folder}/${_file})
  endforeach()
  add_library(${_name} STATIC ${_sources} ${_arg_SOURCES})
  gable_show_headers(${_name} PUBLIC ${folder})
  foreach(_used IN LISTS _arg_USES)
    string(REPLACE "/" "_" _used "gable_${_used}")
    if(NOT TARGET ${_used})
      message(FATAL_ERROR "gable_folder(${folder}) uses ${_used}: there is none before it. Add the folder, or let it use what stands above it only.")
    endif()
    target_link_libraries(${_name} PUBLIC ${_used})
  endforeach()
  set_property(GLOBAL PROPERTY GABLE_USES_OF_${folder} ${_arg_USES})
  target_link_libraries(${_name} PUBLIC ${_arg_LIBRARIES} PRIVATE ${_arg_INSIDE} gable_warnings)
  target_compile_definitions(${_name} PRIVATE GABLE_VERSION="${PROJECT_VERSION}")
  set_target_properties(${_name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(NOT _arg_COMMON)
    set(_arg_COMMON std)
  endif()
  gable_precompile_as(${_name} ${_arg_COMMON})
  set_property(GLOBAL APPEND PROPERTY GABLE_FOLDER_TARGETS ${_name})
endfunction()

# gable_whole(NAME FOLDER…): all of these folders as one target, for who uses everything of them.
function(gable_whole name)
  add_library(${name} INTERFACE)
  foreach(_folder IN LISTS ARGN)
    string(REPLACE "/" "_" _folder "gable_${_folder}")
    target_link_libraries(${name} INTERFACE ${_folder})
  endforeach()
endfunction()

# gable_write_folders(FILE): for tests/house, a line for each folder, FOLDER:USES:ROOTS. USES are the folders that it names, ROOTS
# the include paths of its sources.
function(gable_write_folders file)
  get_property(_folders GLOBAL PROPERTY GABLE_FOLDERS)
  list(SORT _folders)
  set(_text "")
  foreach(_folder IN LISTS _folders)
    get_property(_target GLOBAL PROPERTY GABLE_TARGET_OF_${_folder})
    get_property(_uses GLOBAL PROPERTY GABLE_USES_OF_${_folder})
    string(APPEND _text "${_folder}:${_uses}:$<TARGET_PROPERTY:${_target},INCLUDE_DIRECTORIES>\n")
  endforeach()
  file(GENERATE OUTPUT ${file} CONTENT "${_text}")
endfunction()
