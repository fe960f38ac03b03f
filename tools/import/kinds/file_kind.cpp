// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kinds/file_kind.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <protozero/exception.hpp>
#include <protozero/varint.hpp>
#include <vector>

#include "tools/base/wrong_use.h"
#include "tools/import/ncu/ncu_csv.h"
#include "tools/import/nsys/nsys_sqlite.h"
#include "tools/streams/utf16_source.h"

namespace gable {
namespace {

constexpr std::size_t kHead = 1u << 16;

bool has(std::string_view text, std::string_view piece) {
  return text.find(piece) != std::string_view::npos;
}

std::string_view without_blanks(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0)
    text.remove_prefix(1);
  return text;
}

// A number of a protobuf message; nothing where the text ends before it does.
std::optional<std::uint64_t> varint(std::string_view& text) {
  const char* at = text.data();
  try {
    const std::uint64_t value = protozero::decode_varint(&at, text.data() + text.size());
    text.remove_prefix(static_cast<std::size_t>(at - text.data()));
    return value;
  } catch (const protozero::exception&) {
    return std::nullopt;
  }
}

// A space of planes: its first field is a plane (1), which has an id (1) and a name (2).
bool is_xplane(std::string_view text) {
  if (text.empty() || text.front() != '\x0a') return false;
  text.remove_prefix(1);
  if (!varint(text)) return false;
  if (text.starts_with("\x08")) {
    text.remove_prefix(1);
    if (!varint(text)) return false;
  }
  if (!text.starts_with("\x12")) return false;
  text.remove_prefix(1);
  const auto size = varint(text);
  if (!size || *size == 0 || *size > 200 || *size > text.size()) return false;
  const std::string_view name = text.substr(0, *size);
  const bool shown =
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isprint(c) != 0; });
  return shown && (name.starts_with("/") || name.starts_with("#") || name == "Task Environment");
}

bool has_one(std::string_view text, std::initializer_list<std::string_view> pieces) {
  return std::any_of(pieces.begin(), pieces.end(),
                     [&](std::string_view piece) { return has(text, piece); });
}

// Many tools write Chrome's format.
FileKind kind_of_trace(std::string_view text) {
  // Of PyTorch, then of JAX and TensorFlow.
  if (has_one(text, {"\"schemaVersion\"", "\"deviceProperties\"", "\"baseTimeNanoseconds\"",
                     "\"cpu_op\"", "\"Operator\"", "\"user_annotation\"", "\"python_function\"",
                     "\"cuda_runtime\"", "\"kernel\"", "\"Kernel\"", "ProfilerStep#"}) ||
      has_one(text, {"\"/device:", "\"/host:", "\"hlo_module\""}))
    return FileKind::trace;
  if (has(text, "\"NVTXRegions\"") || (has_one(text, {"\"cat\": \"cuda\"", "\"cat\":\"cuda\"",
                                                      "\"cat\": \"nvtx\"", "\"cat\":\"nvtx\""}) &&
                                       has_one(text, {"\"CUDA API ", "\"Device 0\"", "\"NVTX "})))
    return FileKind::nsys_trace;
  if (has_one(text, {"\"CPU HIP API\"", "\"CPU HSA API\""})) return FileKind::rocprof;
  return FileKind::chrome_trace;
}

FileKind kind_of_json(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (text.front() == '{') {
    // Of GitHub, of clouds' storage.
    if (const std::string_view first = without_blanks(text.substr(1));
        text.size() < 4096 && (first.starts_with("\"message\"") || first.starts_with("\"error\"")))
      return FileKind::web_page;
    if (has(text, "\"rocprofiler-sdk-tool\"")) return FileKind::rocprof;
    for (const char* key : {"\"traceEvents\"", "\"schemaVersion\"", "\"deviceProperties\"",
                            "\"displayTimeUnit\"", "\"baseTimeNanoseconds\""})
      if (has(text, key)) return kind_of_trace(text);
    for (const char* key :
         {"\"NvtxEvent\"", "\"CudaEvent\"", "\"TraceProcessEvent\"", "\"GlobalProcessId\"",
          "\"CUPTI_ACTIVITY_", "\"StringIds\"", "\"globalTid\"", "\"GlobalTid\""})
      if (has(text, key)) return FileKind::nsys_json;
    if (has(text, "\"gable\"") && has(text, "\"schema\"")) return FileKind::gable_report;
    // Its first line is all strings of the file.
    const std::string_view first = without_blanks(text.substr(1));
    if (first.starts_with("\"data\"") && (end == std::string_view::npos || text[end - 1] == '}'))
      return FileKind::nsys_json;
    return FileKind::unknown;
  }
  if (has(text, "\"frame\"") && (has(text, "\"children\"") || has(text, "\"metrics\"")))
    return FileKind::hatchet;
  if (has(text, "\"ph\"")) return kind_of_trace(text);
  return FileKind::unknown;
}

