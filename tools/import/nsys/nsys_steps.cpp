// SPDX-License-Identifier: Apache-2.0
#include "tools/import/nsys/nsys_steps.h"

#include <algorithm>
#include <utility>

namespace gable {

CopyRecord nsys_copy(const NsysOperation& operation, const NsysSource& source) {
  CopyRecord record;
  record.start_ns = operation.start_ns;
  record.end_ns = operation.end_ns;
  record.device = source.device;
  record.kind = source.kind;
  record.host = source.host;
  if (source.sized) record.bytes = operation.what;
  return record;
}

void NsysSteps::add(const NsysOperation& operation, const ImportedKernel& kernel) {
  if (kernel.step > 0) {
    if (sequences_.size() < kernel.step) sequences_.resize(kernel.step);
    sequences_[kernel.step - 1] += work_hash(kernel);
  }
  add(operation, kernel.start_ns, kernel.end_ns, kernel.layer);
}

void NsysSteps::add(const NsysOperation& operation, const ImportedCopy& copy) {
  add(operation, copy.record.start_ns, copy.record.end_ns, copy.layer);
}

void NsysSteps::add(const NsysOperation& operation, std::uint64_t start_ns, std::uint64_t end_ns,
                    LayerId layer) {
  NsysPlaced placed{operation, layer};
  placed.operation.start_ns = start_ns;
  placed.operation.end_ns = end_ns;
  placed_.add(placed);
}

void NsysSteps::record(const std::vector<ImportedStep>& steps,
                       const std::function<TracedSteps(const RecordWindow&)>& read_calls) {
  sequences_.resize(steps.size());
  for (const RecordWindow& window : record_windows(sequences_, steps)) {
    StepRecordMaker maker(imported_, read_calls(window));
    std::vector<NsysPlaced> wanted;
    for (const NsysPlaced* each = placed_.first(); each != nullptr; each = placed_.next()) {
      const NsysOperation& operation = each->operation;
      if (operation.correlation > 0 &&
          maker.wants(nsys_key(sources_[operation.source].process, operation.correlation)))
        wanted.push_back(*each);
    }
    add_to(maker, std::move(wanted));
    maker.finish();
  }
}

void NsysSteps::add_to(StepRecordMaker& maker, std::vector<NsysPlaced> wanted) {
  std::sort(wanted.begin(), wanted.end(), [](const NsysPlaced& a, const NsysPlaced& b) {
    return a.operation.place < b.operation.place;
  });
  const NsysNode* node = nodes_.first();
  for (const auto& [operation, layer] : wanted) {
    while (node != nullptr && node->place < operation.place) node = nodes_.next();
    const NsysSource& source = sources_[operation.source];
    WorkOrigin origin;
    origin.correlation = nsys_key(source.process, operation.correlation);
    if (node != nullptr && node->place == operation.place) origin.graph_node = node->id;
    origin.stream = source.stream;
    origin.context = source.context;
    if (source.kernel) {
      ImportedKernel kernel;
      kernel.start_ns = operation.start_ns;
      kernel.end_ns = operation.end_ns;
      kernel.function = static_cast<FunctionId>(operation.what >> 32);
      kernel.shape = static_cast<std::uint32_t>(operation.what);
      kernel.layer = layer;
      kernel.device = source.device;
      maker.add(kernel, origin);
    } else {
      ImportedCopy copy;
      copy.record = nsys_copy(operation, source);
      copy.layer = layer;
      maker.add(copy, origin);
    }
  }
}

}  // namespace gable
