// SPDX-License-Identifier: Apache-2.0
// Subscribers, what may be done inside callbacks, calls that fail on demand, forked children.
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cupti_target.h>

#include "collector/cupti/cupti_api.h"
#include "playback_test.h"
#include "tools/playback/driver/side.h"

namespace gable::playback {
namespace {

using Callbacks = PlaybackTest;

void CUPTIAPI nothing(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

TEST_F(Callbacks, EveryCallOfTheCollectorIsThere) {
#define PLAYBACK_THERE(name) EXPECT_NE(dlsym(RTLD_DEFAULT, #name), nullptr) << #name;
  GABLE_CUPTI_TRACING(PLAYBACK_THERE)
  GABLE_CUPTI_PROFILING(PLAYBACK_THERE)
#undef PLAYBACK_THERE
}

TEST_F(Callbacks, OneSubscriberAProcess) {
  subscribe([](CUpti_CallbackDomain, CUpti_CallbackId, const void*) {});
  CUpti_SubscriberHandle second = nullptr;
  EXPECT_EQ(cuptiSubscribe(&second, nothing, nullptr),
            CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
}

#if CUPTI_API_VERSION >= 130000
TEST_F(Callbacks, TheHolderIsNamed) {
  CUpti_SubscriberHandle handle = nullptr;
  char old[64] = "";
  CUpti_SubscriberParams params{};
  params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  params.subscriberName = "first";
  ASSERT_EQ(cuptiSubscribe_v2(&subscriber_, nothing, nullptr, &params), CUPTI_SUCCESS);
  params.oldSubscriberName = old;
  params.oldSubscriberSize = sizeof old;
  EXPECT_EQ(cuptiSubscribe_v2(&handle, nothing, nullptr, &params),
            CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  EXPECT_STREQ(old, "CUPTI for first");
  params.structSize = 4;
  EXPECT_EQ(cuptiSubscribe_v2(&handle, nothing, nullptr, &params), CUPTI_ERROR_INVALID_PARAMETER);
  expect_broken("cuptiSubscribe_v2 got a structSize that is not that of its struct");
}
#endif

TEST_F(Callbacks, ASubscriberThatIsGone) {
  subscribe([](CUpti_CallbackDomain, CUpti_CallbackId, const void*) {});
  auto* const gone = subscriber_;
  ASSERT_EQ(cuptiUnsubscribe(gone), CUPTI_SUCCESS);
  subscriber_ = nullptr;
  EXPECT_EQ(cuptiEnableCallback(1, gone, CUPTI_CB_DOMAIN_DRIVER_API,
                                CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel),
            CUPTI_ERROR_INVALID_PARAMETER);
  expect_broken("cuptiEnableCallback was called with a subscriber that is not subscribed");
  EXPECT_EQ(cuptiUnsubscribe(gone), CUPTI_ERROR_INVALID_PARAMETER);
  expect_broken("cuptiUnsubscribe was called with a subscriber that is not subscribed");
}

TEST_F(Callbacks, DriverCallsInsideACallback) {
  subscribe([&](CUpti_CallbackDomain domain, CUpti_CallbackId, const void*) {
    CUmodule module = nullptr;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
      cuModuleLoadData(&module, "");
      cuCtxSynchronize();  // waiting is allowed here
    } else {
      cuCtxSynchronize();
    }
  });
  listen(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
  launch();
  expect_broken("cuModuleLoadData was called inside a callback of CUPTI");
  cuptiEnableCallback(0, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API,
                      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
  listen(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_CREATED);
  CUstream stream = nullptr;
  cuStreamCreate(&stream, 0);
  expect_broken("cuCtxSynchronize was called inside a callback of CUPTI");
}

TEST_F(Callbacks, WaitingInsideACallbackWhileAStreamCaptures) {
  CUresult answer = CUDA_SUCCESS;
  subscribe(
      [&](CUpti_CallbackDomain, CUpti_CallbackId, const void*) { answer = cuCtxSynchronize(); });
  CUstream stream = nullptr;
  cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  listen(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
  launch(stream);
  EXPECT_EQ(answer, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_broken("cuCtxSynchronize was called inside a callback while a stream captures");
  CUgraph graph = nullptr;
  cuStreamEndCapture(stream, &graph);
  cuGraphDestroy(graph);
}

TEST_F(Callbacks, CudaInsideInitializeInjection) {
  auto& me = *gable_playback_thread();
  me.in_injection = true;  // as the playback driver marks it around the entry
  EXPECT_EQ(cuInit(0), CUDA_ERROR_NOT_INITIALIZED);
  int count = 0;
  cuDeviceGetCount(&count);
  me.in_injection = false;
  const std::string said = broken();
  EXPECT_NE(said.find("cuInit was called inside InitializeInjection"), std::string::npos) << said;
  EXPECT_NE(said.find("cuDeviceGetCount was called inside InitializeInjection"), std::string::npos)
      << said;
}

TEST_F(Callbacks, AChipIsAskedForBeforeCuInit) {
  gable_playback_gpu()->initialized = false;
  PLAYBACK_PARAMS(CUpti_Device_GetChipName, params);
  EXPECT_EQ(cuptiDeviceGetChipName(&params), CUPTI_ERROR_NOT_INITIALIZED);
  gable_playback_gpu()->initialized = true;
  expect_broken("cuptiDeviceGetChipName was called before cuInit had finished");
  // Before that, CUPTI has to be started as well: what each release answers is tested with them.
  subscribe([](CUpti_CallbackDomain, CUpti_CallbackId, const void*) {});
  EXPECT_EQ(cuptiDeviceGetChipName(&params), CUPTI_SUCCESS);
  EXPECT_STREQ(params.pChipName, "GH100");
}

TEST_F(Callbacks, CallsInAForkedChild) {
  const pid_t child = fork();
  if (child == 0) {
    std::uint64_t now = 0;
    cuptiGetTimestamp(&now);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  expect_broken("cuptiGetTimestamp was called in a forked child");
}

TEST_F(Callbacks, ACallFailsAfterSoManyAndSoOften) {
  fault(R"({"fault":"call","call":"cuptiGetTimestamp","code":35,"after":1,"times":2})");
  std::uint64_t now = 0;
  EXPECT_EQ(cuptiGetTimestamp(&now), CUPTI_SUCCESS);
  EXPECT_EQ(cuptiGetTimestamp(&now), CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  EXPECT_EQ(cuptiGetTimestamp(&now), CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  EXPECT_EQ(cuptiGetTimestamp(&now), CUPTI_SUCCESS);
}

TEST_F(Callbacks, ACudaCallFails) {
  fault(R"({"fault":"call","call":"cuLaunchKernel","code":2,"times":1})");
  EXPECT_EQ(launch(), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(launch(), CUDA_SUCCESS);
}

TEST_F(Callbacks, ACallHangs) {
  const pid_t child = fork();
  if (child == 0) {
    fault(R"({"fault":"hang","call":"cuDeviceGetCount"})");
    int count = 0;
    cuDeviceGetCount(&count);
    _exit(0);
  }
  usleep(300000);
  EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace gable::playback
