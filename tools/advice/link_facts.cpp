// SPDX-License-Identifier: Apache-2.0
#include "tools/advice/link_facts.h"

#include <algorithm>
#include <cmath>

#include "analysis/base/display.h"
#include "analysis/roofline/link_roofs.h"
#include "tools/merge/waiting.h"

namespace gable {
namespace {

// Of several rows together: bytes over time, and the time at their roofs over time.
class Rate {
 public:
  void add(const Maybe& bytes, const Maybe& time_ns, const LinkUse& roof, double times = 1) {
    known_ = known_ && bytes && time_ns;
    bytes_ += bytes.value_or(0) * times;
    time_ns_ += time_ns.value_or(0) * times;
    // What was measured of each direction has the direction's name.
    const std::string link = roof.source == "measured" ? roof.source : roof.ceiling;
    bounded_ = bounded_ && roof.fraction && (link_.empty() || link_ == link);
    link_ = link;
    least_ns_ += roof.fraction.value_or(0) * time_ns.value_or(0) * times;
    const Maybe speed = quotient(quotient(bytes, time_ns, 1e9), roof.fraction);
    if (speed && fastest_ > 0 && std::abs(*speed - fastest_) > kSameSpeed * fastest_) same_ = false;
    fastest_ = std::max(fastest_, speed.value_or(0));
  }
  [[nodiscard]] std::string text(const std::string& what) const {
    if (!known_ || bytes_ <= 0 || time_ns_ <= 0) return {};
    const double rate = bytes_ / time_ns_ * 1e9;
    std::string said = " They reach " + with_prefix(rate, "B/s") + what;
    if (bounded_ && least_ns_ > 0) {
      const double fraction = least_ns_ / time_ns_;
      said += ", " + percent(fraction) + " of " + roof_text();
    }
    return said + ".";
  }

 private:
  [[nodiscard]] std::string roof_text() const {
    const std::string rate = with_prefix(fastest_, "B/s");
    if (link_ == "measured")
      return same_ ? "the " + rate + " that were measured" : "what was measured";
    const std::string name = link_ == "nvlink" ? "NVLink" : "PCIe";
    return same_ ? name + "'s " + rate : "what their " + name + " links can do";
  }

  double bytes_ = 0, time_ns_ = 0, least_ns_ = 0;
  double fastest_ = 0;  // of the links' roofs, byte/s
  bool known_ = true, bounded_ = true, same_ = true;
  std::string link_;
  static constexpr double kSameSpeed = 0.01;
};

bool with_host(const CopyRow& copy) {
  return copy.kind == CopyKind::host_to_device || copy.kind == CopyKind::device_to_host;
}

}  // namespace

HostCopies host_copies(const Report& report) {
  HostCopies sums;
  for (const CopyRow& copy : report.copies) {
    if (!with_host(copy)) continue;
    const double time = copy.time_ns.value_or(0);
    sums.time_ns += time;
    if (copy.host_memory == HostMemory::pinned) sums.pinned_ns += time;
    if (copy.host_memory == HostMemory::pageable) sums.pageable_ns += time;
  }
  return sums;
}

std::string rate_of_copies(const Report& report) {
  Rate rate;
  for (const CopyRow& copy : report.copies)
    if (with_host(copy)) rate.add(copy.bytes, copy.time_ns, copy.roof);
  return rate.text("");
}

std::string rate_of_collectives(const Report& report) {
  Rate rate;
  bool any = false, waiting = false;
  for (const KernelRow& kernel : report.kernels) {
    if (kernel.roof.bound != Bound::communication || kernel.counts_again()) continue;
    any = true;
    const CollectiveRow none;
    const CollectiveRow& row = kernel.collective ? *kernel.collective : none;
    waiting = waiting || !row.transfer_ns;
    rate.add(row.bus_bytes, exchange_time(kernel), row.roof, kernel.launches);
  }
  if (!any) return {};
  return rate.text(waiting ? " on the bus, waiting for other ranks included"
                           : " on the bus in transfer");
}

std::optional<WaitingShare> waiting_share(const Report& report) {
  const std::vector<Waiter> all = waiters(report);
  if (all.empty()) return std::nullopt;
  const Waiter mean = mean_waiter(all);
  if (!(mean.time_ns > 0)) return std::nullopt;
  WaitingShare share{mean.wait_ns / mean.time_ns, {}};
  if (const auto late = late_one(all)) share.for_whom = late->name;
  return share;
}

}  // namespace gable
