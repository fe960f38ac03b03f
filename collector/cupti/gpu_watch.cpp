// SPDX-License-Identifier: Apache-2.0
#include "collector/cupti/gpu_watch.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <utility>

#include "analysis/base/mutex.h"
#include "collector/cupti/nvml.h"
#include "collector/process/own_thread.h"

namespace gable {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kEvery{100};
constexpr std::int32_t kMostDevices = 64;

// What somebody waits for, or has given up.
struct Question {
  std::int32_t device = 0;
  bool answered = false;
  std::optional<std::uint64_t> free_bytes;
};

// Where nothing is known of the link at work: an idle GPU lowers it.
DeviceLinks at_most(DeviceLinks links) {
  if (links.pcie_max.generation > 0) links.pcie.generation = links.pcie_max.generation;
  if (links.pcie_max.width > 0) links.pcie.width = links.pcie_max.width;
  return links;
}

}  // namespace

struct GpuWatch::Shared {
  Nvml nvml;  // the thread's alone, once it has begun

  Mutex mutex;  // never held while NVML is called
  Condition asked, answered;
  bool begun GABLE_GUARDED_BY(mutex) = false;
  bool open GABLE_GUARDED_BY(mutex) = true;  // false: nothing can be asked
  bool opened GABLE_GUARDED_BY(mutex) = false;
  bool given_up GABLE_GUARDED_BY(mutex) = false;
  std::deque<std::shared_ptr<Question>> questions GABLE_GUARDED_BY(mutex);
  std::vector<DeviceLinks> links GABLE_GUARDED_BY(mutex);          // by device, as the next two
  std::vector<DeviceLinks::Pcie> at_work GABLE_GUARDED_BY(mutex);  // the most that was read then
  std::vector<GpuStateSum> sums GABLE_GUARDED_BY(mutex);
  std::function<bool()> when GABLE_GUARDED_BY(mutex);  // empty: nobody wants readings
  std::uint64_t queue GABLE_GUARDED_BY(mutex) = 0;     // for which they are
  bool reading GABLE_GUARDED_BY(mutex) = false;
  std::atomic<std::uint64_t> used{0};  // devices, as bits

  void run();
  bool open_nvml();
  std::shared_ptr<Question> next_question();
  // True: there is no reading of that device yet, and one is wanted.
  bool answer(Question& question);
  [[nodiscard]] bool wants_reading();
  void read_gpus();
};

GpuWatch::GpuWatch() : shared_(std::make_shared<Shared>()) {}

void GpuWatch::find() { shared_->nvml.find(); }

void GpuWatch::start() {
  {
    const MutexLock hold(shared_->mutex);
    if (std::exchange(shared_->begun, true)) return;
  }
  if (start_own_thread("gable-nvml", [shared = shared_] { shared->run(); })) return;
  const MutexLock hold(shared_->mutex);
  shared_->open = false;
  shared_->answered.notify_all();
}

std::optional<std::uint64_t> GpuWatch::free_bytes(std::int32_t device) {
  auto& s = *shared_;
  const auto question = std::make_shared<Question>();
  question->device = device;
  UniqueLock hold(s.mutex);
  if (!s.begun || !s.open || s.given_up) return std::nullopt;
  s.questions.push_back(question);
  s.asked.notify_one();
  const auto over = [&]() GABLE_REQUIRES(s.mutex) {
    return question->answered || !s.open || s.given_up;
  };
  const auto opened = [&]() GABLE_REQUIRES(s.mutex) { return s.opened || over(); };
  if (!s.answered.wait_for(hold, kOpenPatience, opened) ||
      !s.answered.wait_for(hold, kPatience, over)) {
    s.given_up = true;
    s.answered.notify_all();
  }
  return question->free_bytes;
}

std::vector<DeviceLinks> GpuWatch::links() const {
  const MutexLock hold(shared_->mutex);
  auto links = shared_->links;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const auto& seen = shared_->at_work[i];
    if (seen.generation > 0) links[i].pcie.generation = seen.generation;
    if (seen.width > 0) links[i].pcie.width = seen.width;
  }
  return links;
}

