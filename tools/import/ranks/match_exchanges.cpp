// SPDX-License-Identifier: Apache-2.0
#include "tools/import/ranks/match_exchanges.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

namespace gable {
namespace {

// What clocks of one machine's GPUs are apart, and how much later than another a rank of the same
// communicator may be done.
constexpr std::uint64_t kClocksApartNs = 10000, kEndsApartNs = 20000;
constexpr double kEndsApart = 0.25, kMostly = 0.95;  // of the transfer; of the instances
// Fewer have no two communicators of the same size.
constexpr std::size_t kCouldBeTwoGroups = 4;

enum class Unknown : std::uint8_t { ranks_missing, counts_differ, order, groups };
constexpr std::array<const char*, 4> kWhy = {
    "not all ranks of their group have a file here",
    "some ranks have another number of them, or other sizes, in the same place",
    "nothing tells which launches belong together: there are no sequence numbers (Seq), no steps "
    "that all files have, and the files' clocks do not agree",
    "the files name no process groups, and the ranks are not done together",
};

using Kernels = std::vector<Exchange*>;

bool same_work(const Kernels& instance) {
  return std::all_of(instance.begin(), instance.end(), [&](const Exchange* each) {
    return each->kind == instance.front()->kind && each->bytes == instance.front()->bytes;
  });
}

std::uint64_t shortest(const Kernels& instance) {
  return (*std::min_element(
              instance.begin(), instance.end(),
              [](const auto* a, const auto* b) { return a->duration_ns() < b->duration_ns(); }))
      ->duration_ns();
}

// Nobody left before all had come.
bool all_meet(const Kernels& instance) {
  std::uint64_t last_start = 0, first_end = UINT64_MAX;
  for (const Exchange* each : instance) {
    last_start = std::max(last_start, each->start_ns);
    first_end = std::min(first_end, each->end_ns);
  }
  return last_start - std::min(first_end, last_start) <= kClocksApartNs;
}

bool end_together(const Kernels& instance) {
  std::uint64_t first = UINT64_MAX, last = 0;
  for (const Exchange* each : instance) {
    first = std::min(first, each->end_ns);
    last = std::max(last, each->end_ns);
  }
  const auto transfer = static_cast<double>(shortest(instance));
  return static_cast<double>(last - first) <=
         std::max(static_cast<double>(kEndsApartNs), kEndsApart * transfer);
}

class Matcher {
 public:
  explicit Matcher(const std::vector<RankExchanges*>& ranks) : ranks_(ranks) {}

  std::vector<std::string> run() {
    std::set<std::string> names;
    for (RankExchanges* rank : ranks_) {
      for (ExchangeMember& member : rank->members)
        for (const auto& [name, channel] : member) names.insert(name);
      members_ += rank->members.size();
      if (rank->world_size) world_size_ = std::max(world_size_, *rank->world_size);
    }
    for (const std::string& name : names) match(name);
    for (RankExchanges* rank : ranks_) sum(*rank);
    return notes();
  }

 private:
  using Channels = std::vector<ExchangeChannel*>;

  void match(const std::string& name) {
    Channels channels;
    for (RankExchanges* rank : ranks_)
      for (ExchangeMember& member : rank->members)
        if (const auto found = member.find(name); found != member.end())
          channels.push_back(&found->second);
    const ExchangeChannel& first = *channels.front();
    // Of a group without a name all that is known is whether it can be that of all.
    std::uint64_t ranks = first.ranks;
    if (ranks == 0) ranks = std::max<std::uint64_t>(world_size_, members_);
    if (channels.size() < ranks && (first.named || ranks > members_))
      return leave(channels, Unknown::ranks_missing);
    if (channels.size() != ranks) return leave(channels, Unknown::counts_differ);
    if (!first.named && ranks != members_) return leave(channels, Unknown::groups);
    if (first.named && all_have(channels, &Exchange::sequence)) {
      by_number(channels, &Exchange::sequence);
    } else if (all_have(channels, &Exchange::step)) {
      by_number(channels, &Exchange::step);
    } else {
      by_order(channels);
    }
    for (RankExchanges* rank : ranks_)
      for (ExchangeMember& member : rank->members)
        if (const auto found = member.find(name); found != member.end())
          for (const Exchange& exchange : found->second.exchanges)
            rank->rows[exchange.row].ranks = ranks;
  }

  void leave(const Channels& channels, Unknown why) {
    for (const ExchangeChannel* channel : channels)
      for (const Exchange& exchange : channel->exchanges) leave(exchange, why);
  }
  void leave(const Exchange& exchange, Unknown why) {
    if (exchange.counts) ++unknown_[static_cast<std::size_t>(why)];
  }
  void leave(const std::vector<Kernels>& instances, Unknown why) {
    for (const Kernels& instance : instances)
      for (const Exchange* exchange : instance) leave(*exchange, why);
  }

