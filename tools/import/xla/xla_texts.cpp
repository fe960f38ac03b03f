// SPDX-License-Identifier: Apache-2.0
#include "tools/import/xla/xla_texts.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace gable {

std::string* XlaTexts::find(std::string_view key) {
  if (key == "name") return &name;
  if (key == "hlo_op") return &hlo_op;
  if (key == "hlo_module") return &hlo_module;
  if (key == "tf_op") return &tf_op;
  if (key == "annotation") return &annotation;
  if (key == "kernel_details") return &kernel;
  if (key == "memcpy_details" || key == "memset_details" || key == "Memset_details") return &copy;
  return nullptr;
}

void XlaTexts::clear() {
  for (std::string* text : {&name, &hlo_op, &hlo_module, &tf_op, &annotation, &kernel, &copy})
    text->clear();
  correlation.reset();
  numbered_step = whole_graph = false;
}

XlaPlace xla_place(std::string_view name) {
  constexpr std::string_view kGpu = "/device:GPU:", kHost = "/host:";
  XlaPlace place;
  // A process that the profiled one started has its number behind each of its names.
  if (const auto open = name.rfind(" ["); open != std::string_view::npos && name.ends_with(']'))
    place.process = name.substr(open + 2, name.size() - open - 3);
  if (const auto at = name.find(kGpu); at != std::string_view::npos) {
    std::string_view id = name.substr(at + kGpu.size());
    id = id.substr(0, id.find_first_not_of("0123456789"));
    const auto device = xla_number(id, 1u << 20);
    if (!device) return place;
    place.kind = XlaPlace::Kind::gpu;
    place.device = static_cast<std::int32_t>(*device);
  } else if (name.find("/device:") != std::string_view::npos) {
    place.kind = XlaPlace::Kind::other_device;
  } else if (name.find(kHost) != std::string_view::npos) {
    place.kind = XlaPlace::Kind::host;
  }
  return place;
}

XlaLane xla_lane(std::string_view name) {
  // Other lanes have the same time again, by operators and modules.
  if (name.starts_with("Stream #")) return XlaLane::stream;
  // A stream in which CUPTI itself took some time is called so.
  if (name == "CUPTI overhead") return XlaLane::overhead;
  return name == "Steps" ? XlaLane::steps : XlaLane::other;
}

std::string_view xla_detail(std::string_view details, std::string_view key) {
  for (std::size_t at = 0; at < details.size();) {
    const std::size_t end = std::min(details.find_first_of(" \n", at), details.size());
    const std::string_view word = details.substr(at, end - at);
    if (word.starts_with(key) && word.size() > key.size() && word[key.size()] == ':')
      return word.substr(key.size() + 1);
    at = end + 1;
  }
  return {};
}

std::optional<std::uint64_t> xla_number(std::string_view text, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = code == std::errc() && stop == text.data() + text.size();
  return whole && value <= most ? std::optional(value) : std::nullopt;
}

std::optional<Dim3> xla_size(std::string_view text) {
  std::array<std::uint32_t, 3> parts{};
  for (std::uint32_t& part : parts) {
    const auto comma = text.find(',');
    const auto value = xla_number(text.substr(0, comma), UINT32_MAX);
    if (!value || *value == 0) return std::nullopt;
    part = static_cast<std::uint32_t>(*value);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return Dim3{parts[0], parts[1], parts[2]};
}

bool is_xla_copy(std::string_view name, const XlaTexts& texts) {
  if (!texts.kernel.empty()) return false;
  return !texts.copy.empty() || name.starts_with("Memcpy") || name.starts_with("Memset") ||
         name.starts_with("CopyDevice") || name.starts_with("CopyHost");
}

CopyKind xla_copy_kind(std::string_view name) {
  const auto holds = [name](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  };
  if (holds("emset")) return CopyKind::memset;
  if (holds("H2D") || holds("HostToDevice")) return CopyKind::host_to_device;
  if (holds("D2H") || holds("DeviceToHost")) return CopyKind::device_to_host;
  if (holds("D2D") || holds("DeviceToDevice")) return CopyKind::device_to_device;
  if (holds("P2P") || holds("PeerToPeer")) return CopyKind::peer;
  return CopyKind::other;
}

HostMemory xla_host_memory(std::string_view details, CopyKind kind) {
  const bool from = kind == CopyKind::host_to_device;
  if (!from && kind != CopyKind::device_to_host) return HostMemory::unknown;
  const std::string_view memory = xla_detail(details, from ? "kind_src" : "kind_dst");
  if (memory == "pageable") return HostMemory::pageable;
  if (memory == "pinned") return HostMemory::pinned;
  if (memory.starts_with("managed")) return HostMemory::managed;
  return HostMemory::unknown;
}

std::string_view xla_scope(const XlaTexts& texts) {
  if (!texts.name.empty()) return texts.name;
  // "XlaModule:" stands for no operator of TensorFlow.
  if (texts.tf_op.starts_with("XlaModule")) return {};
  std::string_view scope = texts.tf_op;
  // "model/dense/MatMul:MatMul#shape=(half[4,384])#"
  if (scope.empty())
    scope = std::string_view(texts.annotation).substr(0, texts.annotation.find('#'));
  return scope.substr(0, scope.rfind(':'));
}

}  // namespace gable
