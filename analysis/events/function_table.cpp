// SPDX-License-Identifier: Apache-2.0
#include "analysis/events/function_table.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include "analysis/base/mutex.h"
#include "analysis/base/text.h"

namespace gable {
namespace {

// Symbols of templates run to kilobytes and differ near their ends, so they are kept longer than
// names are shown.
constexpr std::size_t kMaxSymbolBytes = 8192;
constexpr std::string_view kOtherSymbol = "(other)";
constexpr std::size_t kMostPlaces = 65536;

std::string_view cleaned_symbol(std::string_view symbol, std::string& buffer) {
  if (is_clean_name(symbol, kMaxSymbolBytes)) return symbol;
  buffer = fitting_name(symbol, kMaxSymbolBytes);
  return buffer;
}

}  // namespace

struct FunctionTable::State {
  State(std::size_t max, std::size_t max_size)
      : max_functions(std::max<std::size_t>(max, 1)), max_bytes(max_size) {
    ids.emplace(symbols.emplace_back(kOtherSymbol), kOther);
  }

  const std::size_t max_functions, max_bytes;
  std::atomic<std::uint64_t> folded{0};
  mutable SharedMutex mutex;  // guards what follows; nothing is called while it is held
  std::size_t bytes GABLE_GUARDED_BY(mutex) = 0;
  // A deque, so that the map's views stay valid.
  std::deque<std::string> symbols GABLE_GUARDED_BY(mutex);
  std::unordered_map<std::string_view, FunctionId> ids GABLE_GUARDED_BY(mutex);
  std::unordered_map<std::string, std::string> places GABLE_GUARDED_BY(mutex);  // by symbol
};

FunctionTable::FunctionTable(std::size_t max_functions, std::size_t max_bytes)
    : state_(std::make_unique<State>(max_functions, max_bytes)) {}
FunctionTable::~FunctionTable() = default;

FunctionId FunctionTable::intern(std::string_view symbol) {
  std::string buffer;
  symbol = cleaned_symbol(symbol, buffer);
  State& state = *state_;
  {
    const ReadLock lock(state.mutex);
    const auto found = state.ids.find(symbol);
    if (found != state.ids.end()) return found->second;
    if (state.symbols.size() >= state.max_functions) {
      ++state.folded;
      return kOther;
    }
  }
  const WriteLock lock(state.mutex);
  const auto found = state.ids.find(symbol);
  if (found != state.ids.end()) return found->second;
  if (state.symbols.size() >= state.max_functions ||
      state.bytes + symbol.size() > state.max_bytes) {
    ++state.folded;
    return kOther;
  }
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
std::string FunctionTable::full_name(FunctionId id) const { return demangled(symbol(id)); }

std::string FunctionTable::name(FunctionId id) const {
  return fitting_name(full_name(id), kMaxNameBytes);
}

void FunctionTable::set_place(std::string_view symbol, std::string_view place) {
  std::string buffer;
  const std::string key(cleaned_symbol(symbol, buffer));
  const std::string shown = clean_name(place, kMaxNameBytes);
  const WriteLock lock(state_->mutex);
  const auto known = state_->places.find(key);
  if (known != state_->places.end()) {
    if (known->second != shown) known->second.clear();
  } else if (state_->places.size() < kMostPlaces) {
    state_->places.emplace(key, shown);
  }
}

std::string FunctionTable::place(FunctionId id) const {
  const ReadLock lock(state_->mutex);
  if (id >= state_->symbols.size()) return {};
  const auto found = state_->places.find(state_->symbols[id]);
  return found == state_->places.end() ? std::string() : found->second;
}

std::uint64_t FunctionTable::folded() const { return state_->folded.load(); }

std::size_t FunctionTable::size() const {
  const ReadLock lock(state_->mutex);
  return state_->symbols.size();
}

}  // namespace gable
