// SPDX-License-Identifier: Apache-2.0
// NVTX ranges as NCCL makes them around its calls, through the real NVTX headers: schemas with ids
// of its own, payloads at a range's begin, and at its end where a communicator was made.
#include <cuda.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

constexpr std::uint64_t kFirstId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START;
constexpr std::uint64_t kInit = kFirstId, kReduce = kFirstId + 5, kGather = kFirstId + 4;

struct Communicator {
  std::uint64_t hash;
  int ranks, rank, device;
};
struct Message {
  std::uint64_t communicator;
  std::size_t bytes;
};

nvtxDomainHandle_t g_nccl;
CUfunction g_work, g_reduce, g_gather;

void launch(CUfunction kernel) {
  if (cuLaunchKernel(kernel, 8, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr) != CUDA_SUCCESS)
    std::exit(99);
}

template <std::size_t kCount>
void add_schema(const nvtxPayloadSchemaEntry_t (&entries)[kCount], std::uint64_t id,
                std::size_t size) {
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = kCount;
  schema.payloadStaticSize = size;
  schema.schemaId = id;
  nvtxPayloadSchemaRegister(g_nccl, &schema);
}

nvtxPayloadSchemaEntry_t entry(std::uint64_t type, const char* name, std::size_t offset) {
  nvtxPayloadSchemaEntry_t made{};
  made.type = type;
  made.name = name;
  made.offset = offset;
  return made;
}

void add_schemas() {
  static const nvtxPayloadSchemaEntry_t communicator[] = {
      entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", offsetof(Communicator, hash)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "No. of ranks", offsetof(Communicator, ranks)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Rank", offsetof(Communicator, rank)),
  };
  static const nvtxPayloadSchemaEntry_t message[] = {
      entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID",
            offsetof(Message, communicator)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", offsetof(Message, bytes)),
  };
  add_schema(communicator, kInit, sizeof(Communicator));
  add_schema(message, kReduce, sizeof(Message));
  add_schema(message, kGather, sizeof(Message));
}

void push(const char* name, const nvtxPayloadData_t* payload = nullptr) {
  nvtxEventAttributes_t a{};
  a.version = NVTX_VERSION;
  a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  a.message.registered = nvtxDomainRegisterStringA(g_nccl, name);
  if (payload != nullptr) {
    a.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    a.payload.ullValue = reinterpret_cast<std::uintptr_t>(payload);
    a.reserved0 = 1;
  }
  nvtxDomainRangePushEx(g_nccl, &a);
}
void pop() { nvtxDomainRangePop(g_nccl); }

void make_communicator(std::uint64_t hash, int ranks) {
  push("ncclCommInitRank");
  const Communicator said{hash, ranks, 0, 0};
  const nvtxPayloadData_t payload{kInit, sizeof said, &said};
  nvtxRangePopPayload(g_nccl, &payload, 1);
}

void collective(const char* name, std::uint64_t schema, std::uint64_t communicator,
                std::size_t bytes, CUfunction kernel) {
  const Message said{communicator, bytes};
  const nvtxPayloadData_t payload{schema, sizeof said, &said};
  push(name, &payload);
  if (kernel != nullptr) launch(kernel);
  pop();
}

void open_gpu() {
  CUdevice device{};
  CUcontext context{};
  CUmodule module{};
  static const char image[] =
      ".version 8.0\n.visible .entry work() { ret; }\n"
      ".visible .entry ncclDevKernel_AllReduce_Sum_f32_RING_LL() { ret; }\n"
      ".visible .entry ncclDevKernel_AllGather_RING_LL() { ret; }\n";
  if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
      cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS ||
      cuCtxSetCurrent(context) != CUDA_SUCCESS ||
      cuModuleLoadData(&module, image) != CUDA_SUCCESS ||
      cuModuleGetFunction(&g_work, module, "work") != CUDA_SUCCESS ||
      cuModuleGetFunction(&g_reduce, module, "ncclDevKernel_AllReduce_Sum_f32_RING_LL") !=
          CUDA_SUCCESS ||
      cuModuleGetFunction(&g_gather, module, "ncclDevKernel_AllGather_RING_LL") != CUDA_SUCCESS)
    std::exit(99);
}

}  // namespace

int main() {
  open_gpu();
  g_nccl = nvtxDomainCreateA("NCCL");
  add_schemas();
  make_communicator(0xabc, 8);
  make_communicator(0xdef, 2);
  nvtxRangePushA("step");
  launch(g_work);
  collective("ncclAllReduce", kReduce, 0xabc, 4000, g_reduce);
  collective("ncclAllReduce", kReduce, 0xabc, 8000, g_reduce);
  push("ncclGroupStart");
  pop();
  collective("ncclAllGather", kGather, 0xdef, 500, nullptr);  // launched when the group ends
  push("ncclGroupEnd");
  launch(g_gather);
  pop();
  nvtxRangePop();
  // Ranges that are payload alone.
  const Message said{1, 2};
  const nvtxPayloadData_t payload{kReduce, sizeof said, &said};
  nvtxRangePushPayload(nullptr, &payload, 1);
  nvtxRangePopPayload(nullptr, &payload, 1);
  const nvtxRangeId_t range = nvtxRangeStartPayload(nullptr, &payload, 1);
  nvtxRangeEndPayload(nullptr, range, &payload, 1);
  nvtxRangePushA("after");
  launch(g_work);
  nvtxRangePop();
  return cuCtxSynchronize() == CUDA_SUCCESS ? 0 : 98;
}
