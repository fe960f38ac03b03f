// SPDX-License-Identifier: Apache-2.0
// An export of nsys with the columns that are read, and rows that a test adds.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "tools/base/wrong_use.h"
#include "tools/import/nsys/nsys_sqlite.h"
#include "tools/import/records/imported.h"
#include "tools/streams/progress.h"
#include "tools/streams/sqlite_file.h"

namespace gable {

class NsysFile : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path = testing::TempDir() + "gable_" + test->test_suite_name() + "_" + test->name();
    own_path_ = path;
    (void)std::remove(own_path_.c_str());
    ASSERT_EQ(sqlite3_open(path.c_str(), &base_), SQLITE_OK);
    run("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF;"
        "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)");
  }
  void TearDown() override {
    sqlite3_close(base_);
    (void)std::remove(own_path_.c_str());
  }
  void run(const std::string& statements) {
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(base_, statements.c_str(), nullptr, nullptr, &error), SQLITE_OK)
        << (error != nullptr ? error : "") << statements;
  }
  // A number for a text.
  std::string id(const std::string& text) {
    const auto [known, fresh] = ids_.try_emplace(text, ids_.size() + 1);
    if (fresh)
      run("INSERT INTO StringIds VALUES (" + std::to_string(known->second) + ", '" + text + "')");
    return std::to_string(known->second);
  }
  // Empty, or how it is refused.
  std::string read() {
    Progress progress(false);
    try {
      read_nsys_sqlite(path, imported, progress, "run.sqlite");
    } catch (const WrongUse& problem) {
      return problem.what();
    }
    return {};
  }
  [[nodiscard]] bool notes_have(const std::string& piece) const {
    return std::any_of(imported.notes.begin(), imported.notes.end(),
                       [&](const auto& note) { return note.find(piece) != std::string::npos; });
  }

  std::string path;
  Imported imported;

 private:
  sqlite3* base_ = nullptr;
  std::string own_path_;  // all that is removed, whatever a test reads
  std::map<std::string, std::size_t> ids_;
};

}  // namespace gable
