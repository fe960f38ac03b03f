// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/proc_file.h"

#include <fstream>
#include <sstream>

namespace gable {

std::string proc_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace gable
