# SPDX-License-Identifier: Apache-2.0
# GABLE_TEST_PYTHON: an interpreter that has jsonschema, for tests that read reports. Debian's package serves the system's
# python3 alone, and another one may come first in PATH.
if(NOT GABLE_TEST_PYTHON)
  find_program(_path_python NAMES python3)
  foreach(_python /usr/bin/python3 ${_path_python})
    execute_process(COMMAND ${_python} -c "import sys, jsonschema; assert sys.version_info >= (3, 10)"
      RESULT_VARIABLE _result OUTPUT_QUIET ERROR_QUIET)
    if(_result EQUAL 0)
      set(GABLE_TEST_PYTHON ${_python} CACHE FILEPATH "Python 3.10 or newer with jsonschema, for the tests of reports")
      break()
    endif()
  endforeach()
  unset(_path_python CACHE)
endif()
if(NOT GABLE_TEST_PYTHON)
  message(FATAL_ERROR "The tests validate reports with Python's jsonschema, which no python3 here has. Install it "
    "(Debian: apt-get install python3-jsonschema; else: pip install jsonschema), or name an interpreter that has it "
    "with -DGABLE_TEST_PYTHON=/path/to/python3, or build without tests (-DGABLE_TESTS=OFF).")
endif()
