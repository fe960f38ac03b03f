// SPDX-License-Identifier: Apache-2.0
// Tests of what is read from files, as they are and packed by gzip.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <string_view>

#include "tests/unit/temporary_folder.h"

namespace gable::tests {

class ByteFiles : public testing::Test {
 protected:
  // Paths of what was written.
  std::string file(const std::string& name, std::string_view text) const {
    return folder_.file(name, text);
  }
  std::string packed(const std::string& name, std::string_view text) const {
    std::string path = folder_.at(name);
    gzFile out = gzopen(path.c_str(), "wb");
    gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
    EXPECT_EQ(gzclose(out), Z_OK) << path;
    return path;
  }

  const TemporaryFolder folder_;
};

}  // namespace gable::tests
