// SPDX-License-Identifier: Apache-2.0
// Opens and closes ranges on the calling thread for NVTX, for the Python side that follows modules,
// and for programs that call Gable. Each call returns at once while ranges are not followed. The
// caller catches exceptions (out of memory).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/events/events.h"
#include "analysis/events/layer_model.h"
#include "collector/layers/module_table.h"
#include "collector/layers/range_tracker.h"

namespace gable {

struct Runtime;
struct ThreadState;

namespace detail {
inline std::atomic<bool> ranges_active{true};
}

// Whether ranges are followed, which lasts until the collection is over.
[[nodiscard]] inline bool ranges_active() {
  return detail::ranges_active.load(std::memory_order_relaxed);
}
void set_ranges_active(bool active);
// `then` is called whenever ranges are followed again, on whatever thread opens the queue.
void when_ranges_follow(void (*then)());

// Returns the depth before the push, as nvtxRangePush does.
int push_range(DomainId domain, std::string_view name, Direction direction);
int pop_range(DomainId domain);

// --- autograd, on the thread that runs it
void backward_begins();
void backward_ends();

// --- modules and ranges of Gable's own domain
// A depth counts the ranges of that domain that are open on the thread. Closing down to a depth
// also ends what was left open inside, so that one lost call does no lasting harm.

// Opens the layer of a module; returns its depth, or 0 if it must be named first.
int open_module(ModuleToken token);
// Names the module and opens it: `names` are the levels below the module that is open `level`
// places further out (0 the innermost), or below everything that is open when `level` is negative.
// No names: a wrapper, which is no layer of its own.
int name_module(ModuleToken token, int level, const std::vector<std::string_view>& names,
                std::string_view dotted);
// The module that is open `level` places from the innermost one; 0 when there is none.
[[nodiscard]] ModuleToken open_module_at(int level);
// The layer of that module, where it is open on the thread and one of its own; else 0.
[[nodiscard]] LayerId layer_of_module(ModuleToken token);
// `automatic`: the range ends when anything of the domain is opened or closed beside it.
int open_own_range(std::string_view name, Direction direction, bool automatic);
// A part of a compiled region, which takes the place of the part that is open on the thread, and
// ends with whatever else opens or closes there. Its token is no module's. In backward it is a
// layer of backward. Returns its depth, or 0 if it must be named first.
int open_part(ModuleToken token);
// Names it and opens it: `names` are the levels below the layer in which the region's kernels are.
// The first of them, as many as `modules` says, are modules: within that layer's module (`within`),
// or else the first one is the class of a model. `fused`: the modules of a kernel that was made of
// several, by such names.
int name_part(ModuleToken token, const std::vector<std::string_view>& names, std::size_t modules,
              bool within, std::vector<SourceModule> fused);
void end_part();
// Returns true if that ended the outermost module, unless it was run again within backward.
bool close_own(int depth);
void end_automatic_range();

// The layer of a launch on this thread. `inherited`: it is the main thread's.
[[nodiscard]] LayerId layer_of_launch(Runtime& rt, ThreadState& thread, bool& inherited);

}  // namespace gable
