// SPDX-License-Identifier: Apache-2.0
// The playback libcupti: one subscriber, its callbacks, and small queries.
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>

#include "tools/playback/cupti/cupti_state.h"
#include "tools/playback/cupti/played_release.h"

struct CUpti_Subscriber_st {
  CUpti_CallbackFunc callback = nullptr;
  void* userdata = nullptr;
  std::string name;
  bool alive = true;
};

namespace gable::playback {
namespace {

std::mutex subscriber_mutex;  // not held while a callback runs
std::atomic<CUpti_Subscriber_st*> subscriber{
    nullptr};  // the only one; handles are never freed, so that a dead one is known
std::array<std::atomic<bool>, CUPTI_CBID_RESOURCE_SIZE> wanted_resources{};

CUpti_CallbackIdResource id_of(ResourceEvent event) {
  switch (event) {
    case ResourceEvent::init_finished:
      return CUPTI_CBID_RESOURCE_CU_INIT_FINISHED;
    case ResourceEvent::context_created:
      return CUPTI_CBID_RESOURCE_CONTEXT_CREATED;
    case ResourceEvent::context_destroy:
      return CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING;
    case ResourceEvent::stream_created:
      return CUPTI_CBID_RESOURCE_STREAM_CREATED;
    case ResourceEvent::stream_destroy:
      return CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING;
    case ResourceEvent::module_loaded:
      return CUPTI_CBID_RESOURCE_MODULE_LOADED;
    case ResourceEvent::module_unload:
      return CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING;
  }
  return CUPTI_CBID_RESOURCE_INVALID;
}

CUpti_CallbackIdResource id_of(GraphEvent event) {
  switch (event) {
    case GraphEvent::created:
      return CUPTI_CBID_RESOURCE_GRAPH_CREATED;
    case GraphEvent::destroy:
      return CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING;
    case GraphEvent::cloned:
      return CUPTI_CBID_RESOURCE_GRAPH_CLONED;
    case GraphEvent::node_created:
      return CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED;
    case GraphEvent::node_cloned:
      return CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED;
    case GraphEvent::exec_create_starting:
      return CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING;
    case GraphEvent::exec_created:
      return CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED;
    case GraphEvent::exec_destroy:
      return CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING;
  }
  return CUPTI_CBID_RESOURCE_INVALID;
}

class CuptiTools final : public Tools {
 public:
  void enter(ApiCall& call) override { driver(call, CUPTI_API_ENTER); }
  void exit(ApiCall& call) override { driver(call, CUPTI_API_EXIT); }

