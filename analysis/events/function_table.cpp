// SPDX-License-Identifier: Apache-2.0
#include "analysis/events/function_table.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "analysis/base/mutex.h"
#include "analysis/base/text.h"

namespace gable {
namespace {

// Symbols of templates run to kilobytes and differ near their ends, so they are kept longer than
// names are shown.
constexpr std::size_t kMaxSymbolBytes = 8192;
constexpr std::size_t kMaxTotalBytes = std::size_t{16} << 20;
constexpr std::string_view kOtherSymbol = "(other)";

}  // namespace

struct FunctionTable::State {
  explicit State(std::size_t max) : max_functions(std::max<std::size_t>(max, 1)) {
    ids.emplace(symbols.emplace_back(kOtherSymbol), kOther);
  }

  const std::size_t max_functions;
  mutable SharedMutex mutex;  // guards what follows; nothing is called while it is held
  std::size_t bytes GABLE_GUARDED_BY(mutex) = 0;
  // A deque, so that the map's views stay valid.
  std::deque<std::string> symbols GABLE_GUARDED_BY(mutex);
  std::unordered_map<std::string_view, FunctionId> ids GABLE_GUARDED_BY(mutex);
};

FunctionTable::FunctionTable(std::size_t max_functions)
    : state_(std::make_unique<State>(max_functions)) {}
FunctionTable::~FunctionTable() = default;

FunctionId FunctionTable::intern(std::string_view symbol) {
  std::string cleaned;
  if (!is_clean_name(symbol, kMaxSymbolBytes)) {
    cleaned = clean_name(symbol, kMaxSymbolBytes);
    symbol = cleaned;
  }
  State& state = *state_;
  {
    const ReadLock lock(state.mutex);
    const auto found = state.ids.find(symbol);
    if (found != state.ids.end()) return found->second;
    if (state.symbols.size() >= state.max_functions) return kOther;
  }
  const WriteLock lock(state.mutex);
  const auto found = state.ids.find(symbol);
  if (found != state.ids.end()) return found->second;
  if (state.symbols.size() >= state.max_functions || state.bytes + symbol.size() > kMaxTotalBytes)
    return kOther;
  const auto id = static_cast<FunctionId>(state.symbols.size());
  state.bytes += symbol.size();
  state.ids.emplace(state.symbols.emplace_back(symbol), id);
  return id;
}

std::string FunctionTable::symbol(FunctionId id) const {
  const ReadLock lock(state_->mutex);
  return id < state_->symbols.size() ? state_->symbols[id] : std::string(kOtherSymbol);
}

// Demangled only when asked: a launch must not pay for it, and few functions reach a report.
std::string FunctionTable::name(FunctionId id) const { return clean_name(demangled(symbol(id))); }

std::size_t FunctionTable::size() const {
  const ReadLock lock(state_->mutex);
  return state_->symbols.size();
}

}  // namespace gable
