// SPDX-License-Identifier: Apache-2.0
#include "tools/import/nsys/nsys_contents.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string_view>
#include <vector>

#include "analysis/base/display.h"
#include "tools/base/wrong_use.h"

namespace gable {
namespace {

constexpr const char* kDiagnostics = "DIAGNOSTIC_EVENT";
constexpr const char* kGraphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
constexpr int kWarning = 2, kError = 3;
constexpr std::size_t kMostTold = 2, kLongestTold = 160, kLongestWord = 24;

struct Contents {
  const char *what, *one;
  std::array<const char*, 2> tables;
  bool ranges = false;  // of the table's rows those that are
};
constexpr auto kContents = std::to_array<Contents>({
    {"NVTX ranges", "NVTX range", {"NVTX_EVENTS", nullptr}, true},
    {"CUDA calls", "CUDA call", {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"}},
    {"copies and memsets",
     "copy or memset",
     {"CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"}},
    {"launches of whole CUDA graphs", "launch of a whole CUDA graph", {kGraphs, nullptr}},
    {"waits for the GPU", "wait for the GPU", {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", nullptr}},
    {"samples of the GPU's metrics", "sample of the GPU's metrics", {"GPU_METRICS", nullptr}},
    {"calls of cuBLAS and cuDNN", "call of cuBLAS or cuDNN", {"CUBLAS_EVENTS", "CUDNN_EVENTS"}},
    {"CPU samples", "CPU sample", {"COMPOSITE_EVENTS", nullptr}},
    {"changes of threads on CPUs", "change of threads on CPUs", {"SCHED_EVENTS", nullptr}},
    {"calls of the operating system's libraries",
     "call of the operating system's libraries",
     {"OSRT_API", nullptr}},
    {"calls of MPI", "call of MPI", {"MPI_COLLECTIVES_EVENTS", "MPI_P2P_EVENTS"}},
});

std::uint64_t count(SqliteFile& file, const Contents& of) {
  std::uint64_t all = 0;
  for (const char* table : of.tables) {
    if (table == nullptr || !file.has(table)) continue;
    const bool ranges = of.ranges && file.has(table, "eventType");
    SqliteRows rows(file, table, {"rowid"}, ranges ? " WHERE eventType IN (59, 60)" : "");
    while (rows.next()) ++all;
  }
  return all;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool has_one(const std::string& text, const std::vector<const char*>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return text.find(word) != std::string::npos; });
}

// What the file calls the machine, its user and the programs: none of it is repeated.
std::set<std::string> private_words(SqliteFile& file) {
  std::set<std::string> words;
  const auto add = [&](std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t end = std::min(text.find_first_of(" \t\n./", at), text.size());
      if (end > at + 2) words.insert(lower(text.substr(at, end - at)));
      at = end + 1;
    }
    if (text.size() > 2) words.insert(lower(text));
  };
  struct Place {
    const char *table, *column, *where;
  };
  for (const Place& place : {Place{"TARGET_INFO_SYSTEM_ENV", "value",
                                   " WHERE lower(name) LIKE '%host%' OR lower(name) LIKE '%user%'"},
                             Place{"META_DATA_CAPTURE", "value",
                                   " WHERE lower(name) LIKE '%host%' OR lower(name) LIKE '%user%'"},
                             Place{"PROCESSES", "name", ""}}) {
    if (!file.has(place.table, place.column) ||
        (*place.where != '\0' && !file.has(place.table, "name")))
      continue;
    SqliteRows rows(file, place.table, {place.column}, place.where);
    while (rows.next()) add(rows.text(0));
  }
  for (const char* common : {"cuda", "nsys", "python", "driver", "the"}) words.erase(common);
  return words;
}

// Paths, addresses, assignments, what looks like a key, and what follows a word such as "host".
bool is_private(const std::string& word, const std::string& before,
                const std::set<std::string>& named) {
  std::string bare = word;
  while (!bare.empty() && std::ispunct(static_cast<unsigned char>(bare.back())) != 0)
    bare.pop_back();
  const std::size_t first = bare.find_first_not_of("([{<'\"`");
  bare = first == std::string::npos ? "" : bare.substr(first);
  if (bare.find_first_of("/\\=@$~'\"`") != std::string::npos) return true;
  if (named.contains(lower(bare))) return true;
  static const std::set<std::string> kIntroducing = {
      "host",        "hostname",     "host:",     "hostname:", "node",    "node:",   "machine",
      "machine:",    "user",         "user:",     "username:", "token",   "token:",  "key",
      "key:",        "password",     "password:", "secret",    "secret:", "process", "process:",
      "application", "application:", "file",      "file:"};
  const bool wordy =
      std::all_of(bare.begin(), bare.end(), [](unsigned char c) { return std::islower(c) != 0; });
  if (kIntroducing.contains(lower(before)) && (!wordy || before.back() == ':')) return true;
  const auto count_of = [&](auto is) { return std::count_if(bare.begin(), bare.end(), is); };
  const auto letters = count_of([](unsigned char c) { return std::isalpha(c) != 0; });
  const auto digits = count_of([](unsigned char c) { return std::isdigit(c) != 0; });
  const auto dots = std::count(bare.begin(), bare.end(), '.');
  const bool known = lower(bare).starts_with("cu") || lower(bare).starts_with("--");
  if (known && bare.size() <= 2 * kLongestWord && dots == 0) return false;
  // Hosts ("node-17", "a.example.com"), addresses and keys; versions have digits and dots alone.
  if (dots > 0 && letters > 0) return true;
  if (dots >= 3) return true;
  if (digits > 0 && letters > 0 && (bare.size() > 8 || bare.find('-') != std::string::npos))
    return true;
  return bare.size() > kLongestWord;
}

std::string cleaned(std::string_view text, const std::set<std::string>& named) {
  // Quoted pieces are names of programs and files.
  std::string plain;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool opens = (c == '"' || c == '`' || c == '\'') &&
                       (i == 0 || text[i - 1] == ' ' || text[i - 1] == '(' || text[i - 1] == '[');
    if (quote == 0 && opens && text.find(c, i + 1) != std::string_view::npos) {
      quote = c;
      plain += "...";
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else {
      plain += std::isspace(static_cast<unsigned char>(c)) != 0 ? ' ' : c;
    }
  }
  std::string out, before;
  std::size_t at = 0;
  while (at < plain.size()) {
    const std::size_t end = std::min(plain.find(' ', at), plain.size());
    const std::string word = plain.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    const bool hidden = is_private(word, before, named);
    before = word;
    if (hidden && out.ends_with("...")) continue;
    out += (out.empty() ? "" : " ") + (hidden ? "..." : word);
  }
  while (out.ends_with(".") && !out.ends_with("...")) out.pop_back();
  return quoted_piece(out.size() > kLongestTold ? shorten_middle(out, kLongestTold) : out);
}

// Of what nsys says the worst of CUDA, each sentence once; what only says that there is nothing
// goes last.
std::vector<std::string> reasons(SqliteFile& file) {
  if (!file.has(kDiagnostics, "text")) return {};
  const std::set<std::string> named = private_words(file);
  struct Reason {
    int weight;
    std::string text;
  };
  std::vector<Reason> found;
  SqliteRows rows(file, kDiagnostics, {"severity", "text"});
  while (rows.next()) {
    if (!rows.is_text(1)) continue;
    const std::string text = lower(rows.text(1).substr(0, 1000));
    if (!has_one(text, {"cuda", "cupti", "gpu", "driver", "inject", "kernel trac", "libcuda"}))
      continue;
    const auto severity = rows.is_null(0) ? 0 : static_cast<int>(rows.number(0).value_or(0));
    const bool failed =
        has_one(text, {"not supported", "unsupported", "fail", "error", "unable", "cannot",
                       "could not", "might have not", "denied", "insufficient", "incompatible"});
    if (severity != kWarning && severity != kError && !failed) continue;
    // These do not keep kernels from being recorded.
    if (has_one(text, {"hardware tracing", "unified memory", "cpu", "perf event", "gpu metrics"}))
      continue;
    const bool hollow = has_one(text, {"no cuda events", "not all cuda events"});
    const bool vague = has_one(text, {"might have not been started"});
    const int weight = hollow ? 1 : vague ? 2 : severity == kError ? 4 : 3;
    std::string told = cleaned(rows.text(1).substr(0, 1000), named);
    const bool known = std::any_of(found.begin(), found.end(),
                                   [&](const Reason& each) { return each.text == told; });
    if (!told.empty() && !known) found.push_back({weight, std::move(told)});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Reason& a, const Reason& b) { return a.weight > b.weight; });
  std::vector<std::string> out;
  for (Reason& each : found) {
    if (out.size() == kMostTold || (!out.empty() && each.weight == 1)) break;
    out.push_back(std::move(each.text));
  }
  return out;
}

}  // namespace

std::string nsys_without_kernels(SqliteFile& file) {
  std::string holds;
  std::vector<std::string> parts;
  bool calls = false, graphs = false;
  for (const Contents& each : kContents) {
    const std::uint64_t rows = count(file, each);
    if (rows == 0) continue;
    calls = calls || each.tables[0] == std::string_view("CUPTI_ACTIVITY_KIND_RUNTIME");
    graphs = graphs || each.tables[0] == std::string_view(kGraphs);
    parts.push_back(std::to_string(rows) + " " + (rows == 1 ? each.one : each.what));
  }
  for (std::size_t i = 0; i < parts.size(); ++i)
    holds += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  std::string out =
      file.path() +
      (file.has("CUPTI_ACTIVITY_KIND_KERNEL") ? " has no row in CUPTI_ACTIVITY_KIND_KERNEL"
                                              : " has no table CUPTI_ACTIVITY_KIND_KERNEL") +
      ": nsys recorded no kernel" +
      (holds.empty() ? ", nor anything else of the program" : ", but " + holds);
  const std::vector<std::string> why = reasons(file);
  if (!why.empty()) {
    out += " (nsys says: ";
    for (std::size_t i = 0; i < why.size(); ++i) out += (i == 0 ? "" : "; ") + why[i];
    out += ")";
  }
  if (graphs) return out + "; record with --cuda-graph-trace node, so that graphs have kernels.";
  if (!why.empty())
    return out + "; when that is mended, record with --trace cuda,nvtx a part that uses the GPU.";
  if (calls) return out + "; record with --trace cuda,nvtx a part that launches kernels.";
  return out + "; record with --trace cuda,nvtx.";
}

}  // namespace gable
