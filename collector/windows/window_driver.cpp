// SPDX-License-Identifier: Apache-2.0
#include "collector/windows/window_driver.h"

#include <algorithm>
#include <utility>

#include "analysis/base/no_cancel.h"
#include "collector/runtime/range_calls.h"

namespace gable {

WindowDriver::WindowDriver(Runtime& rt, EventSink& sink, Counters& counters,
                           ActivityStream& activity, WindowQueue& queue, CountingFallback& fallback,
                           WindowReader& reader, RecordClock& clock, Hooks hooks)
    : rt_(rt),
      sink_(sink),
      counters_(counters),
      activity_(activity),
      queue_(queue),
      fallback_(fallback),
      reader_(reader),
      clock_(clock),
      hooks_(std::move(hooks)),
      turns_([this] {
        queue_.flaw(kStuck);
        rt_.count_timeout();
      }) {}

// --- CUPTI follows

bool WindowDriver::apply_pending() {
  if (this_thread().busy) return false;
  const ChangeTurn turn(turns_);
  if (!turn.held()) return false;
  while (rt_.hot.pending.load(std::memory_order_acquire)) settle();
  return true;
}

void WindowDriver::settle() {
  std::vector<EndedWindow> ended;
  std::uint64_t asked = 0;
  const auto began = clock_.now();
  const bool activity = activity_.enabled();
  {
    const MutexLock hold(queue_.mutex());
    asked = queue_.asked();
    ended = queue_.take_ended();
  }
  wait_for_launches();
  const bool read = !ended.empty();
  for (auto& window : ended) reader_.read(std::move(window));
  follow_phase();
  const auto done = clock_.now();
  const MutexLock hold(queue_.mutex());
  queue_.settled(asked, read || activity != activity_.enabled(), began, done);
}

// Launches that are on their way belong to what was open before, and CUPTI must go on with it until
// they are through. One that is blocked for long is not waited for; its record may never come.
void WindowDriver::wait_for_launches() {
  const auto left = gate_.wait_for_others(kLaunchPatience);
  if (left.empty()) return;
  queue_.flaw(kStuck);
  rt_.count_timeout(static_cast<std::uint32_t>(left.size()));
  sink_.with_profile([&](Profile& profile) {
    for (const auto correlation : left) profile.expect_no_record(correlation);
  });
}

// Whatever came before: what is decided here is read here. What a border decides meanwhile has
// another turn.
void WindowDriver::follow_phase() {
  bool over = false, time = false, counter = false, idle = false;
  {
    const MutexLock hold(queue_.mutex());
    auto& state = queue_.state();
    over = state.to_let_go() && state.let_go();
    time = state.times();
    counter = state.counts();
    idle = state.state() == WindowState::State::idle;
  }
  if (!counters_.hangs() && !counters_.active()) {
    if (modules_loaded_.exchange(false, std::memory_order_relaxed)) (void)counters_.close();
  }
  if (time && !activity_.enabled()) {
    start_activity();
  } else if (counter) {
    // Both instrument code, and together they are a reported hang.
    if (!activity_.pause()) rt_.count_timeout();
  } else if (idle) {
    activity_.disable();
  }
  if (over) let_go();
}

void WindowDriver::start_activity() {
  auto failed = counters_.close().sentence;
  const bool hangs = counters_.hangs();
  if (hangs) queue_.flaw(kStuck);
  if (failed.empty() && hangs) return;  // said already
  // Where the profiler may still be enabled, neither records nor counters can be begun safely.
  if (failed.empty()) failed = counters_.not_closed().sentence;
  const bool lost = !failed.empty() && !hangs;
  std::string partly;
  if (lost)
    failed += " Nothing more is collected.";
  else if (!hangs)
    failed = activity_.enable(partly);
  if (!partly.empty()) rt_.notes.say(partly);
  if (failed.empty()) return;
  if (!lost && counters_.may_return()) {  // then times are taken in a later window
    queue_.flaw(kStuck);
    return;
  }
  if (!counters_.hangs()) rt_.notes.say(failed);
  const MutexLock hold(queue_.mutex());
  if (lost) {
    queue_.planner().give_up(PhaseKind::hw);
    queue_.planner().give_up(PhaseKind::flops);
  }
  queue_.planner().give_up(PhaseKind::time);
  if (queue_.state().times()) queue_.choose_again({});
}

// Records end before launches are followed no longer: a record whose launch nobody saw would pass
// for a lost one.
void WindowDriver::let_go() {
  if (const auto failure = counters_.close(); failure.failed() && !counters_.hangs())
    rt_.notes.say(failure.sentence + " Your program may run slower than without Gable.");
  fallback_.say_owed(queue_);
  activity_.disable();
  rt_.hot.watching.store(false, std::memory_order_release);
  set_ranges_active(false);
  hooks_.over();
}

// --- at a launch

WindowDriver::Entered WindowDriver::enter_as_it_is(ThreadState& thread, std::uint32_t correlation) {
  gate_.enter(thread, correlation);
  Entered entered;
  entered.step = rt_.hot.step.load(std::memory_order_acquire);
  if (!rt_.hot.pending.load(std::memory_order_seq_cst))
    entered.window = rt_.hot.window.load(std::memory_order_acquire);
  return entered;
}

// Borders come on other threads at any moment, and each asks for a change before it tells of
// itself. So what was read counts where no change was asked for after it was read: then whoever
// carries out the next one waits for this launch.
WindowDriver::Entered WindowDriver::enter(ThreadState& thread, const Counters::Place& place,
                                          std::uint32_t correlation) {
  for (;;) {
    std::optional<WindowId> joined = kNoWindow;
    if (rt_.hot.counters.load(std::memory_order_acquire)) joined = join_window(place);
    gate_.enter(thread, correlation);
    Entered entered;
    entered.step = rt_.hot.step.load(std::memory_order_acquire);
    if (!joined) return entered;  // another thread hangs in CUPTI
    entered.window = rt_.hot.window.load(std::memory_order_acquire);
    entered.counts = rt_.hot.counters.load(std::memory_order_acquire);
    const bool settled = !rt_.hot.pending.load(std::memory_order_seq_cst) &&
                         rt_.hot.step.load(std::memory_order_relaxed) == entered.step &&
                         (!entered.counts || *joined == entered.window);
    if (settled) return entered;
    LaunchGate::leave(thread);
    if (!settle_pending()) {
      gate_.enter(thread, correlation);
      return {kNoWindow, entered.step, false};
    }
  }
}

// Begins the window that is open on the context of a launch, unless that is done. Which window it
// is that the launch can be ranged in; none: no counters are taken. Nothing: another thread hangs
// in CUPTI.
std::optional<WindowId> WindowDriver::join_window(const Counters::Place& place) {
  {
    const MutexLock hold(queue_.mutex());
    const auto& state = queue_.state();
    if (!state.counts()) return kNoWindow;
    if (counters_.begun(place, state.window())) return state.window();
  }
  const ChangeTurn turn(turns_);
  if (!turn.held()) return std::nullopt;
  // Others had their turns meanwhile: nothing that was read before counts.
  while (rt_.hot.pending.load(std::memory_order_acquire)) settle();
  Phase phase;
  WindowId window = kNoWindow;
  RangeMode mode = counters_.mode();
  {
    const MutexLock hold(queue_.mutex());
    auto& state = queue_.state();
    if (!state.counts()) return kNoWindow;
    window = state.window();
    if (counters_.begun(place, window)) return window;
    if (!counters_.active()) mode = fallback_.choose_mode(queue_, state.phase().kind);
    // A border came since, or the ladder changed what is due: another turn.
    if (!state.counts() || state.window() != window || !state.begin_counting()) return kNoWindow;
    phase = state.phase();
  }
  counters_.set_mode(mode);
  const auto failure = counters_.begin(place, window, phase, queue_.max_ranges());
  if (failure.failed())
    refused(phase, failure);
  else
    fallback_.cut_windows(queue_);
  if (const auto contexts = counters_.sharing(place); contexts > 1) {
    const MutexLock hold(queue_.mutex());
    queue_.planner().share(contexts);
  }
  fallback_.say_owed(queue_);
  return window;
}

// A window could not begin. The queue goes on with this very window, counted in another way or not
// at all.
void WindowDriver::refused(Phase phase, const CuptiFailure& failure) {
  if (counters_.hangs()) {
    queue_.flaw(kStuck);
    return;
  }
  const bool counted = counters_.active();  // on another context, or a launch is in it
  (void)counters_.close();
  const auto trouble = fallback_.trouble_of(failure);
  const MutexLock hold(queue_.mutex());
  fallback_.fall_back(queue_, phase.kind, trouble);
  if (!queue_.state().counts()) return;
  // Not from its middle on.
  if (counted || queue_.ordinals() > 0) {
    queue_.flaw(kRefused);
    return;
  }
  queue_.choose_again("Counters were refused.");
  queue_.ask_for_change();
}

bool WindowDriver::range_launch(const Counters::Place& place, const LaunchKey& key, bool wanted,
                                std::uint32_t kernels) {
  const NoCancel hold;
  auto& thread = this_thread();
  const auto ordinal = queue_.next_ordinal();
  wanted = wanted && queue_.is_chosen(counters_.counted_key(key));
  thread.busy = true;
  const bool ranged = counters_.before_launch(place, ordinal, key, wanted, kernels);
  thread.busy = false;
  return ranged;
}

// --- what counters make room for

void WindowDriver::before_capture() {
  (void)settle_pending();
  auto& thread = this_thread();
  if (thread.busy || !rt_.hot.counters.load(std::memory_order_relaxed)) return;
  if (!are_pushed(counters_.mode()) && counters_.active()) {
    // What waits after every launch cannot while a stream captures.
    const ChangeTurn turn(turns_);
    if (turn.held()) (void)counters_.drop();
    return;
  }
  thread.busy = true;
  counters_.close_ranges();
  thread.busy = false;
}

void WindowDriver::before_collective() {
  fallback_.saw_collective();
  if (are_pushed(counters_.mode()) || this_thread().busy) return;
  const std::string seen = fallback_.communicator_seen()
                               ? "NCCL made a communicator, so kernels may wait for other ranks: "
                               : "A kernel of NCCL was launched, which may wait for other ranks: ";
  bool replay = false;
  {
    const ChangeTurn turn(turns_);
    if (!turn.held() || are_pushed(counters_.mode())) return;
    replay = counters_.mode() == RangeMode::replay;
    const bool counted = end_unpushed(kCollective);
    if (replay)
      leave_replay(seen, counted);
    else
      leave_automatic(seen + "Gable no longer waits after every launch.");
  }
  if (replay) (void)settle_pending();
}

void WindowDriver::before_graph() {
  fallback_.saw_graph();
  if (counters_.mode() != RangeMode::automatic || this_thread().busy) return;
  const ChangeTurn turn(turns_);
  if (!turn.held() || counters_.mode() != RangeMode::automatic) return;
  (void)end_unpushed(kGraph);
  leave_automatic("CUPTI makes no automatic ranges of CUDA graphs, and one was launched.");
}

// Ends the window that is open without reading it. Whether counters were taken in it.
bool WindowDriver::end_unpushed(WindowFlaw flaw) {
  const bool counted = counters_.active();
  (void)counters_.drop();
  if (!counters_.hangs()) (void)counters_.close();
  counters_.set_mode(RangeMode::user);
  if (counted) queue_.flaw(flaw);
  return counted;
}

void WindowDriver::leave_automatic(const std::string& why) {
  std::string instead = " Counting continues with user ranges.";
  {
    const MutexLock hold(queue_.mutex());
    auto step = queue_.ladder().forbid_automatic(fallback_.allowed());
    if (!step.sentence.empty()) instead = " " + std::exchange(step.sentence, {});
    fallback_.follow(queue_, PhaseKind::hw, step, {});
  }
  rt_.notes.say(why + instead);
}

void WindowDriver::leave_replay(const std::string& seen, bool counted) {
  fallback_.stop_counting(queue_, seen + "no kernel is replayed.");
  const MutexLock hold(queue_.mutex());
  if (counted || !queue_.state().counts()) return;
  queue_.choose_again({});
  queue_.ask_for_change();
}

void WindowDriver::context_ends(CUcontext context) {
  if (this_thread().busy) return;
  const ChangeTurn turn(turns_);
  if (!turn.held()) {
    counters_.abandon_context(context);  // whoever has the turn hangs in CUPTI
    return;
  }
  counters_.end_context(context);
  if (activity_.enabled()) hooks_.records_now();
}

// Counters may be why no kernel comes: what the program waits for may need another launch, or CUPTI
// holds it. The thread that would end the window may be blocked in the driver.
void WindowDriver::check_progress(std::chrono::milliseconds patience) {
  const auto now = std::chrono::steady_clock::now();
  const auto progress =
      (std::uint64_t{rt_.hot.step.load(std::memory_order_relaxed)} << 32) | queue_.ordinals();
  const bool waits = rt_.hot.watching.load(std::memory_order_relaxed) && counters_.active();
  if (!waits || progress != progress_) {
    progress_ = progress;
    progress_since_ = now;
    return;
  }
  if (now - progress_since_ < patience) return;
  const ChangeTurn turn(turns_, std::chrono::seconds(0));
  if (!turn.held()) return;  // that thread is in CUPTI, which is not to be disturbed
  (void)counters_.drop();
  if (!counters_.hangs()) (void)counters_.close();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience).count();
  const auto sentence = "No kernel was launched for " + std::to_string(seconds) +
                        " s while counters were taken; that window was ended.";
  if (!counters_.hangs()) rt_.notes.say(sentence);
  end_stalled(sentence);
  fallback_.say_owed(queue_);
}

void WindowDriver::end_stalled(const std::string& sentence) {
  const MutexLock hold(queue_.mutex());
  const auto ended = queue_.spoil_ended(sentence);
  const auto kind = ended.value_or(queue_.state().phase()).kind;
  fallback_.fall_back(queue_, kind, {CountingLadder::Cause::stalled, sentence});
  // What is left of the step is in no window; the next one is as if nothing had been.
  if (!ended && queue_.state().counts()) queue_.replace_window({PhaseKind::wait, 0}, sentence);
}

}  // namespace gable
