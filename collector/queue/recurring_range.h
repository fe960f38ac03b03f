// SPDX-License-Identifier: Apache-2.0
// Finds the range that is a step although nobody named it: it recurs around launches, and nothing
// is launched between its instances. Pure code, fed the ranges of one thread (and those of the
// whole process) that are outermost or one level below.
//
// An outermost range that comes again at once, around at least kShortest launches, is the step from
// its second instance on. Several ranges in turn (forward, backward, optimizer) are one step
// together; as layers and operators come in turn as well, those must have had the same launches
// twice. So must ranges within one that is still open (`step` within `epoch`), and those in which
// threads launch side by side rather than one after the other. Names with different numbers are
// different names.
//
// Once steps are followed, another range at their level is a step of its own from its second
// instance on (decode beside prefill, validation beside training). Where launches lie between the
// ranges again and again, or none of them comes any more, they were not the steps.
//
// Other threads may launch within a step (PyTorch runs backward on threads of its own), but not as
// they please: then no range of one thread is the step of all. It shows in launches of theirs while
// the range was closed, in ranges of theirs around launches that go on beyond its borders, and in
// instances in a row that have the same launches of their own thread and others of other threads.
// A range that was just found is dropped at the first such sign, one that has proven itself at the
// second; and after a sign kProof instances have to pass without one.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/events/layer_tree.h"

namespace gable {

enum class RangeMark : std::uint8_t {
  none,
  found,   // the first step begins with this range
  begins,  // a step begins; one that is open ends before it
  ends,    // the step ends with this range
  gone     // what was found is no step and must be forgotten
};

// All launches of the process so far, whichever thread made them, and the sum of their hashes.
struct LaunchesSeen {
  std::uint64_t launches = 0, hash = 0;
  std::uint64_t own = 0;         // those of the thread that begins or ends the range
  std::uint64_t switches = 0;    // launches on another thread than the previous one
  const void* caller = nullptr;  // the thread that begins or ends the range
};

class RecurringRange {
 public:
  static constexpr std::uint32_t kLevels = 2;       // outermost, and one below
  static constexpr std::uint64_t kShortest = 8;     // fewest launches in a step, as for a period
  static constexpr std::uint64_t kLongest = 65536;  // launches: as many as a window has ranges
  static constexpr std::uint64_t kNearlyNone = 64;  // one launch in this many may lie outside
  static constexpr std::size_t kMostInTurn = 8;     // most ranges that form one step together
  static constexpr std::size_t kMostKnown = 16;     // most other ranges that are steps too
  static constexpr std::uint32_t kMostStrikes = 2;  // gaps with launches before giving up
  static constexpr std::uint32_t kMostFound = 3;    // ranges found before the search stops
  static constexpr std::uint64_t kInTurn = 8;       // fewest launches per switch between threads
  static constexpr std::uint32_t kProof = 8;        // instances without a sign of free threads
  static constexpr std::size_t kMostThreads = 64;   // most threads watched beside the leader

  // `thread` is null for a range of the whole process. `range` tells places in the program apart:
  // the same parents, domain and name are the same range.
  RangeMark begin(std::uint32_t level, LayerId range, const void* thread, LaunchesSeen seen);
  RangeMark end(std::uint32_t level, const void* thread, LaunchesSeen seen);

  // Number of launches after which, without another step, the program has moved on: call forget()
  // then.
  [[nodiscard]] std::uint64_t patience_ends() const { return patience_ends_; }
  // Forgets what is followed: it is no step any more.
  void forget();
  // Called when ranges were missed: following resumes with the next instance.
  void skip();

  [[nodiscard]] bool follows() const { return follows_; }
  [[nodiscard]] bool gave_up() const { return found_ >= kMostFound && !follows_; }
  // The ranges that are followed, in turn; first() is the launches of the instance (or turn) before
  // the first step.
  [[nodiscard]] const std::vector<LayerId>& ranges() const { return turn_; }
  [[nodiscard]] LaunchesSeen first() const { return first_; }
  // Whether the steps' launches were seen to repeat before they were accepted.
  [[nodiscard]] bool repeated() const { return repeated_; }

