// SPDX-License-Identifier: Apache-2.0
#include "analysis/recorder/recording_text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "analysis/recorder/recording_calls.h"

namespace gable {
namespace {

// What the lines of launches say beside what is launched; each is tried where the one before makes
// too long a recording.
enum class Detail : std::uint8_t {
  every_launch,  // times and counters of each launch that was measured
  times,         // times of each; counters are means of a kind
  one_step,      // times of the first measured step of each sequence of launches
  means,         // means of a kind
};

using Call = RunRecorder::Call;
using Step = std::span<const Call>;

std::vector<Step> steps_of(const std::vector<Call>& calls) {
  std::vector<Step> steps;
  for (std::size_t first = 0, i = 0; i < calls.size(); ++i) {
    if (i + 1 < calls.size() && calls[i + 1].step == calls[first].step) continue;
    steps.emplace_back(calls.data() + first, i + 1 - first);
    first = i + 1;
  }
  return steps;
}

bool is_timed(Step step) {
  return std::any_of(step.begin(), step.end(), [](const Call& call) { return call.end_ns != 0; });
}

// Whether the program itself ended the step.
bool is_whole(const RunRecorder& run, Step step) {
  return std::all_of(step.begin(), step.end(), [&run](const Call& call) {
    const auto window = run.windows().find(call.window);
    return call.window == kNoWindow || (window != run.windows().end() && window->second.kept);
  });
}

class Writer {
 public:
  Writer(const RunRecorder& run, const Profile::State& profile, const RecordingSource& source)
      : run_(run), source_(source), calls_(run, profile), steps_(steps_of(calls_.calls())) {}

  RecordingText write() {
    RecordingText result;
    if (steps_.empty()) {
      result.why_not = "nothing was launched while the program was followed";
      return result;
    }
    const auto lost = what_was_lost();
    for (const auto detail :
         {Detail::every_launch, Detail::times, Detail::one_step, Detail::means}) {
      auto left_out = lost;
      if (const char* sentence = of(detail); sentence != nullptr) left_out.emplace_back(sentence);
      auto text = whole(detail, steps_.size(), left_out);
      if (text.size() <= run_.limits().max_bytes) return {std::move(text), {}, left_out};
    }
    return cut(lost);
  }

 private:
  // As many steps as fit, from the first on.
  RecordingText cut(const std::vector<std::string>& lost) {
    std::size_t fits = 0, too_many = steps_.size();
    RecordingText best;
    while (too_many - fits > 1) {
      const std::size_t tried = fits + (too_many - fits) / 2;
      auto left_out = lost;
      left_out.emplace_back(of(Detail::means));
      left_out.push_back("The last " + std::to_string(steps_.size() - tried) + " of " +
                         std::to_string(steps_.size()) + " stretches of launches are left out.");
      auto text = whole(Detail::means, tried, left_out);
      if (text.size() > run_.limits().max_bytes) {
        too_many = tried;
        continue;
      }
      fits = tried;
      best = {std::move(text), {}, std::move(left_out)};
    }
    if (fits == 0) {
      best.why_not = "one stretch of launches alone takes more than " +
                     std::to_string(run_.limits().max_bytes) + " bytes";
    }
    return best;
  }

  static const char* of(Detail detail) {
    switch (detail) {
      case Detail::every_launch:
        return nullptr;
      case Detail::times:
        return "Counters are means over the launches of a kind, so that the recording stays small.";
      case Detail::one_step:
        return "Counters are means over the launches of a kind, and times of single launches are "
               "those of one measured step of each sequence of launches, so that the recording "
               "stays small.";
      case Detail::means:
        return "Counters and times are means over the launches of a kind, so that the recording "
               "stays small.";
    }
    return nullptr;
  }

