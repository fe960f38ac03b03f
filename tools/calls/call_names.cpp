// SPDX-License-Identifier: Apache-2.0
#include "tools/calls/call_names.h"

namespace gable {
namespace {

struct Row {
  std::string_view name;
  CallName what;
};

// Behind "cuda", "cu" or "hip", without what follows a "_".
constexpr Row kExact[] = {{"EventRecord", CallName::event_record},
                          {"EventRecordWithFlags", CallName::event_record},
                          {"StreamWaitEvent", CallName::stream_wait},
                          {"StreamSynchronize", CallName::stream_synchronize},
                          {"EventSynchronize", CallName::event_synchronize},
                          {"DeviceSynchronize", CallName::context_synchronize},
                          {"ThreadSynchronize", CallName::context_synchronize},
                          {"CtxSynchronize", CallName::context_synchronize},
                          {"GraphLaunch", CallName::graph_launch},
                          {"Launch", CallName::launch},
                          {"Free", CallName::free_memory},
                          {"FreeHost", CallName::free_memory},
                          {"FreeArray", CallName::free_memory},
                          {"MemFree", CallName::free_memory},
                          {"MemFreeHost", CallName::free_memory},
                          {"HostFree", CallName::free_memory},
                          {"ModuleUnload", CallName::free_memory},
                          {"StreamBeginCapture", CallName::begin_capture},
                          {"StreamEndCapture", CallName::end_capture}};

}  // namespace

NamedCall named_call(std::string_view name) {
  if (name.starts_with("cuda"))
    name.remove_prefix(4);
  else if (name.starts_with("cu"))
    name.remove_prefix(2);
  else if (name.starts_with("hip"))  // AMD's, of the same meaning
    name.remove_prefix(3);
  else
    return {};
  const std::string_view plain = name.substr(0, name.find('_'));
  for (const Row& row : kExact) {
    if (plain == row.name) return {row.what, false};
  }
  // "LaunchCooperativeKernel", "LaunchKernelEx"; "ModuleLaunchKernel" and "ExtLaunchKernel" of AMD.
  const auto launch = plain.find("Launch");
  if (launch != plain.npos && plain.find("Kernel", launch) != plain.npos)
    return {CallName::launch, false};
  if (plain.starts_with("Memcpy") || plain.starts_with("Memset"))
    return {CallName::copy, plain.find("Async") != std::string_view::npos};
  return {};
}

bool synchronises(CallName what) {
  return what == CallName::stream_synchronize || what == CallName::event_synchronize ||
         what == CallName::context_synchronize;
}

}  // namespace gable
