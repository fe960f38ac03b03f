// SPDX-License-Identifier: Apache-2.0
#include "collector/session/session.h"

#include <memory>
#include <utility>

#include "analysis/profile/range_rows.h"
#include "collector/cupti/cupti_advice.h"
#include "collector/cupti/current_context.h"
#include "collector/cupti/helpers.h"
#include "collector/process/clock.h"
#include "collector/runtime/range_calls.h"
#include "collector/session/other_tools.h"
#include "collector/session/shorter_waits.h"

namespace gable {
namespace {

constexpr std::chrono::milliseconds kFlushPatience{2000};  // for one answer of CUPTI
constexpr std::uint64_t kStartPatienceNs = 2'000'000'000;  // for one that is late already
constexpr std::uint64_t kFlushEveryNs = 500'000'000;
constexpr std::uint64_t kLookEveryNs = 300'000'000;         // for libraries that were loaded
constexpr std::chrono::milliseconds kStallPatience{10000};  // for a launch in a counter window

// The first call that does not return is said once.
std::shared_ptr<Helpers> helpers_of(Runtime& rt) {
  auto helpers = std::make_shared<Helpers>();
  helpers->patience->tell([&rt](const std::string& sentence) { rt.notes.say(sentence); });
  return helpers;
}

std::optional<std::chrono::seconds> every(const Settings& settings) {
  if (!settings.every_s) return std::nullopt;
  return std::chrono::seconds(*settings.every_s);
}

}  // namespace

Session::Session(Runtime& rt, CuptiApi api)
    : c_(rt, std::move(api), hooks()),
      subscription_(c_.api),
      worker_(*this, rt.notes, every(rt.settings)),
      flusher_(c_.api, c_.activity, [this] { return worker_.dying(); }),
      records_(c_),
      reports_(c_, records_),
      planner_(
          c_, [this] { worker_.wake(Worker::Command::plan); }, [this] { return worker_.dying(); }),
      callbacks_(c_, planner_, reports_.output(), flusher_),
      ending_(c_, subscription_, planner_, records_, reports_, flusher_,
              {[this] { worker_.rest(); }, [this] { return worker_.dying(); }}),
      on_demand_(c_, subscription_, ending_, reports_,
                 [this] {
                   const auto late = [this](const std::string& refused) {
                     if (refused.empty()) subscription_.end();
                   };
                   return subscription_.begin(Callbacks::entry, &callbacks_, late);
                 }),
      stall_patience_(or_shorter("GABLE_PLAYBACK_STALL_MS", kStallPatience)),
      last_flush_ns_(steady_ns()),
      last_look_ns_(last_flush_ns_) {}

// Called when all parts are made.
Windows::Hooks Session::hooks() {
  Windows::Hooks hooks;
  hooks.wait_for_plan = [this] { return planner_.wait(); };
  hooks.known_plan = [this] { return planner_.known(); };
  hooks.over = [this] { worker_.wake(Worker::Command::end_queue); };
  hooks.records_wanted = [this] { flusher_.ask(); };
  hooks.records_now = [this] { (void)flusher_.flush(true, kFlushPatience); };
  hooks.counted = [this](const LaunchKey& key) {
    return c_.rt.functions.intern(kRangeSymbol) == key.function || c_.filter.wanted(key);
  };
  return hooks;
}

// --- the start

Session* Session::start(Runtime& rt) {
  const WithinDriverStart here;
  CuptiWish wish;
  wish.preferred = rt.settings.cupti;
  wish.helpers = helpers_of(rt);
  return start(rt, load_cupti(wish));
}

Session* Session::start(Runtime& rt, CuptiApi api) {
  find_driver();
  if (api.helpers == nullptr) api.helpers = helpers_of(rt);
  auto* session = new Session(rt, std::move(api));  // never freed: CUPTI may keep a pointer
  const std::string refused = session->subscribe();
  const auto& c = session->c_;
  if (c.api.can_trace && !c.api.can_profile && c.wants_counters()) rt.notes.say(c.api.why_not);
  if (!session->worker_.start() || !session->flusher_.start()) {
    rt.notes.say(
        "No threads can be started in this process. Nothing is collected; your program runs on.");
    session->subscription_.end();
    return nullptr;
  }
  rt.session.store(session, std::memory_order_release);
  session->began(refused);
  return session;
}

std::string Session::subscribe() {
  auto& api = c_.api;
  if (!api.can_trace) return api.why_not;
  const auto late = [this](const std::string& sentence) { subscribed_late(sentence); };
  auto refused = subscription_.begin(Callbacks::entry, &callbacks_, late);
  // It stays loaded: one that was called may have left threads and handlers behind. A second CUPTI
  // beside the program's own would fight with it.
  CuptiWish wish;
  wish.helpers = api.helpers;
  while (!refused.empty() && !stuck(api) && subscription_.driver_refused() && !api.of_program) {
    wish.refused.push_back(api.path);
    auto next = load_cupti(wish);
    if (!next.can_trace) return refused;
    const auto last = std::exchange(api, std::move(next));
    if (!subscription_.begin(Callbacks::entry, &callbacks_, late).empty()) continue;
    c_.rt.notes.say("The driver refused the CUPTI " + last.path + " (" +
                    cuda_release(last.version) + "), which is probably newer than the driver; " +
                    api.path + " (" + cuda_release(api.version) + ") is used instead.");
    refused.clear();
  }
  return refused;
}

// The first try to subscribe is over, or is waited for no longer.
void Session::began(const std::string& refused) {
  auto start = Start::under_way;
  const bool waits = c_.api.can_trace && !refused.empty() && stuck(c_.api) &&
                     start_.compare_exchange_strong(start, Start::waits);
  if (waits) {
    waits_since_ns_ = steady_ns();
  } else if (refused.empty() || start == Start::came_late) {
    start_.store(Start::over);
    collect();
  } else {
    if (!stuck(c_.api))
      c_.rt.notes.say(refused + " Only NVTX ranges are collected; your program runs on.");
    start_.store(Start::over);
    collect_ranges_only();
  }
}

void Session::subscribed_late(const std::string& refused) {
  if (!refused.empty()) return;
  auto start = Start::under_way;
  if (start_.compare_exchange_strong(start, Start::came_late)) return;
  if (start == Start::waits && start_.compare_exchange_strong(start, Start::over) &&
      !ending_.begun())
    return collect();
  subscription_.end();
}

void Session::look_at_start() {
  auto waits = Start::waits;
  if (start_.load() == waits && steady_ns() - waits_since_ns_ > kStartPatienceNs &&
      start_.compare_exchange_strong(waits, Start::over))
    collect_ranges_only();
}

void Session::collect() {
  auto& rt = c_.rt;
  if (rt.ranks && rt.settings.budget) rt.notes.say(std::string(kNoBudgetWithRanks));
  rt.ranges.set_listener(&c_.windows);
  if (const auto block = rt.early_block.take()) begin_block(*block);
  rt.hot.watching.store(true, std::memory_order_release);
  c_.watch_gpus();
  watch_for_other_tools();
}

void Session::collect_ranges_only() {
  c_.ranges_only.store(true);
  planner_.leave_out();
  c_.rt.hot.span_window.store(kWholeRun, std::memory_order_relaxed);
}

// --- while it runs

void Session::tend() {
  const auto now = steady_ns();
  if (c_.activity.enabled() && now - last_flush_ns_ > kFlushEveryNs) {
    last_flush_ns_ = now;
    flusher_.ask();
  }
  records_.collect();
  c_.sink.drain();
  look_at_start();
  if (!c_.ranges_only && !ending_.begun()) c_.windows.check_progress(stall_patience_);
  if (now - last_look_ns_ > kLookEveryNs) {
    last_look_ns_ = now;
    watch_for_other_tools();
  }
  reports_.write_snapshot();
}

bool Session::begin_model(bool forward) {
  auto& model = c_.rt.model;
  if (c_.ranges_only || !model.wants_more()) return false;
  bool put_off = forward;
  if (!forward) {
    const auto last = c_.rt.hot.step.load(std::memory_order_relaxed) - 1;
    put_off = model.begun();
    if (!model.expects_new_step(c_.sink.summary(last).hash)) return false;
  }
  const auto step = c_.windows.step_to_describe(put_off);
  return step && model.begin(*step);
}

void Session::end_model(const std::string& why_not) {
  auto& rt = c_.rt;
  auto described = rt.model.end();
  if (!described) return;
  std::string problem = why_not;
  // The next step has begun, and only that one.
  if (problem.empty() && rt.hot.step.load(std::memory_order_relaxed) != described->step + 1)
    problem = "another step border fell within the step in which they were described";
  if (!problem.empty()) {
    if (rt.model.give_up())
      rt.notes.record("How much work the model's operators do is unknown: " + problem + ".");
    return;
  }
  if (described->incomplete)
    rt.notes.record(
        "Layers launch kernels outside of the operators that Gable sees (Triton's, an extension's, "
        "or those around compiled regions of an older PyTorch): their work by formula is "
        "unknown.");
  described->model.sequence_hash = c_.sink.summary(described->step).hash;
  rt.model.kept(described->model.sequence_hash);
  c_.sink.with_profile(
      [&described](Profile& profile) { profile.describe(std::move(described->model)); });
}

void Session::count_tokens(std::uint32_t sequences, std::uint32_t per_sequence) {
  const WindowId window = c_.rt.hot.span_window.load(std::memory_order_relaxed);
  if (window == kNoWindow) return;
  auto& thread = this_thread();
  bool inherited = false;
  Event event;
  event.kind = Event::Kind::tokens;
  event.tokens = {layer_of_launch(c_.rt, thread, inherited), window, sequences, per_sequence};
  c_.sink.emit(thread, event);
}

void Session::begin_block(const Block& block) {
  if (c_.ranges_only) return;
  const bool chooses = !block.include.empty() || !block.exclude.empty();
  const auto& s = c_.rt.settings;
  for (const auto& sentence : c_.filter.choose_layers(chooses ? block.include : s.include,
                                                      chooses ? block.exclude : s.exclude))
    c_.rt.notes.say(sentence);
  if (c_.windows.begin_block(block.schedule)) return;
  // The end of the queue before may still wait for a launch.
  c_.windows.settle_pending();
  if (const auto refused = worker_.open_queue(block.schedule); !refused.empty())
    c_.rt.notes.say("The block that the program asked to profile is not profiled: " + refused);
}

void Session::end_block() {
  if (c_.ranges_only) return;
  c_.windows.end_block();
  // A program may launch nothing for long now, as a notebook does between its cells.
  if (!c_.activity.capturing()) c_.windows.settle_pending();
}

void Session::leave_to(const std::string& tool) {
  if (c_.ranges_only || this_thread().busy) return;
  if (callbacks_.launches().functions_seen() <= 1) {
    // Some tools ask when they are loaded, whether or not they are used: Gable stays.
    c_.rt.notes.record(tool + " asked for CUPTI before the first kernel ran and was refused.");
    return;
  }
  ending_.for_tool(tool);
}

}  // namespace gable