  std::vector<std::string> what_was_lost() const {
    std::vector<std::string> sentences;
    const auto say = [&sentences](std::uint64_t count, const std::string& what) {
      if (count > 0) sentences.push_back(std::to_string(count) + " " + what);
    };
    const auto& lost = run_.lost();
    say(lost.calls, "launches and copies found no room and are left out.");
    say(lost.other_kinds, "launches of further kinds found no room and are left out.");
    say(lost.unknown_graphs, "launches of graphs that nothing is known of are left out.");
    say(run_.stray_copies() + calls_.unsaid_copies(),
        "copies are left out: their calls or records were not seen, or recordings have no such "
        "kind.");
    say(lost.values, "launches have no counters of their own, only the means of their kind.");
    say(lost.range_samples, "counts of several launches together are left out.");
    say(calls_.untimed(), "kinds of launches were never timed; they take 1000 ns here.");
    return sentences;
  }

  [[nodiscard]] bool is_before_steps(Step step) const {
    return step.front().step <= run_.last_before_steps();
  }

  // The lines of a step, and its border.
  std::string lines(std::size_t index, Detail detail, std::map<std::string, bool>& timed) {
    const Step step = steps_[index];
    bool times = detail <= Detail::times;
    if (detail == Detail::one_step && is_timed(step)) {
      const auto first = timed.try_emplace(calls_.step(step, false, false), true);
      times = first.second;
    }
    auto text = calls_.step(step, times, detail == Detail::every_launch);
    if (!source_.steps) return text;
    const bool last = index + 1 == steps_.size();
    const bool border = is_before_steps(step) ? !last && !is_before_steps(steps_[index + 1])
                                              : !last || is_whole(run_, step);
    return border ? text + "{\"op\":\"gable_step\"}\n" : text;
  }

  std::string whole(Detail detail, std::size_t count, const std::vector<std::string>& left_out) {
    std::map<std::string, bool> timed;
    std::vector<std::string> texts;
    texts.reserve(count);
    for (std::size_t i = 0; i < count; ++i) texts.push_back(lines(i, detail, timed));
    std::map<std::string_view, std::pair<std::size_t, std::size_t>> same;  // how many, number
    for (const auto& text : texts) ++same[text].first;

    const auto& all = calls_.calls();
    const std::span<const Call> used(
        all.data(),
        static_cast<std::size_t>(steps_[count - 1].data() + steps_[count - 1].size() - all.data()));
    std::string note = source_.note;
    for (const auto& sentence : left_out) note += " " + sentence;
    std::string text = calls_.header(source_.origin, note) + calls_.devices() +
                       calls_.kernels(used) + calls_.preparations(used);
    // Without launches before the first border, that border begins the first step.
    // The GPU is opened before it, so that it is heard.
    if (source_.steps && !is_before_steps(steps_.front()))
      text += "{\"op\":\"sync\"}\n{\"op\":\"gable_step\"}\n";
    std::size_t sequences = 0;
    for (std::size_t i = 0; i < count;) {
      std::size_t next = i + 1;
      while (next < count && texts[next] == texts[i]) ++next;
      auto& [times, number] = same[texts[i]];
      if (times == 1) {
        text += texts[i];
      } else {
        if (number == 0) {
          number = ++sequences;
          const auto name = "\"s" + std::to_string(number) + "\"}\n";
          text += "{\"sequence\":" + name + texts[i] + "{\"end_sequence\":" + name;
        }
        text += "{\"op\":\"play\",\"sequence\":\"s" + std::to_string(number) +
                "\",\"times\":" + std::to_string(next - i) + "}\n";
      }
      i = next;
    }
    return text;
  }

  const RunRecorder& run_;
  const RecordingSource& source_;
  RecordingCalls calls_;
  const std::vector<Step> steps_;
};

}  // namespace

RecordingText recording_text(const RunRecorder& run, const Profile::State& profile,
                             const RecordingSource& source) {
  if (profile.devices.empty()) return {{}, "the GPU was not asked what it is", {}};
  return Writer(run, profile, source).write();
}

}  // namespace gable
