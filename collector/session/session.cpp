// SPDX-License-Identifier: Apache-2.0
#include "collector/session/session.h"

#include <time.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "analysis/profile/range_rows.h"
#include "collector/cupti/cupti_advice.h"
#include "collector/cupti/current_context.h"
#include "collector/cupti/helpers.h"
#include "collector/runtime/range_calls.h"
#include "collector/session/other_tools.h"

namespace gable {
namespace {

constexpr std::chrono::milliseconds kExitFlushPatience{2000};  // for one answer of CUPTI
constexpr std::chrono::milliseconds kTurnPatience{2500};   // for a thread that waits for one answer
constexpr std::uint64_t kStartPatienceNs = 2'000'000'000;  // for one that is late already

ProfileLimits limits_of(const Settings& settings) {
  ProfileLimits limits;
  limits.max_keys = settings.max_keys;
  return limits;
}

// The first call that does not return is said once.
std::shared_ptr<Helpers> helpers_of(Runtime& rt) {
  auto helpers = std::make_shared<Helpers>();
  helpers->patience->tell([&rt](const std::string& sentence) { rt.notes.say(sentence); });
  return helpers;
}

bool wants_counters(const Settings& settings) { return settings.phase_hw || settings.phase_flops; }

// Tests on the playback GPU cannot wait as long as is right elsewhere.
std::chrono::milliseconds or_shorter(const char* variable, std::chrono::milliseconds usual) {
  const char* text = std::getenv(variable);
  const auto ms = text != nullptr ? std::strtol(text, nullptr, 10) : 0;
  return ms > 0 ? std::chrono::milliseconds(ms) : usual;
}

// How long a counter window may go without a launch.
std::chrono::milliseconds stall_patience() {
  return or_shorter("GABLE_PLAYBACK_STALL_MS", std::chrono::milliseconds(10000));
}

std::uint64_t snapshot_interval_ns() {
  const std::chrono::nanoseconds usual(SnapshotPace::kEveryNs);
  const auto chosen = or_shorter("GABLE_PLAYBACK_SNAPSHOT_MS",
                                 std::chrono::duration_cast<std::chrono::milliseconds>(usual));
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(chosen).count());
}

std::uint64_t thread_cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
}

}  // namespace

Session::Session(Runtime& rt, CuptiApi api)
    : rt_(rt),
      api_(std::move(api)),
      driver_(load_driver()),
      subscription_(api_),
      stall_patience_(stall_patience()),
      sink_(rt.layers, rt.functions, limits_of(rt.settings)),
      filter_({rt.settings.kernels, rt.settings.include, rt.settings.exclude}, rt.layers,
              rt.functions),
      graph_nodes_(rt.layers),
      activity_(api_, rt.functions,
                [this](std::uint64_t node) -> std::optional<FunctionId> {
                  // As long as no module is gone, the record knows best.
                  if (unload_epoch_.load(std::memory_order_relaxed) == 1) return std::nullopt;
                  return graph_nodes_.function_of(node);
                }),
      range_choice_(choose_ranges(rt.settings, rt.ranks)),
      counters_(api_, range_choice_.mode, rt.functions.intern(kRangeSymbol)),
      windows_(
          rt, api_, sink_, counters_, activity_,
          {[this] { return wait_for_plan(); }, [this] { return known_plan(); },
           [this] { background_.wake(Background::kOver); }, [this] { background_.request_flush(); },
           [this] { background_.flush(true, kExitFlushPatience); },
           [this](const LaunchKey& key) {
             return rt_.functions.intern(kRangeSymbol) == key.function || filter_.wanted(key);
           }}),
      output_(rt),
      recording_(rt),
      background_(*this),
      snapshots_(snapshot_interval_ns()) {
  counters_.memory().find();
  if (range_choice_.mode == RangeMode::layer)
    sink_.with_profile([](Profile& profile) { profile.count_ranges(); });
  if (!rt.settings.record.empty()) {
    sink_.record(std::make_unique<RunRecorder>());
    counters_.keep_images(&recording_.images());
  }
  if (!range_choice_.sentence.empty()) rt_.notes.say(range_choice_.sentence);
}

