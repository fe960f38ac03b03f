// SPDX-License-Identifier: Apache-2.0
// What is counted where CUPTI refuses what was asked of it: a ladder, on which each kind of
// counters (hardware, FLOPs) goes down one rung after the other, and what still works goes on. Pure
// code: told what failed and what is allowed, it says what is taken next, and in which words.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "analysis/events/events.h"
#include "collector/queue/range_join.h"

namespace gable {

class CountingLadder {
 public:
  enum class Rung : std::uint8_t {
    replay,     // CUPTI runs each kernel several times, as the user asked
    launches,   // a range of ours around each launch
    automatic,  // a range of CUPTI's for each kernel, after which it waits
    trial,      // one window with a range of ours for each layer, which shows whether these work
    layers,     // ranges of layers
    none,       // this kind of counters is not taken any more
  };
  struct Way {
    Rung from, to;
  };
  // From a rung a kind goes the first way that is allowed. A trial that succeeds leads to layers.
  static constexpr std::array kWays = {
      Way{Rung::replay, Rung::none},      Way{Rung::launches, Rung::automatic},
      Way{Rung::launches, Rung::trial},   Way{Rung::launches, Rung::layers},
      Way{Rung::launches, Rung::none},    Way{Rung::automatic, Rung::trial},
      Way{Rung::automatic, Rung::layers}, Way{Rung::automatic, Rung::none},
      Way{Rung::trial, Rung::none},       Way{Rung::layers, Rung::none},
  };

  enum class Cause : std::uint8_t {
    refused,   // a call of CUPTI's failed
    denied,    // with an answer that no other way of asking changes; or nobody knows its state
    misfit,    // a window's counters are not those of its launches
    too_many,  // its launches are more than the ranges that CUPTI takes
    stalled,   // no kernel was launched for long
  };
  struct Allowed {
    bool automatic = true;  // nothing waits for what waits after every launch
    bool layers = true;     // nobody asked for what only single launches have
  };
  struct Step {
    bool moved = false;          // ranges change, or what is counted
    bool scope_changed = false;  // from launches to layers or back: counters begin anew
    std::string sentence;        // what is taken now; empty: nothing changed
  };

  static constexpr std::uint32_t kMisfits = 3;  // in a row; then a rung does not work
  static constexpr std::uint32_t kStalls = 3;   // in a row; then counters are what stalls

  // Where `first` is what the user chose.
  explicit CountingLadder(RangeMode first, bool hw = true, bool flops = true);

  [[nodiscard]] Rung rung(PhaseKind kind) const { return of(kind).rung; }
  [[nodiscard]] bool taken(PhaseKind kind) const { return rung(kind) != Rung::none; }
  [[nodiscard]] RangeMode mode(PhaseKind kind) const;          // of the kind's next window
  [[nodiscard]] bool by_layers() const { return by_layers_; }  // what counters are of
  [[nodiscard]] bool works(PhaseKind kind) const { return of(kind).works; }
  // The window only shows whether ranges work; its counters are not kept.
  [[nodiscard]] bool on_trial(PhaseKind kind) const { return rung(kind) == Rung::trial; }

  // A kind that cannot be had for other reasons.
  void leave_out(PhaseKind kind) { of(kind).rung = Rung::none; }
  // Another queue: what was refused is asked for again.
  void begin_anew();

  // A window of the kind could not begin, or its counters are worth nothing.
  [[nodiscard]] Step failed(PhaseKind kind, Cause cause, const Allowed& allowed);
  [[nodiscard]] Step give_up_all();
  // A window was read, and its counters fit.
  [[nodiscard]] Step worked(PhaseKind kind);
  // Other ranks may wait from here on. The mode of a kind that was counted so changes.
  [[nodiscard]] Step forbid_automatic(const Allowed& allowed);

 private:
  struct Kind {
    Rung rung = Rung::launches;
    bool works = false;                                   // a window fitted on this rung
    bool fell = false;                                    // it failed on a rung above
    std::uint32_t refusals = 0, misfits = 0, stalls = 0;  // in a row
  };
  [[nodiscard]] const Kind& of(PhaseKind kind) const {
    return kind == PhaseKind::flops ? flops_ : hw_;
  }
  [[nodiscard]] Kind& of(PhaseKind kind) { return kind == PhaseKind::flops ? flops_ : hw_; }
  [[nodiscard]] bool bears(Kind& kind, Cause cause) const;
  [[nodiscard]] bool may_take(const Way& way, Cause cause, const Allowed& allowed) const;
  [[nodiscard]] Step go_down(PhaseKind kind, Cause cause, const Allowed& allowed);
  [[nodiscard]] Step give_up(PhaseKind kind, Cause cause);
  [[nodiscard]] Step take_layers(PhaseKind kind);

  const Rung first_;
  bool by_layers_ = false;
  bool counted_ = false;  // a window fitted in this scope
  Kind hw_, flops_;
};

}  // namespace gable
