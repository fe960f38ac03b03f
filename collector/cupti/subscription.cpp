// SPDX-License-Identifier: Apache-2.0
#include "collector/cupti/subscription.h"

#include <array>
#include <utility>

#include "collector/cupti/cupti_params.h"
#include "collector/cupti/helpers.h"
#include "collector/cupti/launch_calls.h"
#include "collector/cupti/remedies.h"

namespace gable {
namespace {

// From here on several tools may subscribe at once, all by the second version of the call.
constexpr std::uint32_t kManySubscribers = 130300;

#if CUPTI_API_VERSION >= 130000
CUptiResult subscribe_named(const CuptiApi& api, CUpti_SubscriberHandle* handle,
                            CUpti_CallbackFunc callback, void* data, std::string& holder) {
  std::array<char, std::size_t{2} * CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN> name{};
  CUpti_SubscriberParams params{};
  params.structSize = ParamsSize<CUpti_SubscriberParams>::value;
  params.subscriberName = "Gable";
  params.oldSubscriberName = name.data();
  params.oldSubscriberSize = name.size() - 1;
  const auto code = GABLE_CALL(api, cuptiSubscribe_v2, handle, callback, data, &params);
  holder = name.data();
  return code;
}
#endif

}  // namespace

CUptiResult Subscription::subscribe(CUpti_CallbackFunc callback, void* data, std::string& holder) {
#if CUPTI_API_VERSION >= 130000
  if (api_.cuptiSubscribe_v2 != nullptr && api_.version >= kManySubscribers) {
    const auto code = subscribe_named(api_, &handle_, callback, data, holder);
    if (code == CUPTI_SUCCESS || code == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
      return code;
  }
  auto code = GABLE_CALL(api_, cuptiSubscribe, &handle_, callback, data);
  if (code == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && api_.cuptiSubscribe_v2 != nullptr)
    code = subscribe_named(api_, &handle_, callback, data, holder);  // it says who was first
  return code;
#else
  holder.clear();
  return GABLE_CALL(api_, cuptiSubscribe, &handle_, callback, data);
#endif
}

CUptiResult Subscription::enable(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const auto code = GABLE_CALL(api_, cuptiEnableCallback, 1, handle_, domain, id);
  if (code == CUPTI_ERROR_INVALID_PARAMETER) return CUPTI_SUCCESS;  // a call older CUPTIs lack
  if (code != CUPTI_SUCCESS) return code;
  const auto kind = domain == CUPTI_CB_DOMAIN_DRIVER_API ? kind_of(id) : CallKind::none;
  const bool capture = kind == CallKind::capture_begin || kind == CallKind::capture_end;
  const auto disable = [this, domain, id] {
    GABLE_CALL(api_, cuptiEnableCallback, 0, handle_, domain, id);
  };
  const MutexLock hold(mutex_);
  if (capture)
    captures_.push(disable);
  else
    callbacks_.push(disable);
  return code;
}

std::string Subscription::begin(CUpti_CallbackFunc callback, void* data, Late late) {
  const auto refused = std::make_shared<std::string>();
  const auto answer = patiently(
      api_, &Helpers::start,
      [this, callback, data, refused] {
        *refused = begin_here(callback, data);
        return CUPTI_SUCCESS;
      },
      [refused, late = std::move(late)] { late(*refused); });
  return answer ? *refused : "CUPTI cannot be used: it does not return.";
}

std::string Subscription::begin_here(CUpti_CallbackFunc callback, void* data) {
  std::string holder;
  const auto answer = subscribe(callback, data, holder);
  // Those of CUDA 13 may say no more than UNKNOWN.
  driver_refused_ = answer == CUPTI_ERROR_NOT_INITIALIZED || answer == CUPTI_ERROR_UNKNOWN;
  if (answer != CUPTI_SUCCESS) {
    const auto remedy = remedy_for(answer);
    return "CUPTI cannot be used: cuptiSubscribe says " + describe(api_, answer) + "." +
           (holder.empty() ? "" : " It is held by '" + holder + "'.") +
           (remedy.empty() ? "" : " " + remedy);
  }
  {
    const MutexLock hold(mutex_);
    subscribed_.push([this] { GABLE_CALL(api_, cuptiUnsubscribe, handle_); });
  }
  auto code = CUPTI_SUCCESS;
  for (const auto id : watched_calls())
    if (code == CUPTI_SUCCESS) code = enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
  const bool graphs = api_.cuptiGetGraphNodeId != nullptr && api_.cuptiGetGraphId != nullptr &&
                      api_.cuptiGetGraphExecId != nullptr;
  for (const auto id : watched_resources(graphs))
    if (code == CUPTI_SUCCESS)
      code = enable(CUPTI_CB_DOMAIN_RESOURCE, static_cast<CUpti_CallbackId>(id));
  if (code == CUPTI_SUCCESS) return {};
  end();
  return "CUPTI cannot be used: cuptiEnableCallback says " + describe(api_, code) + ".";
}

void Subscription::undo(std::initializer_list<Undo*> calls) {
  std::vector<std::shared_ptr<Undo>> taken;
  {
    const MutexLock hold(mutex_);
    for (auto* one : calls) taken.emplace_back(std::make_shared<Undo>())->take(*one);
  }
  (void)patiently(api_, &Helpers::calls, [taken = std::move(taken)] {
    for (const auto& one : taken) one->run();
    return CUPTI_SUCCESS;
  });
}

void Subscription::silence() { undo({&callbacks_}); }

void Subscription::end() { undo({&callbacks_, &captures_, &subscribed_}); }

}  // namespace gable
