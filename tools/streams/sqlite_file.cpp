// SPDX-License-Identifier: Apache-2.0
#include "tools/streams/sqlite_file.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "tools/base/wrong_use.h"

namespace gable {
namespace {

std::string no_sqlite(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (file.get() == 0x1f && file.get() == 0x8b)
    return path + " is packed by gzip, and SQLite has to find its pages: unpack it with gunzip.";
  return path + " is not an SQLite file: export one with nsys export --type sqlite.";
}

constexpr int kCacheKiB = 8192;

std::uint64_t number_at(std::string_view header, std::size_t at, std::size_t bytes) {
  std::uint64_t number = 0;
  for (const char c : header.substr(at, bytes))
    number = number << 8 | static_cast<unsigned char>(c);
  return number;
}

// SQLite takes what a last page lacks for zeros. Its header (https://sqlite.org/fileformat2.html)
// has the size of a page, and how many there are where two counters agree.
bool is_cut_off(const std::string& path) {
  std::array<char, 100> bytes{};
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), bytes.size());
  const std::string_view header(bytes.data(), static_cast<std::size_t>(file.gcount()));
  if (header.size() < bytes.size() || !header.starts_with("SQLite format 3")) return false;
  const std::uint64_t told = number_at(header, 16, 2), page = told == 1 ? 65536 : told;
  if (page == 0) return false;
  std::error_code code;
  const std::uint64_t size = std::filesystem::file_size(path, code);
  const bool counts = number_at(header, 24, 4) == number_at(header, 92, 4);
  return !code && (counts ? size < page * number_at(header, 28, 4) : size % page != 0);
}

std::string quoted_name(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += c;
    out += c;
  }
  return out + "\"";
}

}  // namespace

