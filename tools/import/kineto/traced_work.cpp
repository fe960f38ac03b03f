// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/traced_work.h"

#include <string_view>

namespace gable {
namespace {

// "Memcpy HtoD (Pageable -> Device)". The device's side is never one of these words.
HostMemory host_memory(std::string_view name) {
  if (name.find("Pageable") != std::string_view::npos) return HostMemory::pageable;
  if (name.find("Pinned") != std::string_view::npos) return HostMemory::pinned;
  if (name.find("Managed") != std::string_view::npos) return HostMemory::managed;
  return HostMemory::unknown;
}

CopyKind kind_of_copy(std::string_view name) {
  if (name.find("HtoD") != std::string_view::npos) return CopyKind::host_to_device;
  if (name.find("DtoH") != std::string_view::npos) return CopyKind::device_to_host;
  if (name.find("DtoD") != std::string_view::npos) return CopyKind::device_to_device;
  if (name.find("PtoP") != std::string_view::npos) return CopyKind::peer;
  return CopyKind::other;
}

TracedWork work_of(const TraceEvent& event) {
  TracedWork work;
  work.start_ns = event.wrapped_start_ns();
  work.end_ns = event.wrapped_end_ns();
  work.correlation = event.correlation.value_or(0);
  work.external = event.external.value_or(0);
  work.stream = trace_handle(event.stream);
  work.context = trace_handle(event.context);
  work.device = static_cast<std::int32_t>(event.device.value_or(0));
  return work;
}

}  // namespace

ImportedKernel TracedWork::as_kernel(std::uint64_t by_ns) const {
  ImportedKernel imported;
  imported.start_ns = start_ns + by_ns;
  imported.end_ns = end_ns + by_ns;
  imported.function = function;
  imported.shape = shape;
  imported.device = device;
  imported.message = message;
  imported.context = context;
  imported.stream = stream;
  return imported;
}

ImportedCopy TracedWork::as_copy(std::uint64_t by_ns) const {
  ImportedCopy imported;
  imported.record.start_ns = start_ns + by_ns;
  imported.record.end_ns = end_ns + by_ns;
  if (sized) imported.record.bytes = bytes;
  imported.record.device = device;
  imported.record.kind = kind;
  imported.record.host = host;
  return imported;
}

void WorkReader::take_kernel(const TraceEvent& event) {
  TracedWork kernel = work_of(event);
  kernel.function = function_of(event.name);
  LaunchShape shape;
  if (event.grid && event.block) {
    shape.grid = *event.grid;
    shape.block = *event.block;
  }
  kernel.shape = imported_.shapes.intern(shape);
  if (event.registers && event.shared_bytes)
    imported_.resources.tell(kernel.function, kernel.shape,
                             {static_cast<std::uint32_t>(*event.registers),
                              static_cast<std::uint32_t>(*event.shared_bytes)});
  device_ = kernel.device;
  kernel.message = message_of(event, kernel.function);
  kernel.graph_node = event.graph_node.value_or(0);
  kernels_.add(kernel);
}

void WorkReader::take_copy(const TraceEvent& event) {
  TracedWork copy = work_of(event);
  copy.kernel = false;
  copy.sized = event.bytes.has_value();
  copy.bytes = event.bytes.value_or(0);
  copy.kind = event.category == TraceCategory::memset ? CopyKind::memset : kind_of_copy(event.name);
  copy.host = host_memory(event.name);
  copies_.add(copy);
}

FunctionId WorkReader::function_of(const std::string& name) {
  const auto known = functions_.find(name);
  if (known != functions_.end()) return known->second;
  const FunctionId function = imported_.functions.intern(name.empty() ? "(unnamed)" : name);
  functions_.emplace(name, function);
  return function;
}

std::uint32_t WorkReader::message_of(const TraceEvent& event, FunctionId function) {
  const auto message = collective_of(event.message);
  if (!message) return name_message(imported_, function, 0, trace_handle(event.stream));
  ImportedMessage& told = imported_.messages.emplace_back();
  static_cast<CollectiveCall&>(told) = *message;
  told.group = group_of(event.message);
  told.stream = trace_handle(event.stream);
  told.sequence = event.message.sequence;
  return static_cast<std::uint32_t>(imported_.messages.size());
}

std::uint32_t WorkReader::group_of(const TraceMessage& message) {
  if (message.group.empty()) return 0;
  const auto [known, fresh] = groups_.try_emplace(message.group + '\n' + message.members, 0);
  if (fresh) {
    imported_.groups.push_back(known->first);
    known->second = static_cast<std::uint32_t>(imported_.groups.size());
  }
  return known->second;
}

}  // namespace gable
