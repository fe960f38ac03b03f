// SPDX-License-Identifier: Apache-2.0
#include "tools/gpus/gpu_file.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/base/input_file.h"
#include "analysis/base/number_text.h"
#include "analysis/base/units.h"

namespace gable {
namespace {

using Json = nlohmann::json;

struct Wrong {
  std::string sentence;
};

class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {
    if (!json.is_object()) throw Wrong{"It must be a JSON object."};
  }

  GpuSpec read() {
    gpu_.name = text("name", true);
    gpu_.source = text("source", false);
    if (gpu_.source.empty()) gpu_.source = "described by a file";
    gpu_.sm_count = static_cast<int>(whole("sm_count", 1, 100000));
    gpu_.sm_clock_mhz = number(json_, "", "sm_clock_hz", 1e6, 1e11) / kMega;
    gpu_.memory_gb = number(json_, "", "memory_bytes", 1e6, 1e16) / kGiga;
    const Json& bytes = object("bytes_per_s");
    gpu_.dram = number(bytes, "bytes_per_s.", "dram", 1e6, 1e17) / kGiga;
    only(bytes, "bytes_per_s.", {"dram"});
    const Json& flops = object("flops_per_s");
    std::vector<std::string> known;
    for (const auto& [name, peak] : named_peaks(gpu_)) {
      known.emplace_back(name);
      if (flops.contains(name)) *peak = number(flops, "flops_per_s.", name, 1e6, 1e20) / kTera;
    }
    only(flops, "flops_per_s.", known);
    if (!(gpu_.fp32 > 0)) throw Wrong{"\"flops_per_s.fp32\" is missing."};
    only(json_, "",
         {"name", "source", "sm_count", "sm_clock_hz", "memory_bytes", "bytes_per_s",
          "flops_per_s"});
    return gpu_;
  }

 private:
  const Json& find(const Json& of, const std::string& place, const char* name) const {
    const auto found = of.find(name);
    if (found == of.end()) throw Wrong{"\"" + place + name + "\" is missing."};
    return *found;
  }

  std::string text(const char* name, bool needed) const {
    if (!needed && !json_.contains(name)) return {};
    const Json& value = find(json_, "", name);
    if (!value.is_string() || value.get<std::string>().empty())
      throw Wrong{"\"" + std::string(name) + "\" must be a text that is not empty."};
    return value.get<std::string>();
  }

  const Json& object(const char* name) const {
    const Json& value = find(json_, "", name);
    if (!value.is_object())
      throw Wrong{"\"" + std::string(name) + "\" must be an object of numbers."};
    return value;
  }

  double number(const Json& of, const std::string& place, const char* name, double least,
                double most) const {
    const Json& value = find(of, place, name);
    if (!value.is_number() || !(value.get<double>() >= least && value.get<double>() <= most))
      throw Wrong{"\"" + place + name + "\" must be a number from " + significant(least, 6) +
                  " to " + significant(most, 6) + "."};
    return value.get<double>();
  }

  double whole(const char* name, double least, double most) const {
    const double value = number(json_, "", name, least, most);
    if (value != std::floor(value))
      throw Wrong{"\"" + std::string(name) + "\" must be a whole number."};
    return value;
  }

  // A misspelled name would leave a peak unknown without a word.
  static void only(const Json& of, const std::string& place,
                   const std::vector<std::string>& names) {
    for (const auto& [name, value] : of.items()) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      std::string all;
      for (const std::string& each : names) all += (all.empty() ? "" : ", ") + each;
      throw Wrong{"There is no \"" + place + name + "\": " + all + "."};
    }
  }

  const Json& json_;
  GpuSpec gpu_;
};

}  // namespace

DescribedGpu gpu_from_json(std::string_view text) {
  try {
    const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
    if (json.is_discarded()) return {std::nullopt, "It is not JSON."};
    return {Reader(json).read(), {}};
  } catch (const Wrong& wrong) {
    return {std::nullopt, wrong.sentence};
  }
}

DescribedGpu read_gpu_file(const std::string& path) {
  InputFile file(path, "a description of a GPU");
  const auto text = file.read_all();
  if (!text) return {std::nullopt, file.error()};
  DescribedGpu out = gpu_from_json(*text);
  if (!out.gpu) out.error = path + " describes no GPU: " + out.error;
  return out;
}

bool names_gpu_file(std::string_view word) {
  return word.ends_with(".json") || word.find('/') != std::string_view::npos;
}

}  // namespace gable
