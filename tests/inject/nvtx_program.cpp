// SPDX-License-Identifier: Apache-2.0
// Every way in which a program names its ranges, through the real NVTX v3 headers; one launch in
// each place, so that the report shows where it was seen. Prints nothing: what NVTX returns is
// nobody's output.
#include <cuda.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdlib>
#include <string>
#include <thread>

extern "C" void second_library_range(void (*body)());

namespace {

CUfunction g_kernel;
CUcontext g_context;

void launch() {
  if (cuLaunchKernel(g_kernel, 8, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr) != CUDA_SUCCESS)
    std::exit(99);
}

void open_gpu() {
  CUdevice device{};
  CUmodule module{};
  static const char image[] = ".version 8.0\n.visible .entry work() { ret; }\n";
  if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
      cuDevicePrimaryCtxRetain(&g_context, device) != CUDA_SUCCESS ||
      cuCtxSetCurrent(g_context) != CUDA_SUCCESS ||
      cuModuleLoadData(&module, image) != CUDA_SUCCESS ||
      cuModuleGetFunction(&g_kernel, module, "work") != CUDA_SUCCESS) {
    std::exit(99);
  }
}

nvtxEventAttributes_t attributes(const char* name) {
  nvtxEventAttributes_t a{};
  a.version = NVTX_VERSION;
  a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  a.messageType = NVTX_MESSAGE_TYPE_ASCII;
  a.message.ascii = name;
  return a;
}

void push_pop() {
  nvtxRangePushA("ascii");
  launch();
  nvtxRangePop();
  nvtxRangePushW(L"w\u00efde \U0001F600");
  launch();
  nvtxRangePop();
  auto ex = attributes("attributes");
  nvtxRangePushEx(&ex);
  launch();
  nvtxRangePop();
}

void domains() {
  const auto domain = nvtxDomainCreateA("mylib");
  auto outer = attributes("outer");
  nvtxDomainRangePushEx(domain, &outer);
  nvtxEventAttributes_t registered = attributes("");
  registered.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  registered.message.registered = nvtxDomainRegisterStringA(domain, "registered");
  nvtxDomainRangePushEx(domain, &registered);
  launch();
  nvtxDomainRangePop(domain);
  registered.message.registered = nvtxDomainRegisterStringW(domain, L"wide");
  nvtxDomainRangePushEx(domain, &registered);
  launch();
  nvtxDomainRangePop(domain);
  nvtxDomainRangePop(domain);
}

void across_threads() {
  const auto id = nvtxRangeStartA("start/end");
  std::thread([] {
    cuCtxSetCurrent(g_context);
    launch();
  }).join();
  std::thread([id] { nvtxRangeEnd(id); }).join();
  nvtxRangePushA("backward");
  std::thread([] {
    cuCtxSetCurrent(g_context);
    launch();  // no range on this thread: the main thread's
  }).join();
  nvtxRangePop();
}

void odd_names() {
  const std::string megabyte(1 << 20, 'm');
  nvtxRangePushA(megabyte.c_str());
  launch();
  nvtxRangePop();
  nvtxRangePushA("bad \xff\xfe utf8");
  launch();
  nvtxRangePop();
  nvtxRangePushA(nullptr);
  launch();
  nvtxRangePop();
  nvtxRangePushA("a/b");
  nvtxRangePushA("c");
  launch();
  nvtxRangePop();
  nvtxRangePop();
  for (int i = 0; i < 3; ++i) {
    nvtxRangePushA(
        ("aten::mm, seq = " + std::to_string(i) + ", op_id = " + std::to_string(7 * i)).c_str());
    launch();
    nvtxRangePop();
    nvtxRangePushA(("request #" + std::to_string(i)).c_str());
    launch();
    nvtxRangePop();
  }
}

void unbalanced_and_deep() {
  for (int i = 0; i < 5; ++i) nvtxRangePop();
  nvtxRangePushA("after unbalanced pops");
  launch();
  nvtxRangePop();
  for (int i = 0; i < 10000; ++i) nvtxRangePushA("deep");
  launch();
  for (int i = 0; i < 10000; ++i) nvtxRangePop();
  nvtxRangePushA("after the deep");
  launch();
  nvtxRangePop();
}

}  // namespace

int main() {
  nvtxRangePushA("before CUDA");  // NVTX may come first: the range must still be open at the launch
  open_gpu();
  launch();
  nvtxRangePop();
  push_pop();
  domains();
  across_threads();
  odd_names();
  unbalanced_and_deep();
  second_library_range([] { launch(); });
  return cuCtxSynchronize() == CUDA_SUCCESS ? 0 : 98;
}
