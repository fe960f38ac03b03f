// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/kineto_parts.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <unordered_map>

#include "tools/base/wrong_use.h"
#include "tools/gpus/gpu_catalogue.h"

namespace gable {
namespace {

using Token = JsonStream::Token;
constexpr std::size_t kLongestName = 4096;

bool is_same_board(const DeviceInfo& a, const DeviceInfo& b) {
  return a.name == b.name && a.compute_major == b.compute_major &&
         a.compute_minor == b.compute_minor && a.sm_count == b.sm_count &&
         a.memory_bytes == b.memory_bytes;
}

}  // namespace

void read_trace_devices(JsonStream& json, std::map<std::int32_t, DeviceInfo>& devices) {
  const Token token = json.next();
  if (token != Token::array) return json.skip_rest(token);
  while (json.element()) {
    const Token begun = json.next();
    if (begun != Token::object) {
      json.skip_rest(begun);
      continue;
    }
    DeviceInfo device;
    const auto number = [&] {
      const Token value = json.next();
      json.skip_rest(value);
      return value == Token::number ? std::strtod(std::string(json.text()).c_str(), nullptr) : 0;
    };
    const auto small = [&] {
      const double value = number();
      if (!(value >= 0) || value > 1e6) json.broken("a property of a GPU is out of range");
      return static_cast<int>(value);
    };
    while (json.key()) {
      const std::string_view key = json.key_text();
      if (key == "id") {
        device.id = small();
      } else if (key == "name") {
        const Token value = json.next();
        if (value == Token::text) device.name = json.text().substr(0, kLongestName);
        json.skip_rest(value);
      } else if (key == "computeMajor") {
        device.compute_major = small();
      } else if (key == "computeMinor") {
        device.compute_minor = small();
      } else if (key == "numSms") {
        device.sm_count = small();
      } else if (key == "totalGlobalMem") {
        const double bytes = number();
        if (bytes > 0 && bytes < 1e18) device.memory_bytes = static_cast<std::uint64_t>(bytes);
      } else {
        json.skip();
      }
    }
    devices[device.id] = device;
  }
}

std::optional<DeviceInfo> trace_device(const std::map<std::int32_t, DeviceInfo>& devices,
                                       std::int32_t id) {
  if (devices.empty()) return std::nullopt;
  const auto is_amd = [](const auto& each) {
    const std::string& name = each.second.name;
    return is_foreign_gpu(name) && name.find("Intel") == std::string::npos;
  };
  const bool all_amd = std::all_of(devices.begin(), devices.end(), is_amd);
  const auto found = devices.find(id);
  if (found != devices.end() && !all_amd) return found->second;
  DeviceInfo device = devices.begin()->second;
  device.id = id;
  const bool same = std::all_of(devices.begin(), devices.end(), [&](const auto& each) {
    return is_same_board(each.second, device);
  });
  if (same) return device;
  if (!all_amd) return std::nullopt;
  // One of these, and none of NVIDIA's.
  device = {};
  device.id = id;
  device.name = "AMD GPU";
  return device;
}

TraceRank read_trace_rank(JsonStream& json) {
  const Token token = json.next();
  TraceRank of;
  if (token != Token::object) {
    json.skip_rest(token);
    return of;
  }
  while (json.key()) {
    const bool is_rank = json.key_text() == "rank";
    if (!is_rank && json.key_text() != "world_size") {
      json.skip();
      continue;
    }
    const Token value = json.next();
    // -1 stands for none.
    std::int64_t number = -1;
    const std::string_view text = json.text();
    const bool written = value == Token::number || value == Token::text;
    if (written &&
        std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc() &&
        number >= 0 && number <= INT32_MAX) {
      if (is_rank) of.rank = number;
      if (!is_rank && number > 0) of.world_size = static_cast<std::uint64_t>(number);
    }
    json.skip_rest(value);
  }
  return of;
}

std::string trace_without_kernels(const std::string& file, bool pytorch,
                                  std::string_view accelerator, std::size_t launches) {
  if (!pytorch)
    return file +
           " has no kernel: it is JSON, but not a trace of PyTorch's, JAX's or TensorFlow's "
           "profiler.";
  if (!accelerator.empty())
    return file + " has no kernel of a GPU: its work ran on an accelerator that PyTorch calls " +
           std::string(accelerator) + ", which Gable does not read.";
  if (launches > 0)
    return file + " has no kernel, but " + std::to_string(launches) +
           (launches == 1 ? " call that launches one" : " calls that launch some") +
           ": the profiler got no records of the GPU. That is so where another profiler runs "
           "beside it, and where the recording ends before the kernels do; record again, with a "
           "torch.cuda.synchronize() at its end.";
  return file +
         " has no kernel: nothing ran on a GPU while it was recorded, or "
         "ProfilerActivity.CUDA was not asked for.";
}

// Each function's parent is another, up to one that has none.
void check_parents(const JsonStream& json,
                   const std::vector<std::pair<std::uint64_t, std::uint64_t>>& parents) {
  std::unordered_map<std::uint64_t, std::uint64_t> parent(parents.begin(), parents.end());
  std::unordered_map<std::uint64_t, std::uint64_t> seen;  // in the walk from that function
  for (const auto& [id, above] : parents) {
    for (std::uint64_t at = id; at != 0;) {
      const auto [place, fresh] = seen.try_emplace(at, id);
      if (!fresh) {
        if (place->second == id)
          throw WrongUse(json.name() + ": the parents of Python function " + std::to_string(id) +
                         " form a circle: the trace is damaged.");
        break;
      }
      const auto next = parent.find(at);
      at = next == parent.end() ? 0 : next->second;
    }
  }
}

}  // namespace gable
