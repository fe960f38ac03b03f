// SPDX-License-Identifier: Apache-2.0
// The folder of measured roofs. Also read within other people's programs.
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "analysis/base/plain_file.h"
#include "analysis/base/text_file.h"
#include "analysis/roofline/measured_roofs.h"

namespace gable {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 256;
constexpr std::uintmax_t kMostBytes = 1 << 20;
constexpr const char* kPrefix = "ceilings-";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// Letters and digits; everything else is one hyphen.
std::string slug(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>(c);
    if (letter < 128 && std::isalnum(letter) != 0) {
      out += static_cast<char>(std::tolower(letter));
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out.empty() ? "gpu" : out.substr(0, 80);
}

void read_one(const fs::directory_entry& entry, StoredRoofs& stored) {
  const std::string path = entry.path().string();
  const auto ignore = [&](const std::string& why) {
    stored.problems.push_back("The measured roofs in " + path + " are ignored: " + why +
                              "; `gable ceilings` writes them anew.");
  };
  std::error_code code;
  if (!entry.is_regular_file(code) || code) return ignore("it is no file");
  if (entry.file_size(code) > kMostBytes || code) return ignore("it is too large");
  const auto text = read_plain_file(path);
  if (!text) return ignore("it cannot be read");
  ParsedRoofs parsed = roofs_from_json(*text);
  if (!parsed.roofs) return ignore(parsed.error);
  stored.all.push_back(std::move(*parsed.roofs));
}

}  // namespace

std::string roofs_folder() {
  const std::string chosen = variable("GABLE_CEILINGS");
  if (!chosen.empty()) return chosen == "none" ? std::string() : chosen;
  const std::string cache = variable("XDG_CACHE_HOME");
  if (!cache.empty()) return cache + "/gable";
  const std::string home = variable("HOME");
  return home.empty() ? std::string() : home + "/.cache/gable";
}

std::string roofs_file_name(const DeviceInfo& device, bool playback) {
  return std::string(kPrefix) + (playback ? "playback-" : "") + slug(device.name) + "-" +
         std::to_string(device.sm_count) + "sm.json";
}

std::string write_roofs_file(const MeasuredRoofs& roofs, const std::string& path) {
  try {
    const fs::path folder = fs::path(path).parent_path();
    std::error_code code;
    if (!folder.empty()) fs::create_directories(folder, code);
    return write_text_file(to_json(roofs), path);
  } catch (const std::exception& error) {
    return path + " cannot be written: " + error.what() + ".";
  }
}

StoredRoofs read_roofs_folder(const std::string& folder) {
  StoredRoofs stored;
  if (folder.empty()) return stored;
  try {
    std::error_code code;
    fs::directory_iterator files(folder, code);
    for (std::size_t seen = 0; !code && files != fs::directory_iterator() && seen < kMostFiles;
         files.increment(code), ++seen) {
      const std::string name = files->path().filename().string();
      if (name.rfind(kPrefix, 0) == 0 && files->path().extension() == ".json")
        read_one(*files, stored);
    }
  } catch (const std::exception& error) {
    stored.problems.push_back("The measured roofs in " + folder +
                              " cannot be read: " + error.what() + ".");
  }
  return stored;
}

}  // namespace gable