bool is_ncu(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::string_view line = text.substr(at, std::min(text.find('\n', at), text.size()) - at);
    if (line.starts_with("\"ID\",") || line.starts_with("==PROF== ")) return true;
    at += line.size() + 1;
  }
  return false;
}

bool begins_with_word(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) {
           return a == std::tolower(static_cast<unsigned char>(b));
         });
}

// Tables and logs of other profilers.
FileKind kind_of_text(std::string_view text) {
  if (text.starts_with("version https://git-lfs")) return FileKind::lfs_pointer;
  for (const char* mark : {"<!doctype", "<html", "<?xml"})
    if (begins_with_word(text, mark)) return FileKind::web_page;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::string_view line = text.substr(at, std::min(text.find('\n', at), text.size()) - at);
    if (line.starts_with("==") && has(line, "== NVPROF is profiling process"))
      return FileKind::nvprof;
    std::string head(line.substr(0, 200));
    std::erase(head, '"');
    for (const char* columns : {"Device,Kernel,Invocations,Metric Name", "Start,Duration,Grid X,",
                                "Type,Time(%),Time,Calls", "Time(%),Time,Calls,Avg"})
      if (head.starts_with(columns)) return FileKind::nvprof;
    for (const char* columns :
         {"Index,KernelName,", "Dispatch_ID,Kernel_Name,", "Name,Calls,TotalDurationNs,",
          "Kind,Agent_Id,", "Correlation_Id,Dispatch_Id,", "CodeObj,Vaddr,Instruction,"})
      if (head.starts_with(columns)) return FileKind::rocprof;
    at += line.size() + 1;
  }
  return FileKind::unknown;
}

FileKind kind_of_names(const std::string& path) {
  std::error_code code;
  std::filesystem::directory_iterator each(path, code), end;
  for (int seen = 0; !code && each != end && seen < 1000; each.increment(code), ++seen) {
    const std::string name = each->path().extension().string();
    if (name == ".parquet") return FileKind::parquet;
    if (name == ".arrow" || name == ".arrows") return FileKind::arrow;
  }
  return FileKind::unknown;
}

}  // namespace

FileKind kind_of_bytes(std::string_view head) {
  using namespace std::string_view_literals;
  if (head.starts_with("SQLite format 3\0"sv)) return FileKind::sqlite;
  // zip, zstd, xz, bzip2, gzip within gzip; tar.
  for (const auto mark :
       {"PK\x03\x04"sv, "\x28\xB5\x2F\xFD"sv, "\xFD\x37zXZ\0"sv, "BZh"sv, "\x1f\x8b"sv})
    if (head.starts_with(mark)) return FileKind::archive;
  constexpr std::size_t kTarMark = 257;
  if (head.size() > kTarMark && head.substr(kTarMark).starts_with("ustar"))
    return FileKind::archive;
  if (head.starts_with("NVIDIA Tegra Profiler Report")) return FileKind::nsys_report;
  if (head.starts_with("NVR\0"sv)) return FileKind::ncu_report;
  if (head.starts_with("QDSTRM") || head.starts_with("NVIDIA Tegra Profiler"))
    return FileKind::nsys_capture;
  if (head.starts_with("\x89HDF\r\n\x1a\n")) return FileKind::hdf5;
  if (head.starts_with("PAR1")) return FileKind::parquet;
  // A file and a stream of Arrow's.
  if (head.starts_with("ARROW1") || head.starts_with("\xff\xff\xff\xff"sv)) return FileKind::arrow;
  if (is_xplane(head)) return FileKind::xplane;
  if (is_ncu(head)) return FileKind::ncu_csv;
  const std::string_view text = without_blanks(head);
  if (text.starts_with("{") || text.starts_with("[")) return kind_of_json(text);
  if (text.starts_with("Time (%),Total Time (ns)") || text.starts_with("Time(%),Total Time (ns)"))
    return FileKind::nsys_summary;
  return kind_of_text(text);
}

