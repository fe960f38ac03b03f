// SPDX-License-Identifier: Apache-2.0
// A new empty folder for the files of a test, removed with all that is in it.
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

namespace gable::tests {

// Not the TemporaryFolder of the import, which minds signals.
class TemporaryFolder {
 public:
  // What it throws fails the test, also before SetUp().
  TemporaryFolder() : path_(testing::TempDir() + "gable-test-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr)
      throw std::system_error(errno, std::generic_category(), "no temporary folder " + path_);
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
    EXPECT_FALSE(error) << path_ << " stays: " << error.message();
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string at(const std::string& name) const { return path_ + "/" + name; }
  // Written anew, with the folders that its name has; its path.
  std::string file(const std::string& name, std::string_view text) const {
    std::string path = at(name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    EXPECT_TRUE(std::ofstream(path, std::ios::binary) << text << std::flush) << path;
    return path;
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream file(at(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_;
};

}  // namespace gable::tests
