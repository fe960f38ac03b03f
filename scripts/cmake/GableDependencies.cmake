# SPDX-License-Identifier: Apache-2.0
# Packages that Debian has; nothing is downloaded while configuring.
foreach(_package nlohmann_json:3.10:nlohmann-json3-dev CLI11:2.1:libcli11-dev)
  string(REPLACE ":" ";" _package ${_package})
  list(GET _package 0 _name)
  list(GET _package 1 _version)
  list(GET _package 2 _debian)
  find_package(${_name} ${_version} QUIET)
  if(NOT ${_name}_FOUND)
    message(FATAL_ERROR "${_name} ${_version} or newer was not found: install Debian's ${_debian}, or point to it with "
      "-D${_name}_DIR=<folder of ${_name}Config.cmake>.")
  endif()
endforeach()
find_package(Threads REQUIRED)
