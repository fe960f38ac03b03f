// SPDX-License-Identifier: Apache-2.0
#include "tools/import/nsys/nsys_texts.h"

#include "analysis/base/text.h"
#include "collector/options/range_name.h"

namespace gable {
namespace {

constexpr int kDomainCreate = 75;

}  // namespace

// The text of StringIds, or of the column itself.
std::string NsysTexts::text(const SqliteRows& rows, int column) {
  if (rows.is_null(column)) return {};
  if (rows.is_text(column)) return std::string(rows.text(column));
  if (!file_.has("StringIds")) return {};
  if (!strings_)
    strings_.emplace(file_, "StringIds", std::vector<std::string>{"value"}, " WHERE id = ?1");
  strings_->again(static_cast<std::int64_t>(rows.needed(column)));
  return strings_->next() ? std::string(strings_->text(0)) : std::string();
}

FunctionId NsysTexts::function(const SqliteRows& rows, int first) {
  for (const int column : {first, first + 1}) {
    const auto id = rows.integer(column);
    if (id) {
      const auto known = known_.find(*id);
      if (known != known_.end()) return known->second;
    }
    const std::string name = text(rows, column);
    if (name.empty()) continue;
    const FunctionId function = functions_.intern(name);
    if (id) known_.emplace(*id, function);
    return function;
  }
  return functions_.intern("(unnamed)");
}

NamedCall NsysTexts::call(const SqliteRows& rows, int column) {
  const auto id = rows.integer(column);
  if (!id) return named_call(text(rows, column));
  const auto known = calls_.find(*id);
  if (known != calls_.end()) return known->second;
  return calls_.emplace(*id, named_call(text(rows, column))).first->second;
}

void NsysTexts::read_domains(const char* table) {
  SqliteRows rows(file_, table, {"globalTid", "domainId", "text", "textId"},
                  " WHERE eventType = " + std::to_string(kDomainCreate));
  while (rows.next()) {
    std::string name = text(rows, 2);
    if (name.empty()) name = text(rows, 3);
    domains_[{rows.number(0).value_or(0) & ~kThreadPart, rows.number(1).value_or(0)}] = name;
  }
}

std::uint32_t NsysTexts::range(const SqliteRows& rows, std::uint64_t process, RangeNames& names) {
  const std::uint64_t domain = rows.number(3).value_or(0);
  const bool by_id = rows.is_null(4) && !rows.is_null(5);
  const std::pair<std::uint64_t, std::uint64_t> key{by_id ? rows.needed(5) : 0, process ^ domain};
  if (by_id) {
    const auto known = ranges_.find(key);
    if (known != ranges_.end()) return known->second;
  }
  const std::string raw = text(rows, by_id ? 5 : 4);
  std::string_view cut = RangeNaming::cut_sequence_numbers(raw, buffer_);
  if (const auto sizes = cut.find(", sizes = ["); sizes != std::string_view::npos)
    cut = cut.substr(0, sizes);
  std::string name = fitting_name(cut, kLongestRangeName);
  const auto step = steps_.step_name(name);
  if (step) name = *step;
  if (name.empty()) name = "(unnamed)";
  const auto found = domains_.find({process, domain});
  if (found != domains_.end() && !found->second.empty() && found->second != "gable")
    name = found->second + ":" + name;
  const std::uint32_t id = names.id(name);
  if (step) step_names_.insert(id);
  if (fetches_input(raw)) input_names_.insert(id);
  if (by_id) ranges_.emplace(key, id);
  return id;
}

namespace {

// The numbers by which processes call a GPU, by its row: they see a part of the machine's.
std::map<std::uint64_t, std::set<std::int32_t>> numbers_of_gpus(SqliteFile& file) {
  std::map<std::uint64_t, std::set<std::int32_t>> numbers;
  const char* const table = "TARGET_INFO_CUDA_DEVICE";
  if (!file.has(table, "gpuId") || !file.has(table, "cudaId")) return numbers;
  SqliteRows rows(file, table, {"gpuId", "cudaId"}, " WHERE gpuId >= 0 AND cudaId >= 0");
  while (rows.next())
    numbers[rows.number(0).value_or(0)].insert(
        static_cast<std::int32_t>(rows.number(1, 1u << 20).value_or(0)));
  return numbers;
}

// Exports of 2020 and before: the CUDA device's own number, bandwidth in kB/s and clock in kHz.
void read_old_devices(SqliteFile& file, Imported& imported) {
  const char* const table = "TARGET_INFO_CUDA_GPU";
  SqliteRows rows(
      file, table,
      {"deviceId", "name", "numMultiprocessors", "coreClockRate", "globalMemoryBandwidth",
       "l2CacheSize", "globalMemorySize", "computeCapabilityMajor", "computeCapabilityMinor"});
  constexpr std::uint64_t kKilo = 1000, kMost = ~std::uint64_t{0} / kKilo;
  while (rows.next()) {
    DeviceInfo device;
    device.id = static_cast<std::int32_t>(rows.number(0, 1u << 20).value_or(0));
    device.name = rows.text(1);
    device.sm_count = static_cast<int>(rows.number(2, 1u << 20).value_or(0));
    device.sm_clock_max_hz = rows.number(3, kMost).value_or(0) * kKilo;
    device.l2_bytes = rows.number(5).value_or(0);
    device.memory_bytes = rows.number(6).value_or(0);
    device.compute_major = static_cast<int>(rows.number(7, 1000).value_or(0));
    device.compute_minor = static_cast<int>(rows.number(8, 1000).value_or(0));
    const bool known = imported.devices.contains(device.id);  // each process has a row
    add_device(device, file.path(), imported);
    if (const auto bandwidth = rows.number(4, kMost).value_or(0); bandwidth > 0 && !known)
      imported.stated.push_back(
          {device.id, CeilingKind::memory, "dram", static_cast<double>(bandwidth * kKilo),
           "theoretical: globalMemoryBandwidth in nsys's TARGET_INFO_CUDA_GPU"});
  }
}

}  // namespace

void read_nsys_devices(SqliteFile& file, Imported& imported) {
  if (file.has("TARGET_INFO_CUDA_GPU", "deviceId")) return read_old_devices(file, imported);
  if (!file.has("TARGET_INFO_GPU")) return;
  const auto numbers = numbers_of_gpus(file);
  std::set<std::int32_t> taken;
  for (const auto& [id, places] : numbers) taken.insert(places.begin(), places.end());
  SqliteRows rows(file, "TARGET_INFO_GPU",
                  {"id", "cuDevice", "name", "chipName", "smCount", "clockRate", "memoryBandwidth",
                   "l2CacheSize", "totalMemory", "computeMajor", "computeMinor"});
  while (rows.next()) {
    const auto id = rows.number(1, 1u << 20);
    const std::uint64_t gpu = rows.number(0, 1u << 20).value_or(0);
    const auto place = static_cast<std::int32_t>(id ? *id : gpu);
    DeviceInfo device;
    device.name = rows.text(2);
    device.chip = rows.text(3);
    device.sm_count = static_cast<int>(rows.number(4, 1u << 20).value_or(0));
    device.sm_clock_max_hz = rows.number(5).value_or(0);
    device.l2_bytes = rows.number(7).value_or(0);
    device.memory_bytes = rows.number(8).value_or(0);
    device.compute_major = static_cast<int>(rows.number(9, 1000).value_or(0));
    device.compute_minor = static_cast<int>(rows.number(10, 1000).value_or(0));
    // Windows lists adapters that CUDA does not have.
    if (device.sm_count == 0 && device.compute_major == 0 && device.sm_clock_max_hz == 0) continue;
    std::set<std::int32_t> places = {place};
    if (const auto found = numbers.find(gpu); found != numbers.end())
      places = found->second;
    else if (taken.contains(place))
      continue;
    for (const std::int32_t each : places) {
      device.id = each;
      add_device(device, file.path(), imported);
      if (const auto bandwidth = rows.number(6).value_or(0); bandwidth > 0)
        imported.stated.push_back({each, CeilingKind::memory, "dram",
                                   static_cast<double>(bandwidth),
                                   "theoretical: memoryBandwidth in nsys's TARGET_INFO_GPU"});
    }
  }
}

std::string nsys_version(SqliteFile& file) {
  for (const char* table : {"META_DATA_EXPORT", "EXPORT_META_DATA"}) {
    if (!file.has(table)) continue;
    SqliteRows rows(file, table, {"value"}, " WHERE name = 'EXPORT_PRODUCT_VERSION'");
    if (rows.next()) return " " + std::string(rows.text(0).substr(0, 32));
  }
  return {};
}

}  // namespace gable
