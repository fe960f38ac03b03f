// SPDX-License-Identifier: Apache-2.0
// Where rows of ncu begin amid the output of a program, which may end without a line end before
// them, and may begin with a quote, too.
#pragma once

#include <cstddef>
#include <string_view>

#include "tools/streams/csv_rows.h"

namespace gable {

// What the rows behind a head are like.
struct NcuRowShape {
  bool any = false;    // there was a head
  bool plain = false;  // another program wrote it again, and put quotes only where they have to be
  std::size_t id = 0;  // the column; one before it counts rows
  bool process = false;             // the column behind it is the process
  bool units = false;               // a row of units may come
  std::size_t least = 0, most = 0;  // fields
};

// Of a head or of a row: `"ID","`, `"12","4711",`.
[[nodiscard]] CsvRows::Start ncu_row_start(const NcuRowShape& shape, std::string_view text,
                                           bool line, bool end);

// Text between rows that is a piece of one, of which the front is lost or damaged.
[[nodiscard]] bool is_piece_of_ncu_row(std::string_view text);

}  // namespace gable