Session* Session::start(Runtime& rt) {
  const WithinDriverStart here;
  CuptiWish wish;
  wish.preferred = rt.settings.cupti;
  wish.helpers = helpers_of(rt);
  return start(rt, load_cupti(wish));
}

std::string Session::subscribe() {
  if (!api_.can_trace) return api_.why_not;
  const auto late = [this](const std::string& sentence) { subscribed_late(sentence); };
  auto refused = subscription_.begin(callback, this, late);
  // It stays loaded: one that was called may have left threads and handlers behind. A second CUPTI
  // beside the program's own would fight with it.
  CuptiWish wish;
  wish.helpers = api_.helpers;
  while (!refused.empty() && !stuck(api_) && subscription_.driver_refused() && !api_.of_program) {
    wish.refused.push_back(api_.path);
    auto next = load_cupti(wish);
    if (!next.can_trace) return refused;
    const auto last = std::exchange(api_, std::move(next));
    const auto sentence = subscription_.begin(callback, this, late);
    if (!sentence.empty()) continue;
    rt_.notes.say("The driver refused the CUPTI " + last.path + " (" + cuda_release(last.version) +
                  "), which is probably newer than the driver; " + api_.path + " (" +
                  cuda_release(api_.version) + ") is used instead.");
    refused.clear();
  }
  return refused;
}

Session* Session::start(Runtime& rt, CuptiApi api) {
  find_driver();
  if (api.helpers == nullptr) api.helpers = helpers_of(rt);
  auto* session = new Session(rt, std::move(api));  // never freed: CUPTI may keep a pointer
  const std::string refused = session->subscribe();
  if (session->api_.can_trace && !session->api_.can_profile && wants_counters(rt.settings))
    rt.notes.say(session->api_.why_not);
  if (!session->background_.start()) {
    rt.notes.say(
        "No threads can be started in this process. Nothing is collected; your program runs on.");
    session->subscription_.end();
    return nullptr;
  }
  rt.session.store(session, std::memory_order_release);
  auto start = Start::under_way;
  const bool waits = session->api_.can_trace && !refused.empty() && stuck(session->api_) &&
                     session->start_.compare_exchange_strong(start, Start::waits);
  if (waits) {
    session->waits_since_ns_ = steady_ns();
  } else if (refused.empty() || start == Start::came_late) {
    session->start_.store(Start::over);
    session->collect();
  } else {
    if (!stuck(session->api_))
      rt.notes.say(refused + " Only NVTX ranges are collected; your program runs on.");
    session->start_.store(Start::over);
    session->collect_ranges_only();
  }
  return session;
}

void Session::collect() {
  if (rt_.ranks && rt_.settings.budget) rt_.notes.say(std::string(kNoBudgetWithRanks));
  rt_.ranges.set_listener(&windows_);
  if (const auto block = rt_.early_block.take()) begin_block(*block);
  rt_.hot.watching.store(true, std::memory_order_release);
  watch_for_other_tools();
}

void Session::collect_ranges_only() {
  ranges_only_.store(true);
  saw_context_.store(true);  // no plan is to be made
  {
    const MutexLock hold(plan_mutex_);
    devices_known_ = true;
  }
  rt_.hot.span_window.store(kWholeRun, std::memory_order_relaxed);
}

void Session::subscribed_late(const std::string& refused) {
  if (!refused.empty()) return;
  auto start = Start::under_way;
  if (start_.compare_exchange_strong(start, Start::came_late)) return;
  if (start == Start::waits && start_.compare_exchange_strong(start, Start::over) &&
      !finished_.load())
    return collect();
  subscription_.end();
}

// --- records and reports
// ------------------------------------------------------------------------------------------------

