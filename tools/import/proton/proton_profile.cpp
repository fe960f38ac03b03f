// SPDX-License-Identifier: Apache-2.0
#include "tools/import/proton/proton_profile.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tools/base/wrong_use.h"

namespace gable {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostBytes = std::size_t{256} << 20, kDeepest = 1000;
constexpr std::uint64_t kMostLaunches = 1u << 22, kMostTime = std::uint64_t{1} << 53;
// Kernels of the functions that tell proton what a launch has to do.
constexpr std::string_view kOfProton = "__proton_launch_metadata";

class Reader {
 public:
  Reader(ByteSource& source, Imported& imported) : source_(source), imported_(imported) {}

  void read() {
    std::string text, piece(1u << 16, '\0');
    while (const std::size_t count = source_.read(piece.data(), piece.size())) {
      text.append(piece, 0, count);
      if (text.size() > kMostBytes) broken("it is larger than any profile of proton");
    }
    check_depth(text);
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) broken("it is not JSON, or was cut off");
    if (!json.is_array() || json.empty() || !json[0].is_object() || !json[0].contains("frame"))
      broken("it has no tree of scopes, which proton's .hatchet files begin with");
    shape_ = imported_.shapes.intern({});
    for (const Json& each : json) {
      if (each.is_object() && each.contains("frame"))
        node(each, 0, true, false);
      else if (each.is_object())
        devices(each);
    }
    if (kernels_ == 0)
      throw WrongUse(source_.name() + " has " + std::to_string(scopes_) +
                     " scopes and no kernel with a time: nothing ran on a GPU between proton's "
                     "start and finalize" +
                     (cycles_ ? ", or cycles were counted instead of times." : "."));
    tell();
  }

 private:
  [[noreturn]] void broken(const std::string& what) const {
    throw WrongUse(source_.name() + " is not a profile of proton that Gable can read: " + what +
                   ".");
  }

