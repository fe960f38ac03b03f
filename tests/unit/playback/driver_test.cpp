// SPDX-License-Identifier: Apache-2.0
// The playback libcuda by itself: what its calls answer, and what they refuse.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/playback/playback_test.h"
#include "tools/playback/driver/side.h"

namespace gable::playback {
namespace {

using Driver = PlaybackTest;

TEST_F(Driver, TellsOfTheDevicesOfTheRecording) {
  int count = 0;
  CUdevice device = -1;
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(cuDeviceGetCount(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGet(&device, 0), CUDA_SUCCESS);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGet(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(device, 0);
  std::size_t bytes = 0;
  EXPECT_EQ(cuDeviceTotalMem(&bytes, 0), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 150754820096U);
  EXPECT_EQ(cuDeviceTotalMem(&bytes, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceTotalMem(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Driver, WritesNamesIntoTheRoomThereIs) {
  char text[32] = "before";
  EXPECT_EQ(cuDeviceGetName(text, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetName(nullptr, 9, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetName(text, 9, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_STREQ(text, "before");
  EXPECT_EQ(cuDeviceGetName(text, 1, 0), CUDA_SUCCESS);
  EXPECT_STREQ(text, "");
  EXPECT_EQ(cuDeviceGetName(text, 9, 0), CUDA_SUCCESS);
  EXPECT_STREQ(text, "Playback");
  EXPECT_EQ(cuDeviceGetName(text, sizeof text, 0), CUDA_SUCCESS);
  EXPECT_STREQ(text, "Playback H200");
  EXPECT_EQ(cuDeviceGetPCIBusId(text, 12, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetPCIBusId(nullptr, 13, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetPCIBusId(text, 13, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGetPCIBusId(text, 13, 0), CUDA_SUCCESS);
  EXPECT_STREQ(text, "0000:01:00.0");
}

TEST_F(Driver, TellsAttributes) {
  const std::pair<CUdevice_attribute, int> kAttributes[] = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
      {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
      {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 62914560},
      {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
      {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
      {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
      {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
      {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1},
      {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 0}};
  for (const auto& [which, expected] : kAttributes) {
    int value = -1;
    EXPECT_EQ(cuDeviceGetAttribute(&value, which, 0), CUDA_SUCCESS);
    EXPECT_EQ(value, expected) << which;
    EXPECT_EQ(cuDeviceGetAttribute(&value, which, 1), CUDA_ERROR_INVALID_DEVICE);
    EXPECT_EQ(cuDeviceGetAttribute(nullptr, which, 0), CUDA_ERROR_INVALID_VALUE);
  }
}

TEST_F(Driver, NamesErrors) {
  const std::pair<CUresult, const char*> kErrors[] = {
      {CUDA_SUCCESS, "CUDA_SUCCESS"},
      {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
      {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
      {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"},
      {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
      {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
      {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
      {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY"},
      {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
      {CUDA_ERROR_ALREADY_MAPPED, "CUDA_ERROR_UNKNOWN"}};
  for (const auto& [error, name] : kErrors) {
    const char* text = nullptr;
    EXPECT_EQ(cuGetErrorName(error, &text), CUDA_SUCCESS);
    EXPECT_STREQ(text, name);
    text = nullptr;
    EXPECT_EQ(cuGetErrorString(error, &text), CUDA_SUCCESS);
    EXPECT_STREQ(text, name);
  }
  EXPECT_EQ(cuGetErrorName(CUDA_SUCCESS, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Driver, PrimaryContextsLiveUntilEveryoneHasReleasedThem) {
  CUcontext first = nullptr, second = nullptr;
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRetain(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  for (const CUdevice none : {-1, 1}) {
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&first, none), CUDA_ERROR_INVALID_DEVICE);
    EXPECT_EQ(cuDevicePrimaryCtxRelease(none), CUDA_ERROR_INVALID_DEVICE);
  }
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&first, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&second, 0), CUDA_SUCCESS);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, context_);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(first), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(first), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxGetCurrent(&second), CUDA_SUCCESS);
  EXPECT_EQ(second, nullptr) << "it was current";
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&second, 0), CUDA_SUCCESS);
  EXPECT_NE(second, first);
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&second, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(second), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
}

TEST_F(Driver, TheCurrentContextIsTheThreads) {
  CUcontext current = nullptr;
  CUdevice device = -1;
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, context_);
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cuCtxGetCurrent(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxGetDevice(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  CUstream stream = nullptr;
  CUmodule module = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuStreamCreate(&stream, 0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuModuleLoadData(&module, ""), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuMemAlloc(&address, 8), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuMemGetInfo(&bytes, &bytes), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuMemsetD8(0, 0, 8), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(launch(), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
}

TEST_F(Driver, ModulesAndFunctionsAreRefusedOnceTheyAreGone) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  const char* name = nullptr;
  EXPECT_EQ(cuModuleLoadData(nullptr, ""), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuModuleLoadData(&module, ""), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleGetFunction(nullptr, module, "f"), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleGetFunction(&function, module, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleGetFunction(&function, nullptr, "f"), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleGetFunction(&function, module, "f"), CUDA_SUCCESS);
  EXPECT_EQ(cuFuncGetName(&name, function), CUDA_SUCCESS);
  EXPECT_STREQ(name, "f");
  EXPECT_EQ(cuFuncGetName(nullptr, function), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncGetName(&name, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleUnload(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleGetFunction(&function, module, "f"), CUDA_ERROR_INVALID_HANDLE);
  // Its handle is used again, under the new name.
  CUfunction again = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, ""), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleGetFunction(&again, module, "g"), CUDA_SUCCESS);
  EXPECT_EQ(again, function);
  EXPECT_EQ(cuFuncGetName(&name, again), CUDA_SUCCESS);
  EXPECT_STREQ(name, "g");
}

TEST_F(Driver, MemoryHoldsWhatWasCopied) {
  CUdeviceptr from = 0, to = 0;
  EXPECT_EQ(cuMemAlloc(nullptr, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc(&from, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemAlloc(&from, 8), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&to, 8), CUDA_SUCCESS);
  char text[9] = "";
  ASSERT_EQ(cuMemcpyHtoD(from, "abcdefg", 8), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoD(to, from, 8), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8(to, 'x', 2), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoH(text, to, 8), CUDA_SUCCESS);
  EXPECT_STREQ(text, "xxcdefg");
  ASSERT_EQ(cuMemsetD8Async(to, 'y', 1, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoHAsync(text, to, 8, nullptr), CUDA_SUCCESS);
  EXPECT_STREQ(text, "yxcdefg");
  EXPECT_EQ(cuMemFree(from), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(to), CUDA_SUCCESS);
  std::size_t left = 0, total = 0;
  EXPECT_EQ(cuMemGetInfo(&left, &total), CUDA_SUCCESS);
  EXPECT_EQ(left, 150754820096U);
  EXPECT_EQ(total, 150754820096U);
  EXPECT_EQ(cuMemGetInfo(nullptr, &total), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemGetInfo(&left, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Driver, MemoryOfTheHostIsTheGpusToo) {
  void* memory = nullptr;
  EXPECT_EQ(cuMemHostAlloc(nullptr, 4, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemHostAlloc(&memory, 0, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemHostGetDevicePointer(&address, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemHostGetDevicePointer(&address, memory, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8(address, 1, 4), CUDA_SUCCESS);
  EXPECT_EQ(*static_cast<std::uint32_t*>(memory), 0x01010101u);
  EXPECT_EQ(cuMemFreeHost(memory), CUDA_SUCCESS);
}

TEST_F(Driver, BlocksThatFitAreThreadsOfTheSm) {
  int blocks = 0;
  for (const auto& [threads, expected] : {std::pair{64, 32}, {1024, 2}, {1000, 2}, {1, 2048}}) {
    EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel_, threads, 0),
              CUDA_SUCCESS);
    EXPECT_EQ(blocks, expected);
  }
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel_, 0, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, kernel_, 64, 0),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Driver, CallsTakeTimeOnTheHost) {
  Gpu& gpu = *gable_playback_gpu();
  auto begun = gpu.now();
  ASSERT_EQ(launch(), CUDA_SUCCESS);
  EXPECT_EQ(gpu.now() - begun, 2000U);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(gpu.now() - begun, 7000U) << "the kernel began at 2000 and ran for 5000";
  begun = gpu.now();
  ASSERT_EQ(cuMemcpyHtoD(0, nullptr, 8), CUDA_SUCCESS);
  EXPECT_EQ(gpu.now() - begun, 3000U) << "it waits for the copy";
  begun = gpu.now();
  ASSERT_EQ(cuMemcpyDtoD(0, 0, 8), CUDA_SUCCESS);
  EXPECT_EQ(gpu.now() - begun, 2000U);
  ASSERT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(gpu.now() - begun, 3000U);
}

TEST_F(Driver, AFullQueueBlocksTheLaunch) {
  Gpu& gpu = *gable_playback_gpu();
  const auto begun = gpu.now();
  for (int i = 0; i < 1025; ++i) ASSERT_EQ(launch(), CUDA_SUCCESS);
  // Every call takes 2000 and every kernel 5000: the first ends at 7000, before the last call.
  EXPECT_EQ(gpu.now() - begun, 1025 * 2000U);
  for (int i = 0; i < 1024; ++i) ASSERT_EQ(launch(), CUDA_SUCCESS);
  // The last one waits for the end of the one 1024 before it, the 1025th.
  EXPECT_EQ(gpu.now() - begun, 2000U + 1025 * 5000U);
}

TEST(DriverControl, FaultsComeAfterAndForATime) {
  Control control;
  const auto answers = [&control](const char* call, int times) {
    std::vector<int> codes;
    codes.reserve(static_cast<std::size_t>(times));
    for (int i = 0; i < times; ++i) codes.push_back(control.fault_of(call).value_or(0));
    return codes;
  };
  RecordedFault fault;
  fault.fault = Fault::call;
  fault.call = "a";
  fault.code = 7;
  fault.after = 2;
  fault.times = 2;
  EXPECT_EQ(answers("a", 1), (std::vector<int>{0}));
  control.add(fault);
  EXPECT_EQ(answers("b", 2), (std::vector<int>{0, 0}));
  EXPECT_EQ(answers("a", 6), (std::vector<int>{0, 0, 7, 7, 0, 0}));
  fault.after = 0;
  fault.times = -1;
  control.add(fault);
  EXPECT_EQ(answers("a", 3), (std::vector<int>{7, 7, 7}));
  EXPECT_EQ(control.holder(), "CUPTI for another tool") << "as the default has it";
  fault.holder = "nsys";
  control.add(fault);
  EXPECT_EQ(control.holder(), "nsys");
}

TEST(DriverControl, SwitchesHaveTheirDefaultUntilTheyAreSet) {
  Control control;
  EXPECT_TRUE(control.is("range_order", "launch"));
  EXPECT_FALSE(control.is("range_order", "reversed"));
  EXPECT_FALSE(control.is("no_such", "launch"));
  control.set_switch("range_order", "reversed");
  EXPECT_TRUE(control.is("range_order", "reversed"));
  EXPECT_FALSE(control.is("range_order", "launch"));
  EXPECT_TRUE(control.is("same_name_ranges", "merged"));
}

}  // namespace
}  // namespace gable::playback
