// SPDX-License-Identifier: Apache-2.0
#include "tools/import/records/imported_spans.h"

namespace gable {
namespace {

// Most ranges are of the step of those before them: their sums are few.
constexpr std::size_t kMostRecent = 1u << 15;

void join(ImportedSpan& sum, const ImportedSpan& more) {
  sum.calls += more.calls;
  sum.cpu_ns += more.cpu_ns;
  sum.wait_ns += more.wait_ns;
}

}  // namespace

void ImportedSpans::add(const ImportedSpan& span) {
  const std::uint64_t key = (std::uint64_t{span.step} << 32) | span.layer;
  const auto [known, fresh] = recent_.try_emplace(key, span);
  if (!fresh) return join(known->second, span);
  if (recent_.size() > kMostRecent) write();
}

void ImportedSpans::write() {
  for (const auto& [key, span] : recent_) records_.add(span);
  recent_.clear();
}

std::optional<ImportedSpan> ImportedSpans::first() {
  write();
  at_ = records_.first();
  return sum();
}

std::optional<ImportedSpan> ImportedSpans::next() { return sum(); }

std::optional<ImportedSpan> ImportedSpans::sum() {
  if (at_ == nullptr) return std::nullopt;
  ImportedSpan sum = *at_;
  while ((at_ = records_.next()) != nullptr && at_->step == sum.step && at_->layer == sum.layer)
    join(sum, *at_);
  return sum;
}

}  // namespace gable