  // Before anything is built of it.
  void check_depth(std::string_view text) const {
    std::size_t depth = 0;
    bool in_text = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (in_text && c == '\\') ++i;
      if (c == '"') in_text = !in_text;
      if (in_text) continue;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && depth > 0) --depth;
      if (depth > kDeepest) broken("its scopes are nested too deep");
    }
  }

  // Names of several versions.
  static const Json* find(const Json& of, std::string_view name, std::string_view old) {
    if (!of.is_object()) return nullptr;
    for (const std::string_view each : {name, old}) {
      const auto found = of.find(std::string(each));
      if (found != of.end()) return &*found;
    }
    return nullptr;
  }

  std::uint64_t number(const Json& value, const std::string& what, std::uint64_t most) const {
    double number = NAN;
    if (value.is_number()) number = value.get<double>();
    if (value.is_string()) {
      const auto& text = value.get_ref<const std::string&>();
      std::uint64_t whole = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
      if (error == std::errc() && end == text.data() + text.size() && !text.empty())
        number = static_cast<double>(whole);
    }
    if (!(number >= 0) || number > static_cast<double>(most)) broken(what + " is out of range");
    return static_cast<std::uint64_t>(std::llround(number));
  }

  // The context "python" names frames by their files: folders are left out.
  static std::string name_of(const Json& node) {
    const auto frame = node.find("frame");
    const Json* name = frame == node.end() ? nullptr : find(*frame, "name", "name");
    if (name == nullptr || !name->is_string()) return "(unnamed)";
    std::string text = name->get<std::string>();
    const std::size_t file = text.find(".py:");
    if (file != std::string::npos && text.rfind('@') != std::string::npos) {
      const std::size_t slash = text.find_last_of("/\\", file);
      if (slash != std::string::npos) text.erase(0, slash + 1);
    } else if (text.starts_with("/")) {
      text.erase(0, text.rfind('/', text.find(':')) + 1);
    }
    return text.empty() ? "(unnamed)" : text;
  }

  void node(const Json& json, LayerId layer, bool root, bool proton) {
    const auto metrics = json.find("metrics");
    const auto children = json.find("children");
    const Json* time = metrics == json.end() ? nullptr : find(*metrics, "time (ns)", "Time (ns)");
    const Json* count = metrics == json.end() ? nullptr : find(*metrics, "count", "Count");
    if (metrics != json.end() && metrics->is_object()) look_at(*metrics);
    const std::string name = name_of(json);
    const bool scope = children != json.end() && children->is_array() && !children->empty();
    if (!root && time != nullptr) {
      if (count == nullptr) broken("the kernel '" + quoted_piece(name) + "' has no count");
      kernel(name, *metrics, layer,
             number(*time, "the time of '" + quoted_piece(name) + "'", kMostTime),
             number(*count, "the count of '" + quoted_piece(name) + "'", kMostTime), proton);
    }
    if (!scope) return;
    if (!root && time == nullptr) ++scopes_;
    const LayerId inside = root ? layer : imported_.layers.child(layer, name);
    for (const Json& child : *children) {
      if (child.is_object()) node(child, inside, false, proton || name == kOfProton);
    }
  }

  void look_at(const Json& metrics) {
    for (const auto& [key, value] : metrics.items()) {
      const bool more = value.is_number() && value.get<double>() > 0;
      if (more && (key == "bytes" || key.starts_with("flops"))) stated_.insert(key);
      cycles_ = cycles_ || (more && key.starts_with("cycles"));
    }
  }

  // What has no times of single launches gets the mean, so that their sum is the file's.
  void kernel(const std::string& name, const Json& metrics, LayerId layer, std::uint64_t time,
              std::uint64_t count, bool proton) {
    if (count == 0) return;
    if (proton) {
      of_proton_ += count;
      return;
    }
    kernels_ += count;
    if (kernels_ > kMostLaunches)
      broken("it has more than " + std::to_string(kMostLaunches) + " launches");
    ImportedKernel each;
    each.function = imported_.functions.intern(name);
    each.shape = shape_;
    each.layer = layer;
    if (const Json* device = find(metrics, "device_id", "DeviceId"))
      each.device = static_cast<std::int32_t>(number(*device, "a device", 1u << 20));
    used_.insert(each.device);
    for (std::uint64_t i = 0; i < count; ++i) {
      each.start_ns = now_;
      now_ += time / count + (i < time % count ? 1 : 0);
      each.end_ns = now_;
      imported_.kernels.add(each);
    }
    several_ = several_ || count > 1;
  }

  void devices(const Json& json) {
    for (const auto& [type, all] : json.items()) {
      if (!all.is_object()) continue;
      for (const auto& [id, each] : all.items()) {
        if (!each.is_object()) continue;
        DeviceInfo device;
        device.id = static_cast<std::int32_t>(number(Json(id), "a device", 1u << 20));
        if (!used_.contains(device.id)) continue;
        std::string arch;
        if (each.contains("arch"))
          arch = each["arch"].is_string() ? each["arch"].get<std::string>() : each["arch"].dump();
        const bool digits = !arch.empty() && arch.size() < 4 &&
                            arch.find_first_not_of("0123456789") == std::string::npos;
        if (type == "CUDA" && digits && arch.size() > 1) {
          device.compute_minor = arch.back() - '0';
          arch.pop_back();
          device.compute_major = std::stoi(arch);
        } else if (type != "CUDA") {
          device.name = (type == "HIP" ? "AMD " : type + " ") + quoted_piece(arch);
        }
        const auto take = [this, &facts = each](const char* key,
                                                std::uint64_t most) -> std::uint64_t {
          return facts.contains(key) ? number(facts[key], key, most) : 0;
        };
        device.sm_count = static_cast<int>(take("num_sms", 1u << 20));
        device.sm_clock_max_hz = take("clock_rate", 1u << 30) * 1000;
        device.memory_clock_max_hz = take("memory_clock_rate", 1u << 30) * 1000;
        device.memory_bus_bits = static_cast<std::uint32_t>(take("bus_width", 1u << 20));
        add_device(device, source_.name(), imported_);
      }
    }
  }

  void tell() {
    if (several_)
      imported_.notes.emplace_back(
          "proton tells how often a kernel ran in a scope and how long all its launches took "
          "together: each launch has their mean, and when it ran is unknown.");
    if (of_proton_ > 0)
      imported_.notes.push_back(std::to_string(of_proton_) + " launches in " +
                                std::string(kOfProton) + " are proton's own, and are left out.");
    if (!stated_.empty()) {
      std::string names;
      for (const std::string& each : stated_) names += (names.empty() ? "" : ", ") + each;
      imported_.notes.push_back("The program stated work of its own (" + quoted_piece(names) +
                                "), which nothing counted: work is unknown here.");
    }
    imported_.times_from.push_back("proton (" +
                                   std::filesystem::path(source_.name()).filename().string() + ")");
  }

  ByteSource& source_;
  Imported& imported_;
  std::uint32_t shape_ = 0;
  std::uint64_t now_ = 1, kernels_ = 0, of_proton_ = 0, scopes_ = 0;
  bool several_ = false, cycles_ = false;
  std::set<std::string> stated_;
  std::set<std::int32_t> used_;
};

}  // namespace

void read_proton_profile(ByteSource& source, Imported& imported) {
  Reader(source, imported).read();
}

}  // namespace gable
