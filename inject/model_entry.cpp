// SPDX-License-Identifier: Apache-2.0
// How the Python side describes the model in one step. Does nothing at any other time; lets nothing
// thrown escape.
#include <cstdint>
#include <exception>
#include <string>

#include "collector/runtime/range_calls.h"
#include "collector/runtime/runtime.h"
#include "collector/session/session.h"
#include "inject/module_calls.h"

#define GABLE_ENTRY extern "C" __attribute__((visibility("default")))

namespace {

std::string string_of(const char* text) { return text == nullptr ? std::string() : text; }

gable::Session* session() { return gable::runtime().session.load(std::memory_order_acquire); }

}  // namespace

// 0: nothing is to be described. Else 1: the step that has just begun is; and 2 more: and what
// holds memory; and 4 more: and where its operators were called. `forward`: a forward of it has
// just begun, the first one.
GABLE_ENTRY int gable_model_begin(int forward) {
  try {
    auto* open = session();
    if (open == nullptr || !open->begin_model(forward != 0)) return 0;
    gable::detail::model_is_described = true;
    const auto& settings = gable::runtime().settings;
    return 1 + (settings.memory ? 2 : 0) + (settings.stacks ? 4 : 0);
  } catch (const std::exception&) {
    return 0;
  }
}

// The call of a module that is open on this thread. Shapes as shapes_of() reads them; `types` of
// its parameters, of which it has so many elements.
GABLE_ENTRY void gable_model_module(std::uint64_t token, const char* inputs, const char* outputs,
                                    const char* types, std::uint64_t parameters) {
  try {
    const auto layer = gable::layer_of_module(token);
    if (layer == 0) return;
    gable::runtime().model.add_module(
        layer, {gable::shapes_of(string_of(inputs)), gable::shapes_of(string_of(outputs)),
                gable::words_of(string_of(types)), parameters});
  } catch (const std::exception&) {
    return;  // this one is unknown
  }
}

// What one call of a module that is open on this thread allocated.
GABLE_ENTRY void gable_model_allocated(std::uint64_t token, std::uint64_t bytes) {
  try {
    const auto layer = gable::layer_of_module(token);
    if (layer != 0) gable::runtime().model.add_allocated(layer, bytes);
  } catch (const std::exception&) {
    return;
  }
}

// An operator begins on this thread: `inputs` as shapes_of() reads them, `place` in the program
// that calls it or empty. Returns the number of the operator that it is within, for
// gable_model_operator_end().
GABLE_ENTRY std::uint32_t gable_model_operator_begin(const char* name, const char* inputs,
                                                     const char* place) {
  auto& thread = gable::this_thread();
  const std::uint32_t outer = thread.open_operator;
  try {
    auto& rt = gable::runtime();
    bool inherited = false;
    const auto layer = gable::layer_of_launch(rt, thread, inherited);
    thread.open_operator =
        rt.model.open_operator(layer, string_of(name), string_of(inputs), string_of(place));
  } catch (const std::exception&) {
    thread.open_operator = gable::ModelTable::kNotKeptApart;
  }
  return outer;
}

GABLE_ENTRY void gable_model_operator_end(std::uint32_t outer) {
  gable::this_thread().open_operator = outer;
}

// The work of the operator that is open on this thread; its kernels belong to the same layer. What
// is negative is not known.
GABLE_ENTRY void gable_model_operator(int device, const char* type, double flops, double read,
                                      double written) {
  try {
    auto& rt = gable::runtime();
    bool inherited = false;
    auto& thread = gable::this_thread();
    const auto layer = gable::layer_of_launch(rt, thread, inherited);
    rt.model.add_operator(device, layer, thread.open_operator, string_of(type), flops, read,
                          written);
  } catch (const std::exception&) {
    return;
  }
}

// How much of a device's memory is taken, after the operator that is open on this thread.
GABLE_ENTRY void gable_model_memory(std::uint64_t bytes) {
  try {
    auto& rt = gable::runtime();
    bool inherited = false;
    auto& thread = gable::this_thread();
    const auto layer = gable::layer_of_launch(rt, thread, inherited);
    rt.model.add_memory(layer, thread.open_operator, bytes);
  } catch (const std::exception&) {
    return;
  }
}

// Most was taken at the `peak`th call of gable_model_memory() in the step, from 0 on.
// `by_allocator`: its statistics say so. The other two are negative where they are not known.
GABLE_ENTRY void gable_model_peak(int device, int by_allocator, std::uint64_t peak,
                                  double allocator_peak, double reserved) {
  try {
    gable::runtime().model.add_peak(device, by_allocator != 0, peak, allocator_peak, reserved);
  } catch (const std::exception&) {
    return;
  }
}

// What was held then. `as` is a word of HeldAs, `module` names with 0x1f between them, `point` the
// call of gable_model_memory() after the operator that made it or was given it, or negative.
GABLE_ENTRY void gable_model_held(const char* as, std::int64_t point, const char* module,
                                  std::uint64_t bytes, std::uint64_t tensors) {
  try {
    const auto kind = gable::value_of<gable::HeldAs>(string_of(as));
    if (!kind) return;
    gable::runtime().model.add_held(
        {*kind, gable::words_of(string_of(module), '\x1f'), 0, bytes, tensors},
        point < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(point)));
  } catch (const std::exception&) {
    return;
  }
}

// The step that is described was not fit for it: another one is. `why`: a clause.
GABLE_ENTRY void gable_model_put_off(const char* why) {
  gable::detail::model_is_described = false;
  try {
    gable::runtime().model.put_off(string_of(why));
  } catch (const std::exception&) {
    return;
  }
}

// The step is over. `why_not`: a clause that says why the model could not be described, or empty.
GABLE_ENTRY void gable_model_end(const char* why_not) {
  gable::detail::model_is_described = false;
  try {
    auto* open = session();
    if (open != nullptr) open->end_model(string_of(why_not));
  } catch (const std::exception&) {
    return;
  }
}
