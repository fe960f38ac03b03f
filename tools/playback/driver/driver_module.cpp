// SPDX-License-Identifier: Apache-2.0
// The playback libcuda: modules, libraries and their functions.
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "tools/playback/driver/driver_call.h"

using namespace gable::playback;

namespace {

struct Library {
  std::vector<char> code;  // of a cubin; else empty
  std::map<Context*, Module*> modules;
  bool alive = true;
};

// Of an ELF file in memory, whose tables stand at its end; 0: it is none.
std::size_t size_of_cubin(const void* image) {
  Elf64_Ehdr head{};
  if (image == nullptr || std::strncmp(static_cast<const char*>(image), ELFMAG, SELFMAG) != 0)
    return 0;
  std::memcpy(&head, image, sizeof head);
  return std::max<std::size_t>(head.e_shoff + std::size_t{head.e_shnum} * head.e_shentsize,
                               head.e_phoff + std::size_t{head.e_phnum} * head.e_phentsize);
}

Module* load(Context* context, const void* image) {
  Module* made = Gpu::get().create_module(context);
  made->cubin_bytes = size_of_cubin(image);
  made->cubin = made->cubin_bytes > 0 ? static_cast<const char*>(image) : nullptr;
  tell(ResourceEvent::module_loaded, context, nullptr, made);
  made->cubin = nullptr;
  made->cubin_bytes = 0;
  return made;
}

CUresult load_current(CUmodule* module, const void* image) {
  if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Context* context = thread_state().current;
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *module = reinterpret_cast<CUmodule>(load(context, image));
  return CUDA_SUCCESS;
}

CUresult attribute_of(int* value, CUfunction_attribute which, const Function* function) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const gable::RecordedKernel* known =
      function->definitions.empty() ? nullptr : function->definitions.front();
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = 1024;
      break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = known == nullptr ? 32 : static_cast<int>(known->registers);
      break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = known == nullptr ? 0 : static_cast<int>(known->static_shared);
      break;
    default:
      *value = 0;
      break;
  }
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuModuleLoadData(CUmodule* module, const void* image) {
  const cuModuleLoadData_params p{module, image};
  return api(GABLE_CBID(cuModuleLoadData), "cuModuleLoadData", Effect::change, &p,
             [&](ApiCall&) { return load_current(module, image); });
}

CUresult CUDAAPI cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int options,
                                    CUjit_option* names, void** values) {
  const cuModuleLoadDataEx_params p{module, image, options, names, values};
  return api(GABLE_CBID(cuModuleLoadDataEx), "cuModuleLoadDataEx", Effect::change, &p,
             [&](ApiCall&) { return load_current(module, image); });
}

CUresult CUDAAPI cuModuleUnload(CUmodule module) {
  const cuModuleUnload_params p{module};
  return api(GABLE_CBID(cuModuleUnload), "cuModuleUnload", Effect::change, &p, [&](ApiCall&) {
    auto* known = reinterpret_cast<Module*>(module);
    if (known == nullptr || !known->alive) return CUDA_ERROR_INVALID_HANDLE;
    tell(ResourceEvent::module_unload, known->context, nullptr, known);
    known->alive = false;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  const cuModuleGetFunction_params p{function, module, name};
  return api(GABLE_CBID(cuModuleGetFunction), "cuModuleGetFunction", Effect::change, &p,
             [&](ApiCall&) {
               auto* known = reinterpret_cast<Module*>(module);
               if (function == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
               if (known == nullptr || !known->alive) return CUDA_ERROR_INVALID_HANDLE;
               *function = reinterpret_cast<CUfunction>(Gpu::get().function(known, name));
               return CUDA_SUCCESS;
             });
}

CUresult CUDAAPI cuFuncGetName(const char** name, CUfunction function) {
  const cuFuncGetName_params p{name, function};
  return api(GABLE_CBID(cuFuncGetName), "cuFuncGetName", Effect::query, &p, [&](ApiCall&) {
    if (name == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *name = reinterpret_cast<Function*>(function)->name.c_str();
    return CUDA_SUCCESS;
  });
}

// Libraries belong to no context: their code becomes a module of a context with its first kernel.
// The handle of a kernel is that of its function.
CUresult CUDAAPI cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* jit,
                                   void** jit_values, unsigned int jit_count,
                                   CUlibraryOption* options, void** values, unsigned int count) {
  const cuLibraryLoadData_params p{library,   code,    jit,    jit_values,
                                   jit_count, options, values, count};
  return api(GABLE_CBID(cuLibraryLoadData), "cuLibraryLoadData", Effect::change, &p, [&](ApiCall&) {
    if (library == nullptr || code == nullptr) return CUDA_ERROR_INVALID_VALUE;
    auto made = std::make_unique<Library>();
    const auto* bytes = static_cast<const char*>(code);
    made->code.assign(bytes, bytes + size_of_cubin(code));
    *library = reinterpret_cast<CUlibrary>(made.release());  // kept: the end may ask
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuLibraryUnload(CUlibrary library) {
  const cuLibraryUnload_params p{library};
  return api(GABLE_CBID(cuLibraryUnload), "cuLibraryUnload", Effect::change, &p, [&](ApiCall&) {
    auto* known = reinterpret_cast<Library*>(library);
    if (known == nullptr || !known->alive) return CUDA_ERROR_INVALID_HANDLE;
    for (const auto& [context, module] : known->modules) {
      tell(ResourceEvent::module_unload, context, nullptr, module);
      module->alive = false;
    }
    known->alive = false;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  const cuLibraryGetKernel_params p{kernel, library, name};
  return api(GABLE_CBID(cuLibraryGetKernel), "cuLibraryGetKernel", Effect::change, &p,
             [&](ApiCall&) {
               auto* known = reinterpret_cast<Library*>(library);
               if (kernel == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
               if (known == nullptr || !known->alive) return CUDA_ERROR_INVALID_HANDLE;
               Context* context = thread_state().current;
               if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
               Module*& module = known->modules[context];
               if (module == nullptr)
                 module = load(context, known->code.empty() ? nullptr : known->code.data());
               *kernel = reinterpret_cast<CUkernel>(Gpu::get().function(module, name));
               return CUDA_SUCCESS;
             });
}

CUresult CUDAAPI cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  const cuKernelGetFunction_params p{function, kernel};
  return api(GABLE_CBID(cuKernelGetFunction), "cuKernelGetFunction", Effect::query, &p,
             [&](ApiCall&) {
               if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
               if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
               *function = reinterpret_cast<CUfunction>(kernel);
               return CUDA_SUCCESS;
             });
}

CUresult CUDAAPI cuKernelGetAttribute(int* value, CUfunction_attribute which, CUkernel kernel,
                                      CUdevice dev) {
  const cuKernelGetAttribute_params p{value, which, kernel, dev};
  return api(GABLE_CBID(cuKernelGetAttribute), "cuKernelGetAttribute", Effect::query, &p,
             [&](ApiCall&) {
               return attribute_of(value, which, reinterpret_cast<const Function*>(kernel));
             });
}

CUresult CUDAAPI cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction function) {
  const cuFuncGetAttribute_params p{value, which, function};
  return api(GABLE_CBID(cuFuncGetAttribute), "cuFuncGetAttribute", Effect::query, &p,
             [&](ApiCall&) {
               return attribute_of(value, which, reinterpret_cast<const Function*>(function));
             });
}

}  // extern "C"