bool Session::collect_records() {
  // Two threads may end the collection at once: who finds no buffers must not go on before the
  // other has added its records. One that CUPTI does not let go is not waited for any longer.
  {
    UniqueLock hold(records_mutex_);
    if (!records_read_.wait_for(hold, kTurnPatience, [this]() GABLE_REQUIRES(records_mutex_) {
          return !reading_records_;
        })) {
      windows_.count_timeout();
      return false;
    }
    reading_records_ = true;
  }
  struct Turn {
    Session& session;
    ~Turn() {
      const MutexLock hold(session.records_mutex_);
      session.reading_records_ = false;
      session.records_read_.notify_all();
    }
  } const turn{*this};
  auto batch = activity_.read_buffers();
  const bool answered = batch.answered;
  if (!batch.problem.empty()) {
    rt_.notes.say(batch.problem);
    sink_.with_profile([](Profile& profile) { profile.lose_copies(); });
  }
  if (batch.kernels.empty() && batch.graph_kernels.empty() && batch.copies.empty() &&
      batch.dropped == 0)
    return answered;
  records_.fetch_add(batch.kernels.size() + batch.graph_kernels.size() + batch.copies.size(),
                     std::memory_order_relaxed);
  graph_nodes_.place(batch.graph_kernels, batch.copies);
  sink_.with_profile([&](Profile& profile) {
    const auto add = [&](const auto& records) {
      for (const auto& record : records) profile.add(record);
      if (auto* recorder = sink_.recorder(); recorder != nullptr)
        for (const auto& record : records) recorder->add(record);
    };
    add(batch.kernels);
    add(batch.graph_kernels);
    add(batch.copies);
    LostCounts lost;
    lost.records = batch.dropped;
    if (batch.dropped > 0) profile.add_lost(lost);
  });
  return answered;
}

bool Session::write_report(bool complete) {
  if (ranges_only_) sink_.take_spans(kWholeRun);
  if (complete) {
    if (!ranges_only_) windows_.keep_what_was_measured();
    if (const auto count = windows_.timeouts(); count > 0)
      rt_.notes.record(std::to_string(count) + (count == 1 ? " wait" : " waits") +
                       " for CUPTI, the GPU or another thread ended at the time limit.");
    for (const auto& sentence : filter_.unmatched()) rt_.notes.say(sentence);
  }
  if (complete && !ranges_only_) recording_.write(sink_, windows_);
  return output_.write(sink_, windows_, counters_, complete, finished_.load());
}

SnapshotContent Session::content_so_far() {
  const auto progress = sink_.progress();
  // Where only ranges are collected, nobody counts them.
  return {ranges_only_ ? steady_ns() : progress.events, records_.load(std::memory_order_relaxed),
          progress.windows};
}

void Session::write_snapshot() {
  const auto content = content_so_far();
  const auto now = steady_ns();
  if (!snapshots_.due(now, content)) return;
  const auto cpu = thread_cpu_ns();
  (void)write_report(false);
  snapshots_.wrote(now, thread_cpu_ns() - cpu, content);
  if (snapshots_.is_stretched()) output_.snapshots_come_every(snapshots_.interval_ns());
}

void Session::count_tokens(std::uint32_t sequences, std::uint32_t per_sequence) {
  const WindowId window = rt_.hot.span_window.load(std::memory_order_relaxed);
  if (window == kNoWindow) return;
  auto& thread = this_thread();
  bool inherited = false;
  Event event;
  event.kind = Event::Kind::tokens;
  event.tokens = {layer_of_launch(rt_, thread, inherited), window, sequences, per_sequence};
  sink_.emit(thread, event);
}

void Session::check_progress() {
  auto waits = Start::waits;
  if (start_.load() == waits && steady_ns() - waits_since_ns_ > kStartPatienceNs &&
      start_.compare_exchange_strong(waits, Start::over))
    collect_ranges_only();
  if (!ranges_only_ && !finished_.load()) windows_.check_progress(stall_patience_);
}

}  // namespace gable
