// SPDX-License-Identifier: Apache-2.0
// Events of a profile as a reader gives them to XlaWork, and what becomes of them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/wrong_use.h"
#include "tools/import/xla/xla_work.h"

namespace gable {

class XlaWorkCase : public testing::Test {
 protected:
  using Texts = std::vector<std::string>;

  XlaWork& work() {
    if (!work_) work_ = std::make_unique<XlaWork>(imported);
    return *work_;
  }
  static XlaTexts with_call(std::uint64_t correlation) {
    XlaTexts texts;
    texts.correlation = correlation;
    return texts;
  }
  // Work in a stream that lasts 2 ns.
  void kernel(std::string_view name, std::int64_t start, const XlaTexts& texts = {},
              std::int32_t device = 0, std::uint32_t process = 0) {
    work().gpu_work(XlaLane::stream, device, process, name, texts, {start, start + 2});
  }
  void call(std::uint64_t correlation, std::int64_t start, std::uint32_t process = 0) {
    work().host_event(process, 1, "launch", with_call(correlation), {start, start + 1});
  }
  void numbered(std::int64_t start, std::int64_t end, std::uint32_t thread = 1) {
    XlaTexts texts;
    texts.numbered_step = true;
    work().host_event(0, thread, "train", texts, {start, end});
  }
  void range(std::string_view name, std::int64_t start, std::int64_t end) {
    work().host_event(0, 1, name, {}, {start, end});
  }
  // Empty, or how it is refused.
  std::string finish(const XlaFile& file = {"dir/a.pb", "a trace", false, "", ""}) {
    try {
      work().finish(file);
    } catch (const WrongUse& problem) {
      return problem.what();
    }
    return {};
  }
  // "name start-end, step".
  Texts kernels() {
    Texts all;
    for (const auto* each = imported.kernels.first(); each != nullptr;
         each = imported.kernels.next())
      all.push_back(imported.functions.name(each->function) + ' ' + std::to_string(each->start_ns) +
                    '-' + std::to_string(each->end_ns) + ", " + std::to_string(each->step));
    return all;
  }
  [[nodiscard]] Texts steps() const {
    Texts all;
    for (const ImportedStep& each : imported.steps)
      all.push_back(std::to_string(each.start_ns) + '-' + std::to_string(each.end_ns));
    return all;
  }
  Imported imported;

 private:
  std::unique_ptr<XlaWork> work_;
};

}  // namespace gable
