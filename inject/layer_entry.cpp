// SPDX-License-Identifier: Apache-2.0
// What the Python side and programs that name their layers themselves call. Cheap enough for every
// call of a module; does nothing while nobody looks; lets nothing thrown escape.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/runtime/range_calls.h"
#include "collector/runtime/runtime.h"
#include "collector/runtime/torch_seen.h"
#include "collector/session/session.h"
#include "inject/names.h"

#define GABLE_ENTRY extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kNotFollowed = -1;  // there is nothing to close

std::string_view text_of(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

// Runs `call` while ranges are followed. Out of memory loses this one range.
template <typename Result, typename Call>
Result followed(Result otherwise, Call&& call) {
  if (!gable::ranges_active()) return otherwise;
  try {
    return call();
  } catch (const std::exception&) {
    return otherwise;
  }
}

}  // namespace

// Else the program's modules are left alone (--layers off).
GABLE_ENTRY int gable_layers_wanted(void) {
  try {
    return gable::runtime().settings.layers == gable::ModuleLayers::automatic ? 1 : 0;
  } catch (const std::exception&) {
    return 0;
  }
}

// A sentence of the Python side's for the report. 1: it is to be printed, too, where Python prints.
GABLE_ENTRY int gable_note(const char* sentence) {
  try {
    auto& notes = gable::runtime().notes;
    notes.record(std::string(text_of(sentence)));
    return notes.keeps_to_report() ? 0 : 1;
  } catch (const std::exception&) {
    return 1;
  }
}

// The Python side follows the modules of this process.
GABLE_ENTRY void gable_modules_followed(void) {
  try {
    gable::modules_are_followed(gable::runtime());
  } catch (const std::exception&) {
    return;
  }
}

// Autograd::Numbers, member by member.
GABLE_ENTRY void gable_torch_number(std::uint64_t (*next_number)(), std::uint64_t (*thread_id)()) {
  try {
    gable::runtime().autograd.number_nodes({next_number, thread_id});
  } catch (const std::exception&) {
    return;  // backward kernels keep the layer of their thread
  }
}

// call_current_node(), which Python cannot do: it knows no C++ classes.
GABLE_ENTRY void gable_torch_current_node(gable::CurrentNode function, void* out) {
  gable::call_current_node(function, out);
}

// Autograd::Nodes, member by member.
GABLE_ENTRY void gable_torch_attach(gable::CurrentNode current_node, std::size_t number,
                                    std::size_t maker, std::size_t references) {
  try {
    gable::runtime().autograd.attach({current_node, number, maker, references});
  } catch (const std::exception&) {
    return;
  }
}

// The program runs backward on this thread, from the one call to the other.
GABLE_ENTRY void gable_backward(int begins) {
  followed(0, [&] {
    if (begins != 0)
      gable::backward_begins();
    else
      gable::backward_ends();
    return 0;
  });
}

// The depth to close; 0 when the module has to be named; negative while nobody looks.
GABLE_ENTRY int gable_module_open(std::uint64_t token) {
  return followed(kNotFollowed, [&] { return gable::open_module(token); });
}

// As name_module() says; `names` as in names.h.
GABLE_ENTRY int gable_module_name(std::uint64_t token, int level, const char* names,
                                  const char* dotted) {
  return followed(kNotFollowed, [&] {
    return gable::name_module(token, level, gable::names_in(names), text_of(dotted));
  });
}

// The module that was named last on this thread is compiled: the modules within it, as in names.h,
// and how many more there are.
GABLE_ENTRY void gable_module_compiled(std::uint64_t token, const char* modules,
                                       std::uint32_t left_out) {
  followed(0, [&] {
    gable::CompiledRegion region;
    region.modules = gable::modules_in(modules);
    region.left_out = left_out;
    gable::runtime().layers.set_compiled(gable::layer_of_module(token), std::move(region));
    return 0;
  });
}

GABLE_ENTRY std::uint64_t gable_module_at(int level) {
  return followed(std::uint64_t{0}, [&] { return gable::open_module_at(level); });
}

GABLE_ENTRY void gable_module_gone(std::uint64_t token) {
  try {
    gable::runtime().modules.forget(token);
  } catch (const std::exception&) {
    return;
  }
}

// A range of the program's own: its depth, for gable_close. Directions: 0 none, 1 forward,
// 2 backward, 3 recompute. An automatic range ends by itself when another one opens or closes.
GABLE_ENTRY int gable_open(const char* name, int direction, int automatic) {
  if (direction < 0 || direction > 3) direction = 0;
  return followed(kNotFollowed, [&] {
    if (name == nullptr) {
      gable::end_automatic_range();
      return kNotFollowed;
    }
    return gable::open_own_range(text_of(name), static_cast<gable::Direction>(direction),
                                 automatic != 0);
  });
}

// The layer that was opened last is a forward of text generation: how much it reads or makes.
GABLE_ENTRY void gable_tokens(std::uint32_t sequences, std::uint32_t per_sequence) {
  followed(0, [&] {
    auto* session = gable::runtime().session.load(std::memory_order_acquire);
    if (session != nullptr) session->count_tokens(sequences, per_sequence);
    return 0;
  });
}

// This thread fetches the program's next input: 1 when the end is to be said too.
GABLE_ENTRY int gable_input_begin(void) {
  return followed(0, [&] {
    auto* session = gable::runtime().session.load(std::memory_order_acquire);
    return session != nullptr && session->begin_input() ? 1 : 0;
  });
}

GABLE_ENTRY void gable_input_end(void) {
  followed(0, [&] {
    auto* session = gable::runtime().session.load(std::memory_order_acquire);
    if (session != nullptr) session->end_input();
    return 0;
  });
}

// 1 when that ended the outermost module that was open on the thread, and none is recomputed.
GABLE_ENTRY int gable_close(int depth) {
  return followed(0, [&] { return gable::close_own(depth) ? 1 : 0; });
}