  // Those that count do.
  static bool all_have(const Channels& channels, std::optional<std::uint64_t> Exchange::*number) {
    return std::all_of(channels.begin(), channels.end(), [number](const ExchangeChannel* channel) {
      return std::all_of(channel->exchanges.begin(), channel->exchanges.end(),
                         [number](const Exchange& exchange) {
                           return !exchange.counts || (exchange.*number).has_value();
                         });
    });
  }

  // What has the same sequence number, or is in the step of the same number: the first of each
  // member is with the first of the others, and so on, if all that is known of them agrees. One
  // call may make several kernels.
  void by_number(const Channels& channels, std::optional<std::uint64_t> Exchange::*number) {
    std::map<std::uint64_t, std::vector<Kernels>> parts;  // of each member
    for (std::size_t i = 0; i < channels.size(); ++i) {
      for (Exchange& exchange : channels[i]->exchanges) {
        if (!(exchange.*number)) continue;
        std::vector<Kernels>& part = parts[*(exchange.*number)];
        part.resize(channels.size());
        part[i].push_back(&exchange);
      }
    }
    std::vector<Kernels> instances;
    for (const auto& [value, part] : parts) {
      std::vector<Kernels> of_part;
      if (turned(part, of_part)) {
        std::move(of_part.begin(), of_part.end(), std::back_inserter(instances));
      } else {
        leave(part, Unknown::counts_differ);
      }
    }
    finish(instances, channels);
  }

  static bool turned(const std::vector<Kernels>& by_member, std::vector<Kernels>& instances) {
    const std::size_t count = by_member.front().size();
    for (const Kernels& member : by_member)
      if (member.size() != count) return false;
    instances.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      for (const Kernels& member : by_member) instances[i].push_back(member[i]);
      if (!same_work(instances[i])) return false;
    }
    return true;
  }

  void by_order(const Channels& channels) {
    std::vector<Kernels> by_member(channels.size()), instances;
    for (std::size_t i = 0; i < channels.size(); ++i)
      for (Exchange& exchange : channels[i]->exchanges) by_member[i].push_back(&exchange);
    if (!turned(by_member, instances)) return leave(by_member, Unknown::counts_differ);
    if (!std::all_of(instances.begin(), instances.end(), all_meet))
      return leave(by_member, Unknown::order);
    finish(instances, channels);
  }

  // Where all that is known is kernels' names, ranks of two communicators could be in an instance.
  void finish(const std::vector<Kernels>& instances, const Channels& channels) {
    if (channels.front()->ranks == 0 && channels.size() >= kCouldBeTwoGroups) {
      const auto together = std::count_if(instances.begin(), instances.end(), end_together);
      if (static_cast<double>(together) < kMostly * static_cast<double>(instances.size()))
        return leave(instances, Unknown::groups);
    }
    for (const Kernels& instance : instances) {
      const std::uint64_t transfer = shortest(instance);
      std::uint64_t waited = 0, last = 0;
      for (Exchange* exchange : instance) {
        exchange->transfer_ns = transfer;
        if (exchange->counts) waited += exchange->duration_ns() - transfer;
        if (exchange->duration_ns() == transfer) ++last;
      }
      for (Exchange* exchange : instance)
        if (exchange->duration_ns() == transfer)
          exchange->others_wait_ns = static_cast<double>(waited) / static_cast<double>(last);
    }
  }

  static void sum(RankExchanges& rank) {
    for (const ExchangeMember& member : rank.members) {
      for (const auto& [name, channel] : member) {
        for (const Exchange& exchange : channel.exchanges) {
          if (!exchange.counts || !exchange.transfer_ns) continue;
          RankExchanges::Row& row = rank.rows[exchange.row];
          ++row.known;
          row.transfer_ns += *exchange.transfer_ns;
          row.wait_ns += exchange.duration_ns() - *exchange.transfer_ns;
          row.others_wait_ns += exchange.others_wait_ns;
        }
      }
    }
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    for (std::size_t why = 0; why < unknown_.size(); ++why) {
      if (unknown_[why] > 0)
        notes.push_back(
            "Waiting and transfer of " + std::to_string(unknown_[why]) +
            std::string(unknown_[why] == 1 ? " collective kernel" : " collective kernels") +
            " are" + " unknown: " + kWhy[why] + ".");
    }
    return notes;
  }

  const std::vector<RankExchanges*>& ranks_;
  std::size_t members_ = 0;
  std::uint64_t world_size_ = 0;
  std::array<std::uint64_t, kWhy.size()> unknown_{};
};

}  // namespace

std::vector<std::string> match_exchanges(const std::vector<RankExchanges*>& ranks) {
  return Matcher(ranks).run();
}

}  // namespace gable
