// SPDX-License-Identifier: Apache-2.0
// Modules, libraries and the stack of contexts, as Numba uses them.
#include <cstring>

#include "playback_test.h"

namespace gable::playback {
namespace {

class Modules : public PlaybackTest {};

TEST_F(Modules, ContextsAreAStack) {
  CUcontext popped = nullptr, current = nullptr, second = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&second, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPushCurrent(second), CUDA_SUCCESS);
  cuCtxGetCurrent(&current);
  EXPECT_EQ(current, second);
  EXPECT_EQ(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
  EXPECT_EQ(popped, second);
  cuCtxGetCurrent(&current);
  EXPECT_EQ(current, context_);
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPopCurrent(&popped), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxPushCurrent(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  cuDevicePrimaryCtxRelease(0);
  cuCtxSetCurrent(context_);
}

TEST_F(Modules, ALibrarysCodeIsLoadedWithItsFirstKernel) {
  int loaded = 0;
  subscribe([&](CUpti_CallbackDomain, CUpti_CallbackId id, const void*) {
    loaded += id == CUPTI_CBID_RESOURCE_MODULE_LOADED ? 1 : 0;
  });
  listen(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
  CUlibrary library = nullptr;
  ASSERT_EQ(cuLibraryLoadData(&library, ".version 8.0", nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(loaded, 0);
  CUkernel first = nullptr, again = nullptr, other = nullptr;
  ASSERT_EQ(cuLibraryGetKernel(&first, library, "one"), CUDA_SUCCESS);
  ASSERT_EQ(cuLibraryGetKernel(&again, library, "one"), CUDA_SUCCESS);
  ASSERT_EQ(cuLibraryGetKernel(&other, library, "two"), CUDA_SUCCESS);
  EXPECT_EQ(loaded, 1);
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);

  CUfunction function = nullptr;
  const char* name = nullptr;
  ASSERT_EQ(cuKernelGetFunction(&function, first), CUDA_SUCCESS);
  ASSERT_EQ(cuFuncGetName(&name, function), CUDA_SUCCESS);
  EXPECT_STREQ(name, "one");
  EXPECT_EQ(cuLaunchKernel(reinterpret_cast<CUfunction>(first), 1, 1, 1, 32, 1, 1, 0, nullptr,
                           nullptr, nullptr),
            CUDA_SUCCESS)
      << "a kernel's handle stands for its function";

  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLibraryGetKernel(&first, library, "one"), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLibraryLoadData(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Modules, AFunctionHasTheRecordingsRegisters) {
  int value = 0;
  ASSERT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel_),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 1024);
  EXPECT_EQ(cuFuncGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel_),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr, 0),
            CUDA_ERROR_INVALID_HANDLE);
  CUmodule module = nullptr;
  CUfunction unknown = nullptr;
  ASSERT_EQ(cuModuleLoadDataEx(&module, "", 0, nullptr, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&unknown, module, "in no recording"), CUDA_SUCCESS);
  ASSERT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, unknown), CUDA_SUCCESS);
  EXPECT_EQ(value, 32);
}

TEST_F(Modules, EachDeviceHasAUuid) {
  CUuuid uuid{};
  ASSERT_EQ(cuDeviceGetUuid(&uuid, 0), CUDA_SUCCESS);
  const CUuuid none{};
  EXPECT_NE(std::memcmp(&uuid, &none, sizeof uuid), 0);
  EXPECT_EQ(cuDeviceGetUuid(&uuid, 99), CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace
}  // namespace gable::playback
