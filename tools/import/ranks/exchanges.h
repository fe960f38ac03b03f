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

// A collective in which nobody can be done before all have come.
struct Exchange {
  std::uint64_t start_ns = 0, end_ns = 0;
  std::optional<std::uint64_t> sequence, step, bytes;
  Collective kind = Collective::unknown;
  std::uint32_t row = 0;  // of RankExchanges
  bool counts = true;     // it is in a step, or there are none
  // What MatchExchanges found.
  std::optional<std::uint64_t> transfer_ns;
  double others_wait_ns = 0;  // for this rank, where it came last
  [[nodiscard]] std::uint64_t duration_ns() const { return end_ns - start_ns; }
};

// Those of one communicator, as far as the files tell.
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
    std::uint64_t launches = 0, known = 0;  // in steps; of known ones the sums
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

// Before a report is made of `imported`, which may take it apart.
[[nodiscard]] RankExchanges exchanges_of(Imported& imported);

// Gives the rows of the report's kernels what their launches waited and transferred, where that is
// known of nearly all of them; and all that follows from it.
void fill_exchanges(const RankExchanges& exchanges, Report& report);

}  // namespace gable
