// SPDX-License-Identifier: Apache-2.0
#include "tools/playback/cupti/activity_records.h"

#include "tools/playback/cupti/cupti_state.h"

namespace gable::playback {
namespace {

#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
using CopyRecord = CUpti_ActivityMemcpy6;
#else
using KernelRecord = CUpti_ActivityKernel9;
using CopyRecord = CUpti_ActivityMemcpy5;
#endif
using MemsetRecord = CUpti_ActivityMemset4;

std::uint8_t memory_kind(HostMemory host) {
  switch (host) {
    case HostMemory::pinned:
      return CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
    case HostMemory::pageable:
      return CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
    case HostMemory::managed:
      return CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
    case HostMemory::unknown:
      break;
  }
  return CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN;
}

}  // namespace

std::size_t size_of(const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(KernelRecord);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CopyRecord);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(MemsetRecord);
    default:
      return 0;
  }
}

void write_times(const Slot& slot) {
  auto* any = reinterpret_cast<CUpti_Activity*>(slot.record);
  if (any->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    reinterpret_cast<CopyRecord*>(any)->start = slot.start;
    reinterpret_cast<CopyRecord*>(any)->end = slot.end;
  } else if (any->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
    reinterpret_cast<MemsetRecord*>(any)->start = slot.start;
    reinterpret_cast<MemsetRecord*>(any)->end = slot.end;
  } else {
    reinterpret_cast<KernelRecord*>(any)->start = slot.start;
    reinterpret_cast<KernelRecord*>(any)->end = slot.end;
  }
}

std::size_t record_size(const Work& work) {
  if (work.kind == Work::Kind::copy) return sizeof(CopyRecord);
  return work.kind == Work::Kind::memset ? sizeof(MemsetRecord) : sizeof(KernelRecord);
}

void write_record(std::uint8_t* at, const Work& work, CUpti_ActivityKind kernel_kind) {
  Gpu& gpu = the_gpu();
  const std::uint32_t correlation = gpu.control().is("correlation", "same")
                                        ? work.correlation
                                        : gpu.next_correlation.fetch_add(1);
  const auto common = [&](auto* record) {
    record->deviceId = static_cast<std::uint32_t>(work.context->device);
    record->contextId = work.context->uid;
    record->streamId = work.stream_id;
    record->correlationId = correlation;
    record->graphNodeId = work.graph_node;
    record->graphId = work.graph;
  };
  if (work.kind == Work::Kind::copy) {
    auto* record = new (at) CopyRecord{};
    record->kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    record->copyKind = work.copy == CopyKind::host_to_device   ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOD
                       : work.copy == CopyKind::device_to_host ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOH
                                                               : CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
    record->bytes = work.bytes;
    const auto host = memory_kind(work.host);
    const auto device = static_cast<std::uint8_t>(CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
    record->srcKind = work.copy == CopyKind::host_to_device ? host : device;
    record->dstKind = work.copy == CopyKind::device_to_host ? host : device;
    if (!work.blocking) record->flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
#if CUPTI_API_VERSION >= 130000
    record->copyCount = 1;
#endif
    common(record);
  } else if (work.kind == Work::Kind::memset) {
    auto* record = new (at) MemsetRecord{};
    record->kind = CUPTI_ACTIVITY_KIND_MEMSET;
    record->bytes = work.bytes;
    common(record);
  } else {
    auto* record = new (at) KernelRecord{};
    record->kind = kernel_kind;
    record->gridX = static_cast<std::int32_t>(work.grid.x);
    record->gridY = static_cast<std::int32_t>(work.grid.y);
    record->gridZ = static_cast<std::int32_t>(work.grid.z);
    record->blockX = static_cast<std::int32_t>(work.block.x);
    record->blockY = static_cast<std::int32_t>(work.block.y);
    record->blockZ = static_cast<std::int32_t>(work.block.z);
    record->clusterX = work.cluster.x;
    record->clusterY = work.cluster.y;
    record->clusterZ = work.cluster.z;
    record->dynamicSharedMemory = static_cast<std::int32_t>(work.dynamic_shared);
    if (work.kernel != nullptr) {
      record->registersPerThread = static_cast<std::uint16_t>(work.kernel->registers);
      record->staticSharedMemory = static_cast<std::int32_t>(work.kernel->static_shared);
    }
    record->name = work.function->name.c_str();
    record->launchType = static_cast<std::uint8_t>(
        work.cooperative ? CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE
                         : CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR);
    common(record);
  }
}

}  // namespace gable::playback
