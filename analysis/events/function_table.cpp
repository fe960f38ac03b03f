// SPDX-License-Identifier: Apache-2.0
#include "analysis/events/function_table.h"

#include <algorithm>
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
constexpr std::size_t kMaxTotalBytes = std::size_t{16} << 20;
constexpr std::string_view kOtherSymbol = "(other)";
constexpr std::size_t kEndBytes = 160;  // of a name that is too long

// " #9e3779b9": FNV-1a, the same in every run.
std::string number_of(std::string_view name) {
  std::uint32_t hash = 0x811C9DC5;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = " #";
  for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[(hash >> shift) & 15];
  return text;
}

// Names of templates differ anywhere: two that are cut alike would be one kernel.
std::string fitting(std::string_view name, std::size_t max_bytes) {
  if (name.size() <= max_bytes) return clean_name(name, max_bytes);
  std::size_t end = name.size() - kEndBytes;
  while (end < name.size() && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) ++end;
  const std::string tail = clean_name(name.substr(end), kEndBytes) + number_of(name);
  return clean_name(name.substr(0, max_bytes), max_bytes - tail.size()) + tail;
}

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
    cleaned = fitting(symbol, kMaxSymbolBytes);
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
std::string FunctionTable::full_name(FunctionId id) const { return demangled(symbol(id)); }

std::string FunctionTable::name(FunctionId id) const {
  return fitting(full_name(id), kMaxNameBytes);
}

std::size_t FunctionTable::size() const {
  const ReadLock lock(state_->mutex);
  return state_->symbols.size();
}

}  // namespace gable