  void resource(ResourceEvent event, Context* context, Stream* stream, Module* module) override {
    const CUpti_CallbackIdResource id = id_of(event);
    const CUpti_Subscriber_st* client = subscriber.load(std::memory_order_acquire);
    if (client == nullptr || !wanted_resources[id].load(std::memory_order_acquire)) return;
    CUpti_ModuleResourceData about_module{};
    CUpti_ResourceData data{};
    data.context = reinterpret_cast<CUcontext>(context);
    data.resourceHandle.stream = reinterpret_cast<CUstream>(stream);
    if (module != nullptr) {
      about_module.moduleId = module->id;
      about_module.cubinSize = module->cubin_bytes;
      about_module.pCubin = module->cubin;
      data.resourceDescriptor = &about_module;
    }
    const Callback callback(Inside::resource);
    client->callback(client->userdata, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
  }

  void graph(GraphEvent event, const GraphChange& change) override {
    const CUpti_CallbackIdResource id = id_of(event);
    const CUpti_Subscriber_st* client = subscriber.load(std::memory_order_acquire);
    if (client == nullptr || !wanted_resources[id].load(std::memory_order_acquire)) return;
    CUpti_GraphData about{};
    about.graph = reinterpret_cast<CUgraph>(change.graph);
    about.originalGraph = reinterpret_cast<CUgraph>(change.original);
    about.node = reinterpret_cast<CUgraphNode>(change.node);
    about.originalNode = reinterpret_cast<CUgraphNode>(change.original_node);
    about.graphExec = reinterpret_cast<CUgraphExec>(change.exec);
    if (change.node != nullptr) about.nodeType = change.node->type;
    CUpti_ResourceData data{};
    data.context = reinterpret_cast<CUcontext>(gable_playback_thread()->current);
    data.resourceDescriptor = &about;
    const Callback callback(Inside::resource);
    client->callback(client->userdata, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
  }

  void submitted(const Work& work) override {
    activity_submitted(work);
    range_submitted(work);
  }
  void captured(const Work& work) override { range_captured(work); }
  void context_gone(Context* context) override { range_context_gone(context); }

 private:
  static void driver(ApiCall& call, CUpti_ApiCallbackSite site) {
    const CUpti_Subscriber_st* client = subscriber.load(std::memory_order_acquire);
    if (client == nullptr) return;
    Context* current = gable_playback_thread()->current;
    CUpti_CallbackData data{};
    data.callbackSite = site;
    data.functionName = call.name;
    data.functionParams = call.params;
    data.functionReturnValue = site == CUPTI_API_EXIT ? call.result : nullptr;
    data.symbolName = call.symbol;
    data.context = reinterpret_cast<CUcontext>(current);
    data.contextUid = current == nullptr ? 0 : current->uid;
    data.correlationData = &call.correlation_data;
    data.correlationId = call.correlation;
    const Callback callback(Inside::driver);
    driver_site() = site;
    client->callback(client->userdata, CUPTI_CB_DOMAIN_DRIVER_API, call.cbid, &data);
  }
};

constexpr std::size_t kSubscriberParams = 32;  // of CUDA 13.0; later ones take it, too

CUptiResult subscribe(CUpti_SubscriberHandle* out, CUpti_CallbackFunc callback, void* userdata,
                      const char* name) {
  if (out == nullptr || callback == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const std::lock_guard<std::mutex> lock(subscriber_mutex);
  if (subscriber.load() != nullptr) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  if (driver_is_too_old()) return CUPTI_ERROR_NOT_INITIALIZED;
  attach();
  cupti_started() = true;
  // Also those that unsubscribed.
  static auto& kept = *new std::deque<CUpti_Subscriber_st>;
  auto* made = &kept.emplace_back(
      CUpti_Subscriber_st{callback, userdata, name == nullptr ? "" : name, true});
  subscriber.store(made, std::memory_order_release);
  *out = made;
  return CUPTI_SUCCESS;
}

// The handle of a call; a dead one breaks a rule.
bool check_subscriber(const char* call, CUpti_SubscriberHandle handle) {
  if (handle != nullptr && handle == subscriber.load()) return true;
  broken(std::string(call) + " was called with a subscriber that is not subscribed (any more)");
  return false;
}

void forget_callbacks() {
  for (auto& wanted : the_gpu().wanted) wanted = false;
  for (auto& wanted : wanted_resources) wanted = false;
}

}  // namespace

void drop_callbacks() { forget_callbacks(); }

void load_own_module(Context* context) {
  static auto& module = *new Module;
  if (Tools* tools = the_gpu().tools.load(std::memory_order_acquire); tools != nullptr)
    tools->resource(ResourceEvent::module_loaded, context, nullptr, &module);
}

void attach() {
  static CuptiTools* tools = new CuptiTools;
  the_gpu().tools.store(tools, std::memory_order_release);
}

}  // namespace gable::playback

using namespace gable::playback;

extern "C" {

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char** text) {
  GABLE_ENTER();
  if (text == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  switch (result) {
    case CUPTI_SUCCESS:
      *text = "CUPTI_SUCCESS";
      break;
    case CUPTI_ERROR_INVALID_PARAMETER:
      *text = "CUPTI_ERROR_INVALID_PARAMETER";
      break;
    case CUPTI_ERROR_INVALID_CONTEXT:
      *text = "CUPTI_ERROR_INVALID_CONTEXT";
      break;
    case CUPTI_ERROR_INVALID_OPERATION:
      *text = "CUPTI_ERROR_INVALID_OPERATION";
      break;
    case CUPTI_ERROR_MAX_LIMIT_REACHED:
      *text = "CUPTI_ERROR_MAX_LIMIT_REACHED";
      break;
    case CUPTI_ERROR_NOT_INITIALIZED:
      *text = "CUPTI_ERROR_NOT_INITIALIZED";
      break;
    case CUPTI_ERROR_INVALID_METRIC_NAME:
      *text = "CUPTI_ERROR_INVALID_METRIC_NAME";
      break;
    case CUPTI_ERROR_HARDWARE_BUSY:
      *text = "CUPTI_ERROR_HARDWARE_BUSY";
      break;
    case CUPTI_ERROR_NOT_SUPPORTED:
      *text = "CUPTI_ERROR_NOT_SUPPORTED";
      break;
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
      break;
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
      break;
    case CUPTI_ERROR_UNKNOWN:
      *text = "CUPTI_ERROR_UNKNOWN";
      break;
    default:
      return CUPTI_ERROR_INVALID_PARAMETER;
  }
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle* out, CUpti_CallbackFunc callback,
                                    void* userdata) {
  GABLE_ENTER();
  return subscribe(out, callback, userdata, nullptr);
}

#if CUPTI_API_VERSION >= 130000
CUptiResult CUPTIAPI cuptiSubscribe_v2(CUpti_SubscriberHandle* out, CUpti_CallbackFunc callback,
                                       void* userdata, CUpti_SubscriberParams* params) {
  if (params == nullptr || params->structSize < kSubscriberParams) {
    broken("cuptiSubscribe_v2 got a structSize that is not that of its struct");
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const auto name_holder = [&](const std::string& holder) {
    if (params->oldSubscriberName == nullptr || params->oldSubscriberSize == 0) return;
    std::snprintf(params->oldSubscriberName, params->oldSubscriberSize, "%s", holder.c_str());
  };
  for (const char* call : {"cuptiSubscribe", "cuptiSubscribe_v2"}) {
    if (const auto refused = enter_call(call)) {
      if (*refused == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
        name_holder(the_gpu().control().holder());
      return *refused;
    }
  }
  const CUptiResult result = subscribe(out, callback, userdata, params->subscriberName);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    const CUpti_Subscriber_st* other = subscriber.load();
    name_holder("CUPTI for " +
                (other == nullptr || other->name.empty() ? std::string("unnamed") : other->name));
  }
  return result;
}
#endif

CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle handle) {
  GABLE_ENTER();
  if (!check_subscriber("cuptiUnsubscribe", handle)) return CUPTI_ERROR_INVALID_PARAMETER;
  const std::lock_guard<std::mutex> lock(subscriber_mutex);
  forget_callbacks();
  handle->alive = false;
  subscriber.store(nullptr, std::memory_order_release);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
                                         CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  GABLE_ENTER();
  if (!check_subscriber("cuptiEnableCallback", handle)) return CUPTI_ERROR_INVALID_PARAMETER;
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    if (cbid == 0 || cbid >= CUPTI_DRIVER_TRACE_CBID_SIZE) return CUPTI_ERROR_INVALID_PARAMETER;
    the_gpu().wanted[cbid].store(enable != 0, std::memory_order_release);
    return CUPTI_SUCCESS;
  }
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    if (cbid == 0 || cbid >= CUPTI_CBID_RESOURCE_SIZE) return CUPTI_ERROR_INVALID_PARAMETER;
    wanted_resources[cbid].store(enable != 0, std::memory_order_release);
    return CUPTI_SUCCESS;
  }
  // No program of the playback GPU calls the runtime; its other domains say nothing.
  return domain > CUPTI_CB_DOMAIN_INVALID && domain < CUPTI_CB_DOMAIN_SIZE
             ? CUPTI_SUCCESS
             : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t* timestamp) {
  GABLE_ENTER();
  if (timestamp == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *timestamp = the_gpu().now();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetDeviceId(CUcontext handle, uint32_t* device) {
  GABLE_ENTER();
  if (device == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const Context* context = the_gpu().context_of(handle);
  if (context == nullptr) {
    if (the_gpu().was_context(handle))
      broken("cuptiGetDeviceId was called with a destroyed context");
    return CUPTI_ERROR_INVALID_CONTEXT;
  }
  *device = static_cast<uint32_t>(context->device);
  return CUPTI_SUCCESS;
}

}  // extern "C"
