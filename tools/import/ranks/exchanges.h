// SPDX-License-Identifier: Apache-2.0
// The collectives in the files of one process, in the order in which each of its GPUs ran them:
// what remains of the files until those of all ranks have been read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/report.h"
#include "tools/import/records/imported.h"

namespace gable {

// A collective that no rank can finish before all have joined.
struct Exchange {
  std::uint64_t start_ns = 0, end_ns = 0;
  std::optional<std::uint64_t> sequence, step, bytes;
  Collective kind = Collective::unknown;
  std::uint32_t row = 0;  // index of a row in RankExchanges
  bool counts = true;     // it is in a step, or there are no steps
  // What MatchExchanges found.
  std::optional<std::uint64_t> transfer_ns;
  double others_wait_ns = 0;  // waits for this rank, if it came last
  [[nodiscard]] std::uint64_t duration_ns() const { return end_ns - start_ns; }
};

// The collectives of one communicator, as far as the files tell.
struct ExchangeChannel {
  std::uint64_t ranks = 0;  // 0: unknown
  bool named = false;       // the files name the communicator
  std::vector<Exchange> exchanges;
};

// A GPU of a process.
using ExchangeMember = std::map<std::string, ExchangeChannel>;

struct RankExchanges {
  // A row of the report's kernels.
  struct Row {
    std::uint64_t launches = 0, known = 0;  // in steps; known: those that the sums are of
    std::uint64_t wait_ns = 0, transfer_ns = 0;
    double others_wait_ns = 0;
    std::uint64_t ranks = 0;
  };
  std::vector<ExchangeMember> members;
  std::map<std::string, std::uint32_t> places;  // of rows, by all that names a kernel's row
  std::vector<Row> rows;
  std::optional<std::uint64_t> world_size;
  std::uint64_t others = 0;  // launches of those in which a rank may leave before others come
};

// Collects the exchanges; called before a report is made from `imported`, which may consume it.
[[nodiscard]] RankExchanges exchanges_of(Imported& imported);

// Fills the waiting and transfer times of the report's kernels, if known for nearly all launches,
// and all that follows from them.
void fill_exchanges(const RankExchanges& exchanges, Report& report);

}  // namespace gable