void GpuWatch::watch(std::function<bool()> when) {
  const MutexLock hold(shared_->mutex);
  shared_->when = std::move(when);
  ++shared_->queue;
  for (auto& sum : shared_->sums) sum = {};
  shared_->asked.notify_one();
}

void GpuWatch::rest() {
  UniqueLock hold(shared_->mutex);
  shared_->when = {};
  (void)shared_->answered.wait_for(
      hold, kEvery, [this]() GABLE_REQUIRES(shared_->mutex) { return !shared_->reading; });
}

void GpuWatch::use(std::int32_t device) {
  if (device < 0 || device >= kMostDevices) return;
  shared_->used.fetch_or(std::uint64_t{1} << device, std::memory_order_relaxed);
}

std::vector<std::optional<GpuState>> GpuWatch::states() const {
  const MutexLock hold(shared_->mutex);
  std::vector<std::optional<GpuState>> states;
  for (const auto& sum : shared_->sums) states.push_back(sum.state());
  return states;
}

bool GpuWatch::Shared::open_nvml() {
  if (!nvml.open()) return false;
  for (std::int32_t device = 0; device < nvml.devices(); ++device) {
    const auto found = at_most(nvml.links(device));
    const MutexLock hold(mutex);
    links.push_back(found);
    at_work.emplace_back();
    sums.emplace_back();
  }
  return true;
}

void GpuWatch::Shared::run() {
  be_own_thread();
  const bool can_ask = open_nvml();
  {
    const MutexLock hold(mutex);
    open = opened = can_ask;
    answered.notify_all();
  }
  if (!can_ask) return;
  for (auto last = Clock::time_point();;) {
    const auto question = next_question();
    const bool wanted = question != nullptr && answer(*question);
    if (const auto now = Clock::now(); wanted || (now - last >= kEvery && wants_reading())) {
      last = now;
      read_gpus();
    }
    const MutexLock hold(mutex);
    reading = false;
    answered.notify_all();
  }
}

// Waits for one, but not beyond the time of the next reading. From here on whoever ends the
// readings waits for the one that may follow.
std::shared_ptr<Question> GpuWatch::Shared::next_question() {
  UniqueLock hold(mutex);
  const auto asks = [this]() GABLE_REQUIRES(mutex) { return !questions.empty(); };
  if (when) {
    asked.wait_for(hold, kEvery, asks);
  } else {
    asked.wait(hold, [this]() GABLE_REQUIRES(mutex) { return when || !questions.empty(); });
  }
  reading = true;
  if (questions.empty()) return nullptr;
  auto question = questions.front();
  questions.pop_front();
  return question;
}

// Who asks for memory is about to count: of each window's GPU there is a reading.
bool GpuWatch::Shared::answer(Question& question) {
  const auto bytes = nvml.free_bytes(question.device);
  const MutexLock hold(mutex);
  question.free_bytes = bytes;
  question.answered = true;
  answered.notify_all();
  const auto place = static_cast<std::size_t>(question.device);
  return when && question.device >= 0 && place < sums.size() && !sums[place].state();
}

bool GpuWatch::Shared::wants_reading() {
  const MutexLock hold(mutex);
  return when && when();
}

void GpuWatch::Shared::read_gpus() {
  std::uint64_t of_queue = 0;
  {
    const MutexLock hold(mutex);
    of_queue = queue;
  }
  for (std::int32_t device = 0; device < nvml.devices() && device < kMostDevices; ++device) {
    if ((used.load(std::memory_order_relaxed) >> device & 1) == 0) continue;
    const auto found = nvml.read(device);
    const auto pcie = nvml.pcie(device);
    const MutexLock hold(mutex);
    // Another queue may have begun meanwhile.
    if (queue != of_queue) return;
    const auto place = static_cast<std::size_t>(device);
    sums[place].add(found);
    if (!found.reasons || found.idle()) continue;  // the link may be lowered
    at_work[place].generation = std::max(at_work[place].generation, pcie.generation);
    at_work[place].width = std::max(at_work[place].width, pcie.width);
  }
}

}  // namespace gable
