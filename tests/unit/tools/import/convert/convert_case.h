// SPDX-License-Identifier: Apache-2.0
// A folder for files, scripts that stand for nsys and ncu, and an environment that says where they
// are.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include "tests/unit/temporary_folder.h"

namespace gable {

class ConvertCase : public testing::Test {
 protected:
  void SetUp() override {
    // Whoever runs this in the background ignores some.
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
      struct sigaction plain {};
      plain.sa_handler = SIG_DFL;
      sigaction(number, &plain, &signals_[number]);
    }
    for (const char* each : {"bin", "tmp"}) std::filesystem::create_directory(folder.at(each));
    set("PATH", folder.at("bin") + ":/usr/bin:/bin");
    set("TMPDIR", folder.at("tmp"));
    set("CUDA_HOME", "");
  }
  void TearDown() override {
    for (const auto& [name, value] : before_) {
      if (value)
        setenv(name.c_str(), value->c_str(), 1);
      else
        unsetenv(name.c_str());
    }
    for (const auto& [number, action] : signals_) sigaction(number, &action, nullptr);
  }
  void set(const std::string& name, const std::string& value) {
    const char* was = getenv(name.c_str());
    before_.try_emplace(name, was == nullptr ? std::nullopt : std::optional<std::string>(was));
    setenv(name.c_str(), value.c_str(), 1);
  }

  // Below the folder.
  std::string program(const std::string& path, const std::string& script) const {
    const std::string full = folder.file(path, "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(full, std::filesystem::perms::owner_all);
    return full;
  }
  [[nodiscard]] static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] bool nothing_is_left() const { return std::filesystem::is_empty(folder.at("tmp")); }

  const tests::TemporaryFolder folder;

 private:
  std::map<std::string, std::optional<std::string>> before_;
  std::map<int, struct sigaction> signals_;
};

}  // namespace gable
