// SPDX-License-Identifier: Apache-2.0
// What is counted when CUPTI refuses a request: a ladder on which each kind of counters (hardware,
// FLOPs) descends rung by rung to one that works. Pure code: it is told what failed and what is
// allowed, and returns the next rung and the sentence for the user.
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
    launches,   // Gable puts a range around each launch
    automatic,  // CUPTI makes a range for each kernel and waits after it
    trial,      // one window with a range for each layer, to see whether those work
    layers,     // Gable puts a range around each layer
    none,       // this kind of counters is not taken any more
  };
  struct Way {
    Rung from, to;
  };
  // A kind leaves a rung by the first way that is allowed. A successful trial leads to layers.
  static constexpr std::array kWays = {
      Way{Rung::replay, Rung::none},      Way{Rung::launches, Rung::automatic},
      Way{Rung::launches, Rung::trial},   Way{Rung::launches, Rung::layers},
      Way{Rung::launches, Rung::none},    Way{Rung::automatic, Rung::trial},
      Way{Rung::automatic, Rung::layers}, Way{Rung::automatic, Rung::none},
      Way{Rung::trial, Rung::none},       Way{Rung::layers, Rung::none},
  };

  enum class Cause : std::uint8_t {
    refused,   // a CUPTI call failed
    denied,    // a call failed as it would on any rung, or CUPTI's state is unknown
    misfit,    // a window's counters are not those of its launches
    too_many,  // a window has more launches than CUPTI takes ranges
    stalled,   // no kernel was launched for long
  };
  struct Allowed {
    bool automatic = true;  // CUPTI may wait after every launch
    bool layers = true;     // the user asked for nothing that needs single launches
  };
  struct Step {
    bool moved = false;          // ranges change, or what is counted
    bool scope_changed = false;  // between launches and layers: counting restarts
    std::string sentence;        // what is taken now; empty: nothing changed
  };

  static constexpr std::uint32_t kMisfits = 3;  // in a row before a rung is given up
  static constexpr std::uint32_t kStalls = 3;   // in a row before counters are blamed

  // `first`: the mode that the user chose.
  explicit CountingLadder(RangeMode first, bool hw = true, bool flops = true);

  [[nodiscard]] Rung rung(PhaseKind kind) const { return of(kind).rung; }
  [[nodiscard]] bool taken(PhaseKind kind) const { return rung(kind) != Rung::none; }
  [[nodiscard]] RangeMode mode(PhaseKind kind) const;          // the mode of the kind's next window
  [[nodiscard]] bool by_layers() const { return by_layers_; }  // per layer, not per launch
  [[nodiscard]] bool works(PhaseKind kind) const { return of(kind).works; }
  // The next window only tests whether ranges work; its counters are discarded.
  [[nodiscard]] bool on_trial(PhaseKind kind) const { return rung(kind) == Rung::trial; }

  // Stops counting a kind that is unavailable for another reason.
  void leave_out(PhaseKind kind) { of(kind).rung = Rung::none; }
  // Called for another queue: forgets failures, and tries kinds again that were given up.
  void begin_anew();

  // Called when a window of the kind could not begin or its counters are useless.
  [[nodiscard]] Step failed(PhaseKind kind, Cause cause, const Allowed& allowed);
  [[nodiscard]] Step give_up_all();
  // Called when a window was read and its counters fit its launches.
  [[nodiscard]] Step worked(PhaseKind kind);
  // Rules out automatic ranges, because other ranks may wait; kinds that used them change mode.
  [[nodiscard]] Step forbid_automatic(const Allowed& allowed);

 private:
  struct Kind {
    Rung rung = Rung::launches;
    bool works = false;                                   // a window fitted on this rung
    bool fell = false;                                    // the kind failed on a higher rung
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