namespace {

// Units at its end that are not whole are left out, and so is what is no text: its reader says what
// is wrong.
std::string in_utf8(std::string_view head) {
  if (!Utf16Source::begins(head)) return std::string(head);
  std::string out;
  try {
    Utf16Source text(
        std::make_unique<TextSource>(head.substr(0, head.size() & ~std::size_t{1}), ""));
    for (std::array<char, 4096> piece{}; out.size() < kHead;) {
      const std::size_t count = text.read(piece.data(), piece.size());
      if (count == 0) break;
      out.append(piece.data(), count);
    }
  } catch (const WrongUse&) {  // what is before it tells the kind, if any does
  }
  return out;
}

}  // namespace

FileKind kind_of_file(const std::string& path) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) return kind_of_names(path);
  if (!std::filesystem::is_regular_file(path, code)) return FileKind::unknown;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return FileKind::unknown;
  std::vector<char> head(kHead);
  const int count = gzread(file, head.data(), static_cast<unsigned>(head.size()));
  gzclose_r(file);
  if (count <= 0) return FileKind::unknown;
  const FileKind kind =
      kind_of_bytes(in_utf8(std::string_view(head.data(), static_cast<std::size_t>(count))));
  if (kind != FileKind::unknown) return kind;
  // Reports of versions that begin otherwise.
  if (path.ends_with(".nsys-rep") || path.ends_with(".qdrep")) return FileKind::nsys_report;
  if (path.ends_with(".qdstrm")) return FileKind::nsys_capture;
  return path.ends_with(".ncu-rep") ? FileKind::ncu_report : FileKind::unknown;
}

std::string sentence_of(FileKind kind, const std::string& path) {
  const auto exported = [&](const std::string& type) {
    return path + " is " + type +
           ": Gable reads nsys's SQLite; make one with nsys export --type sqlite of the same "
           ".nsys-rep file, and give it with --nsys.";
  };
  switch (kind) {
    case FileKind::unknown:
      return {};
    case FileKind::sqlite:
      return path + " is an SQLite file, as nsys exports it: give it with --nsys.";
    case FileKind::nsys_report:
      return nsys_rep_sentence(path);
    case FileKind::nsys_capture:
      return path +
             " is what nsys recorded before it made a report of it: make one with nsys's "
             "QdstrmImporter, and give what nsys export --type sqlite makes of that with --nsys.";
    case FileKind::nsys_json:
      return exported("an export of nsys as JSON");
    case FileKind::arrow:
      return exported("Arrow, as nsys export --type arrow and arrowdir write it");
    case FileKind::parquet:
      return exported("Parquet, as nsys export --type parquetdir writes it");
    case FileKind::hdf5:
      return exported("HDF5, as nsys export --type hdf writes it");
    case FileKind::nsys_summary:
      return exported("a summary of nsys stats, which no longer tells single kernels apart");
    case FileKind::ncu_report:
      return ncu_rep_sentence(path);
    case FileKind::ncu_csv:
      return path + " is output of ncu: give it with --ncu.";
    case FileKind::trace:
      return path + " looks like a trace of PyTorch's profiler: give it with --kineto.";
    case FileKind::chrome_trace:
      return path +
             " is a trace in Chrome's format, of which Gable reads those of PyTorch's, JAX's and "
             "TensorFlow's profilers: give it with --kineto if it is one.";
    case FileKind::nsys_trace:
      return path +
             " is a trace that was made from an export of nsys, without grids, blocks and copies: "
             "give the export itself (nsys export --type sqlite) with --nsys.";
    case FileKind::nvprof:
      return path +
             " is output of nvprof, which Gable does not read: record the same run with nsys "
             "(Pascal and later, --nsys) or ncu (Volta and later, --ncu); for a PyTorch program, "
             "PyTorch's profiler also has the times of older GPUs (--kineto).";
    case FileKind::rocprof:
      return path +
             " is output of AMD's rocprof, which Gable does not read: of AMD's GPUs it reads the "
             "traces of PyTorch's and JAX's profilers (--kineto) and Triton's profiles (--proton).";
    case FileKind::web_page:
      return path +
             " is a web server's answer, not a profile: the file was not downloaded. Check that "
             "the address is the file's own, and that you may read it.";
    case FileKind::lfs_pointer:
      return path +
             " is a pointer of Git LFS: the file itself was not downloaded; git lfs pull fetches "
             "it.";
    case FileKind::archive:
      return path +
             " is packed in a way that Gable does not read: unpack it, and give what is in it.";
    case FileKind::hatchet:
      return path + " is a profile of Triton's profiler (proton): give it with --proton.";
    case FileKind::xplane:
      return path + " is an XPlane file of JAX's or TensorFlow's profiler: give it with --xplane.";
    case FileKind::gable_report:
      return path + " is a report of Gable's own: gable report shows it.";
  }
  return {};
}

}  // namespace gable