 private:
  struct Instance {
    LayerId range = 0;
    LaunchesSeen from, had = {};  // launches seen at its begin; launches in it
    // Launches of other threads; 0 if it ended on another thread than it began on.
    std::uint64_t others = 0;
  };
  struct Level {
    std::vector<Instance> past;  // instances with launches, the newest last
    LaunchesSeen closed;         // launches seen when the last instance ended
    Instance open;
    bool is_open = false;
  };
  // Whether other threads launch freely around the ranges of a level.
  struct Freedom {
    std::uint64_t borders = 0;     // borders of the leader's ranges so far
    std::uint32_t since = kProof;  // instances since the last sign
    std::uint32_t shuffled = 0;    // instances in a row that differ because of other threads
  };
  // The outermost open range of another thread.
  struct Other {
    const void* thread = nullptr;
    std::uint32_t level = 0;
    std::uint64_t own = 0;  // the thread's launches when it began
    std::array<std::uint64_t, kLevels> borders{};
  };
  RangeMark begin_leading(std::uint32_t level, LayerId range, LaunchesSeen seen);
  RangeMark end_leading(std::uint32_t level, const void* thread, LaunchesSeen seen);
  void other_begins(std::uint32_t level, const void* thread, LaunchesSeen seen);
  RangeMark other_ends(std::uint32_t level, const void* thread, LaunchesSeen seen);
  // Whether other threads launched since the last range of that level ended.
  [[nodiscard]] static bool others_between(const Level& at, LayerId range, LaunchesSeen seen);
  // Whether other threads launched in it at the same time as its own thread.
  [[nodiscard]] static bool side_by_side(const Instance& one);
  void compare(std::uint32_t level, const Instance& ended);
  void sign(std::uint32_t level);
  RangeMark heed_signs();
  RangeMark look(std::uint32_t level, LaunchesSeen seen);
  // Whether the instances from `from` on, up to a range that begins now, form one turn of ranges.
  [[nodiscard]] bool covers(const Level& at, std::size_t from, std::size_t to,
                            std::uint64_t until) const;
  RangeMark take(std::uint32_t level, std::size_t from, bool repeated, LaunchesSeen seen);
  RangeMark follow_begin(LayerId range, LaunchesSeen seen);
  RangeMark follow_end(const Instance& ended, LaunchesSeen seen);
  RangeMark step_begins(LaunchesSeen seen);
  RangeMark step_ends(LaunchesSeen seen);
  [[nodiscard]] bool knows(LayerId range) const;
  void remember(const Instance& one);
  [[nodiscard]] bool listens_to(const void* thread);

  std::array<Level, kLevels> levels_;
  std::array<Freedom, kLevels> freedom_;
  std::vector<Other> others_;
  const void* leader_ = nullptr;  // the thread whose ranges are looked at

  bool follows_ = false, repeated_ = false;
  std::uint32_t followed_level_ = 0, found_ = 0, strikes_ = 0;
  std::uint32_t steps_ = 0;     // steps ended since it was found
  bool sign_pending_ = false;   // at the level that is followed
  std::vector<LayerId> turn_;   // the ranges that are one step together
  std::vector<LayerId> known_;  // other ranges at that level that had launches
  LaunchesSeen first_;
  std::size_t at_ = 0;    // index in turn_ of the next range
  bool in_step_ = false;  // a step is open
  LayerId own_ = 0;       // the open step is this range, not in turn_; 0: it is a turn
  std::uint64_t step_from_ = 0, last_end_ = 0, outside_ = 0, longest_ = 0, last_ = 0;
  std::uint64_t inside_all_ = 0, outside_all_ = 0, patience_ends_ = ~std::uint64_t{0};
};

}  // namespace gable
