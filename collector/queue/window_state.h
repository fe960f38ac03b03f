// SPDX-License-Identifier: Apache-2.0
// Where the queue stands: whether a window is open, and how far CUPTI has followed. Pure code: no
// CUPTI, no threads; the caller's lock guards it.
//
// A border announces a window on whatever thread it comes; the next launch makes CUPTI follow, and
// only then do launches belong to the window. An ended counter window stays unread until then.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "analysis/events/events.h"

namespace gable {

class WindowState {
 public:
  enum class State : std::uint8_t {
    between,    // no window is open, but more will follow
    announced,  // one is open, but CUPTI does not follow yet: no launch belongs to it
    open,       // CUPTI follows, and launches belong to it
    idle,       // the queue has no window left, but steps may still be found, which begin a new one
    complete,   // the queue has no window left
    stopped,    // the program ended the queue, whatever is missing
    over,       // CUPTI was released, or the program ends
  };
  enum class Event : std::uint8_t {
    begin,    // a window that collects something begins
    pass,     // a window for waiting or warm-up begins: CUPTI has nothing to do
    follow,   // CUPTI follows
    end,      // the window ends
    rest,     // there is no window left, for now
    finish,   // there is no window left
    revive,   // a window turned out to be useless when read: it is repeated
    stop,     // the program ends the queue
    let_go,   // CUPTI is released
    quit,     // the program ends
    reopen,   // another queue begins
    restart,  // the queue is restarted
  };
  struct Transition {
    State from;
    Event event;
    State to;
  };
  // All valid transitions; any other is refused.
  static constexpr std::array kTransitions = {
      Transition{State::between, Event::begin, State::announced},
      Transition{State::between, Event::pass, State::open},
      Transition{State::between, Event::rest, State::idle},
      Transition{State::between, Event::finish, State::complete},
      Transition{State::between, Event::stop, State::stopped},
      Transition{State::between, Event::restart, State::between},
      Transition{State::announced, Event::follow, State::open},
      Transition{State::announced, Event::end, State::between},
      Transition{State::open, Event::end, State::between},
      Transition{State::idle, Event::begin, State::announced},
      Transition{State::idle, Event::pass, State::open},
      Transition{State::idle, Event::rest, State::idle},
      Transition{State::idle, Event::finish, State::complete},
      Transition{State::idle, Event::stop, State::stopped},
      Transition{State::idle, Event::restart, State::between},
      Transition{State::complete, Event::revive, State::between},
      Transition{State::complete, Event::stop, State::stopped},
      Transition{State::complete, Event::let_go, State::over},
      Transition{State::stopped, Event::let_go, State::over},
      Transition{State::over, Event::reopen, State::between},
      Transition{State::between, Event::quit, State::over},
      Transition{State::idle, Event::quit, State::over},
      Transition{State::complete, Event::quit, State::over},
      Transition{State::stopped, Event::quit, State::over},
      Transition{State::over, Event::quit, State::over},
  };

  [[nodiscard]] State state() const { return state_; }
  // The open window, else the last one; kNoWindow before the first.
  [[nodiscard]] WindowId window() const { return window_; }
  [[nodiscard]] Phase phase() const { return phase_; }
  [[nodiscard]] bool in_window() const {
    return state_ == State::announced || state_ == State::open;
  }
  [[nodiscard]] bool counts() const { return in_window() && is_counter(phase_.kind); }
  [[nodiscard]] bool times() const { return in_window() && phase_.kind == PhaseKind::time; }
  [[nodiscard]] bool collects() const { return counts() || times(); }
  // The window that a launch beginning now belongs to. A counter window counts from its
  // announcement on, because the launch makes CUPTI follow before it proceeds.
  [[nodiscard]] WindowId of_launches() const {
    return counts() || (times() && state_ == State::open) ? window_ : kNoWindow;
  }
  // Whether no further window opens.
  [[nodiscard]] bool ended() const {
    return state_ == State::complete || state_ == State::stopped || state_ == State::over;
  }
  [[nodiscard]] bool to_let_go() const {
    return unread_ == 0 && (state_ == State::complete || state_ == State::stopped);
  }
  [[nodiscard]] std::uint32_t unread() const { return unread_; }

  // Each returns false and changes nothing if the table has no such transition or its own condition
  // does not hold.
  [[nodiscard]] bool begin(Phase phase);  // Event::begin or Event::pass
  [[nodiscard]] bool follow();            // not while an ended window is unread
  // `unread`: its counters must still be read, because CUPTI began to take them.
  [[nodiscard]] bool end(bool unread);
  [[nodiscard]] bool rest() { return step(Event::rest); }
  [[nodiscard]] bool finish() { return step(Event::finish); }
  [[nodiscard]] bool revive() { return step(Event::revive); }
  [[nodiscard]] bool stop() { return step(Event::stop); }
  [[nodiscard]] bool let_go();  // not while an ended window is unread
  [[nodiscard]] bool quit() { return step(Event::quit); }
  [[nodiscard]] bool reopen();
  [[nodiscard]] bool restart() { return step(Event::restart); }
  // Says that CUPTI takes counters in the open window. Returns false if it is no counter window or
  // CUPTI does not follow yet.
  [[nodiscard]] bool begin_counting();
  [[nodiscard]] bool counting() const { return counting_; }
  // Says that an ended window was read; returns false if there was none.
  [[nodiscard]] bool read_one();

 private:
  [[nodiscard]] bool step(Event event);

  State state_ = State::between;
  bool counting_ = false;  // CUPTI has begun to take counters in the window
  Phase phase_;
  WindowId window_ = kNoWindow, last_ = kNoWindow;
  std::uint32_t unread_ = 0;  // ended windows not read yet
};

[[nodiscard]] std::string_view to_string(WindowState::State state);

}  // namespace gable
