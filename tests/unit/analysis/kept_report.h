// SPDX-License-Identifier: Apache-2.0
// Reports of the tests are written where GABLE_TEST_REPORTS says, so that report_schema_test.py can
// hold each against the published schema.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "analysis/report/report_json.h"

namespace gable::tests {

inline Report kept(Report report) {
  const char* folder = std::getenv("GABLE_TEST_REPORTS");
  if (folder == nullptr) return report;
  static int number = 0;
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::ofstream file(std::string(folder) + "/" + test->test_suite_name() + "." + test->name() +
                     "-" + std::to_string(++number) + ".json");
  file << to_json(report);
  if (!file.flush()) ADD_FAILURE() << "a report could not be written to " << folder;
  return report;
}

}  // namespace gable::tests
