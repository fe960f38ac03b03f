// SPDX-License-Identifier: Apache-2.0
#include "analysis/roofline/measured_roofs.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "analysis/base/number_text.h"
#include "analysis/base/plain_file.h"
#include "analysis/base/text_file.h"
#include "analysis/report/json_object.h"

namespace gable {
namespace {

using json::Object;

std::string capability(const DeviceInfo& device) {
  return std::to_string(device.compute_major) + "." + std::to_string(device.compute_minor);
}

void read_device(const Object& in, DeviceInfo& device) {
  in.read("name", device.name);
  std::string text;
  in.read("compute_capability", text);
  (void)std::sscanf(text.c_str(), "%d.%d", &device.compute_major, &device.compute_minor);
  in.read("sm_count", device.sm_count);
  in.read("sm_clock_max_hz", device.sm_clock_max_hz);
  in.read("memory_clock_max_hz", device.memory_clock_max_hz);
}

void read_roof(const Object& in, MeasuredRoof& roof) {
  std::string kind;
  in.read("kind", kind);
  in.read("name", roof.name);
  in.read("how", roof.how);
  in.read("value", roof.value);
  in.read("spread", roof.spread);
  in.read("steady", roof.steady);
  in.read("sm_clock_hz", roof.sm_clock_hz);
  const auto known = value_of<CeilingKind>(kind);
  if (!known) throw json::WrongField(in.at("kind").text() + " is neither compute, memory nor link");
  roof.kind = *known;
  if (roof.name.empty() || !std::isfinite(roof.value) || roof.value <= 0)
    throw json::WrongField(in.at("value").text() + " is not a rate");
}

ParsedRoofs parse(std::string_view text) {
  const rapidjson::Document json = json::parsed(text);
  if (!json.IsObject() || !json.HasMember("gable_ceilings"))
    return {std::nullopt, "it has no field \"gable_ceilings\""};
  const json::Where top;
  const Object root(json, top);
  int schema = 0;
  root.read("gable_ceilings", schema);
  if (schema < 1 || schema > kRoofsSchema) {
    return {std::nullopt, "it has schema " + std::to_string(schema) + ", and this gable reads " +
                              std::to_string(kRoofsSchema)};
  }
  MeasuredRoofs roofs;
  std::string source;
  root.read("source", source);
  if (source != "gpu" && source != "playback")
    return {std::nullopt, "its source is neither gpu nor playback"};
  roofs.playback = source == "playback";
  root.read("measured_at", roofs.measured_at);
  root.inside("device", [&](const Object& device) { read_device(device, roofs.device); });
  root.inside("launch_latency", [&](const Object& in) {
    MeasuredLatency latency;
    in.read("ns", latency.ns);
    in.read("spread", latency.spread);
    if (!std::isfinite(latency.ns) || latency.ns <= 0)
      throw json::WrongField(in.at("ns").text() + " is not a time");
    roofs.latency = latency;
  });
  root.objects("ceilings",
               [&](const Object& roof) { read_roof(roof, roofs.roofs.emplace_back()); });
  return {std::move(roofs), {}};
}

std::string rounded_percent(double share) { return significant(share * 100, 2) + " %"; }

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
  if (!entry.is_regular_file(code) || code) return ignore("it is not a file");
  if (entry.file_size(code) > kMostBytes || code) return ignore("it is too large");
  const auto text = read_plain_file(path);
  if (!text) return ignore("it cannot be read");
  ParsedRoofs parsed = roofs_from_json(*text);
  if (!parsed.roofs) return ignore(parsed.error);
  stored.all.push_back(std::move(*parsed.roofs));
}

}  // namespace

std::string to_json(const MeasuredRoofs& measured) {
  nlohmann::ordered_json out;
  out["gable_ceilings"] = kRoofsSchema;
  out["source"] = measured.playback ? "playback" : "gpu";
  out["measured_at"] = measured.measured_at;
  out["device"] = {{"name", measured.device.name},
                   {"compute_capability", capability(measured.device)},
                   {"sm_count", measured.device.sm_count},
                   {"sm_clock_max_hz", measured.device.sm_clock_max_hz},
                   {"memory_clock_max_hz", measured.device.memory_clock_max_hz}};
  auto& roofs = out["ceilings"] = nlohmann::ordered_json::array();
  for (const MeasuredRoof& each : measured.roofs) {
    roofs.push_back({{"kind", word_of(each.kind)},
                     {"name", each.name},
                     {"how", each.how},
                     {"value", each.value},
                     {"spread", each.spread},
                     {"steady", each.steady},
                     {"sm_clock_hz", each.sm_clock_hz ? nlohmann::ordered_json(*each.sm_clock_hz)
                                                      : nlohmann::ordered_json(nullptr)}});
  }
  if (measured.latency)
    out["launch_latency"] = {{"ns", measured.latency->ns}, {"spread", measured.latency->spread}};
  return out.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

ParsedRoofs roofs_from_json(std::string_view text) {
  try {
    return parse(text);
  } catch (const json::NoJson&) {
    return {std::nullopt, "it is not JSON, or was cut off"};
  } catch (const std::exception& error) {
    return {std::nullopt, error.what()};
  }
}

const MeasuredRoofs* roofs_for(const StoredRoofs& stored, const DeviceInfo& device, bool playback) {
  const MeasuredRoofs* newest = nullptr;
  for (const MeasuredRoofs& each : stored.all) {
    const DeviceInfo& of = each.device;
    const bool same = of.name == device.name && of.compute_major == device.compute_major &&
                      of.compute_minor == device.compute_minor && of.sm_count == device.sm_count &&
                      of.sm_clock_max_hz == device.sm_clock_max_hz &&
                      of.memory_clock_max_hz == device.memory_clock_max_hz;
    if (!same || each.playback != playback) continue;
    if (newest == nullptr || each.measured_at > newest->measured_at) newest = &each;
  }
  return newest;
}

std::vector<Ceiling> ceilings_of(const MeasuredRoofs& roofs, std::int32_t device) {
  std::vector<Ceiling> ceilings;
  for (const MeasuredRoof& each : roofs.roofs) {
    const std::string source = std::string("measured: ") + (roofs.playback ? "[playback] " : "") +
                               each.how + ", spread " + rounded_percent(each.spread) +
                               (each.steady ? "" : " (not steady)") + ", " + roofs.measured_at;
    const Ceiling ceiling{device, each.kind, each.name, each.value, source};
    const auto same = std::find_if(ceilings.begin(), ceilings.end(),
                                   [&](const Ceiling& known) { return known.name == each.name; });
    if (same == ceilings.end()) {
      ceilings.push_back(ceiling);
    } else if (same->value < ceiling.value) {
      *same = ceiling;
    }
  }
  return ceilings;
}

// --- The folder of measured roofs. Also read within other people's programs.

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