SqliteFile::SqliteFile(const std::string& path, const std::string& name)
    : path_(name.empty() ? path : name) {
  if (is_cut_off(path))
    throw WrongUse(path_ + " is an SQLite file that was cut off: its end is missing.");
  const int opened =
      sqlite3_open_v2(path.c_str(), &file_, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
  if (opened != SQLITE_OK) {
    const std::string why = file_ == nullptr ? "no memory" : sqlite3_errmsg(file_);
    sqlite3_close(file_);
    throw WrongUse(path_ + " cannot be opened: " + why + ".");
  }
  try {
    // What a schema says to do is not done.
    sqlite3_db_config(file_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(file_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(file_, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_limit(file_, SQLITE_LIMIT_LENGTH, 64 << 20);
    const std::string cache = "PRAGMA cache_size=-" + std::to_string(kCacheKiB);
    sqlite3_exec(file_, cache.c_str(), nullptr, nullptr, nullptr);
    sqlite3_exec(file_, "PRAGMA cell_size_check=ON", nullptr, nullptr, nullptr);
    sqlite3_stmt* statement = nullptr;
    const char* const query =
        "SELECT m.name, i.name FROM sqlite_master m, pragma_table_info(m.name) i "
        "WHERE m.type = 'table' AND m.sql NOT LIKE 'create virtual%'";
    if (sqlite3_prepare_v2(file_, query, -1, &statement, nullptr) != SQLITE_OK) fail("is no use");
    int code = SQLITE_OK;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
      const auto* table = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
      const auto* column = reinterpret_cast<const char*>(sqlite3_column_text(statement, 1));
      if (table != nullptr && column != nullptr) columns_[table].insert(column);
    }
    sqlite3_finalize(statement);
    if (code != SQLITE_DONE) fail("cannot be read");
  } catch (...) {
    sqlite3_close(file_);
    throw;
  }
}

SqliteFile::~SqliteFile() { sqlite3_close(file_); }

void SqliteFile::fail(const std::string& what) const {
  const int code = sqlite3_errcode(file_);
  if (code == SQLITE_NOTADB) throw WrongUse(no_sqlite(path_));
  throw WrongUse(path_ + " " + what + ": " + quoted_piece(sqlite3_errmsg(file_)) +
                 ": the file is cut off or damaged.");
}

bool SqliteFile::has(const std::string& table, const std::string& column) const {
  const auto found = columns_.find(table);
  return found != columns_.end() && found->second.contains(column);
}

std::uint64_t SqliteFile::rows(const std::string& table) {
  if (!has(table)) return 0;
  // Tables of nsys are only ever appended to.
  const std::string query = "SELECT max(rowid) FROM " + quoted_name(table);
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(file_, query.c_str(), -1, &statement, nullptr) != SQLITE_OK) return 0;
  const sqlite3_int64 rows =
      sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
  sqlite3_finalize(statement);
  return rows > 0 ? static_cast<std::uint64_t>(rows) : 0;
}

// One beyond all sense is found where it is read.
void SqliteFile::set_zero(std::int64_t zero) { zero_ = std::max(zero, kLeastTime); }

SqliteRows::SqliteRows(SqliteFile& file, std::string table, const std::vector<std::string>& columns,
                       const std::string& where)
    : file_(file), table_(std::move(table)), columns_(columns) {
  std::string query = "SELECT ";
  for (const std::string& column : columns_) {
    if (query.size() > 7) query += ", ";
    query += file.has(table_, column) ? quoted_name(column) : "NULL";
  }
  query += " FROM " + quoted_name(table_) + where;
  if (sqlite3_prepare_v2(file_.file_, query.c_str(), -1, &statement_, nullptr) != SQLITE_OK)
    file_.fail("has a table " + table_ + " that cannot be read");
}

SqliteRows::~SqliteRows() { sqlite3_finalize(statement_); }

bool SqliteRows::next() {
  ++row_;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE)
    file_.fail("cannot be read at " + table_ + ", row " + std::to_string(row_));
  return false;
}

void SqliteRows::again(std::int64_t parameter) {
  sqlite3_reset(statement_);
  sqlite3_bind_int64(statement_, 1, parameter);
  row_ = 0;
}

bool SqliteRows::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

bool SqliteRows::is_text(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_TEXT;
}

std::string_view SqliteRows::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::optional<std::int64_t> SqliteRows::integer_within(int column, std::int64_t least,
                                                       std::int64_t most) const {
  // Half the work of column_type and column_int64. A file that is opened without a mutex has
  // protected values only (https://sqlite.org/c3ref/value.html).
  sqlite3_value* const cell = sqlite3_column_value(statement_, column);
  const int type = sqlite3_value_type(cell);
  if (type == SQLITE_NULL) return std::nullopt;
  const sqlite3_int64 value = sqlite3_value_int64(cell);
  if (type != SQLITE_INTEGER || value < least || value > most)
    broken(columns_[static_cast<std::size_t>(column)] + " is out of range");
  return value;
}

std::optional<std::uint64_t> SqliteRows::number(int column, std::uint64_t most) const {
  const auto value = integer_within(
      column, 0, static_cast<std::int64_t>(std::min<std::uint64_t>(most, INT64_MAX)));
  if (!value) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

std::uint64_t SqliteRows::needed(int column, std::uint64_t most) const {
  const auto value = number(column, most);
  if (!value) broken(columns_[static_cast<std::size_t>(column)] + " is missing");
  return *value;
}

std::optional<std::int64_t> SqliteRows::integer(int column) const {
  sqlite3_value* const cell = sqlite3_column_value(statement_, column);
  if (sqlite3_value_type(cell) != SQLITE_INTEGER) return std::nullopt;
  return sqlite3_value_int64(cell);
}

std::optional<std::uint64_t> SqliteRows::time(int column) const {
  const auto value = integer_within(column, file_.zero(), SqliteFile::kMostTime);
  if (!value) return std::nullopt;
  return static_cast<std::uint64_t>(*value - file_.zero());
}

std::uint64_t SqliteRows::needed_time(int column) const {
  const auto value = time(column);
  if (!value) broken(columns_[static_cast<std::size_t>(column)] + " is missing");
  return *value;
}

void SqliteRows::broken(const std::string& what) const {
  throw WrongUse(file_.path() + ": " + table_ + ", row " + std::to_string(row_) + ": " + what +
                 ".");
}

}  // namespace gable
