// SPDX-License-Identifier: Apache-2.0
// What would go wrong for a user: a second CUPTI loaded beside the program's own (the two fight for
// the driver), counters promised that libnvperf is missing for, or a refusal that does not say what
// helps.
#include "collector/cupti/cupti_api.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "collector/cupti/cupti_search.h"
#include "tests/unit/collector/real_cupti.h"

namespace gable {
namespace {

std::size_t place_of(const std::vector<std::string>& list, const std::string& item) {
  return static_cast<std::size_t>(std::find(list.begin(), list.end(), item) - list.begin());
}

TEST(CuptiSearch, ReadsPathsFromMaps) {
  const auto files = mapped_files(
      "55d0c0000000-55d0c0001000 r--p 00000000 08:01 1234   /usr/bin/python3.11\n"
      "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n"
      "7f0000002000-7f0000003000 r-xp 00000000 08:01 99     /home/my user/lib/libcupti.so.12\n"
      "7f0000003000-7f0000004000 r--p 00001000 08:01 99     /home/my user/lib/libcupti.so.12\n"
      "7f0000005000-7f0000006000 r--p 00000000 08:01 98     /tmp/libcupti.so.13 (deleted)\n"
      "7ffc00000000-7ffc00001000 rw-p 00000000 00:00 0      [stack]\n");
  EXPECT_EQ(files,
            (std::vector<std::string>{"/usr/bin/python3.11", "/home/my user/lib/libcupti.so.12"}));
}

TEST(CuptiSearch, FindsMappedCuptiOfAnyVersion) {
  CuptiSearch search;
  search.mapped = {"/opt/x/libcupti.so.2025.3.1", "/opt/x/libcuda.so.1", "/opt/libnotcupti.so.13"};
  EXPECT_EQ(mapped_cuptis(search), std::vector<std::string>{"/opt/x/libcupti.so.2025.3.1"});
}

TEST(CuptiSearch, ThePlaybackDriversOwnComesFirst) {
  CuptiSearch search;
  search.mapped = {"/wheels/nvidia/cu13/lib/libcupti.so.13", "/play/libcuda.so.1",
                   "/play/libcupti.so.13"};
  EXPECT_EQ(mapped_cuptis(search).front(), "/wheels/nvidia/cu13/lib/libcupti.so.13");
  search.played = true;
  EXPECT_EQ(
      mapped_cuptis(search),
      (std::vector<std::string>{"/play/libcupti.so.13", "/wheels/nvidia/cu13/lib/libcupti.so.13"}));
}

TEST(CuptiSearch, WheelsOfAMappedTorchComeBeforeTheToolkit) {
  CuptiSearch search;
  search.mapped = {"/venv/lib/python3.12/site-packages/torch/lib/libtorch_cuda.so"};
  search.toolkits = {"/usr/local/cuda"};
  const auto list = cupti_candidates(search);
  const auto wheel = place_of(
      list, "/venv/lib/python3.12/site-packages/torch/lib/../../nvidia/cu13/lib/libcupti.so.13");
  const auto loader = place_of(list, "libcupti.so.13");
  const auto toolkit = place_of(list, "/usr/local/cuda/lib64/libcupti.so.13");
  EXPECT_LT(wheel, loader);
  EXPECT_LT(loader, toolkit);
  EXPECT_LT(toolkit, list.size());
  EXPECT_LT(place_of(list, "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13"), list.size());
  EXPECT_LT(place_of(list, "/usr/lib/x86_64-linux-gnu/libcupti.so.12"), list.size());
}

TEST(CuptiSearch, WheelsBesideAnyMappedNvidiaLibrary) {
  CuptiSearch search;
  search.mapped = {"/venv/site-packages/nvidia/cublas/lib/libcublas.so.12"};
  EXPECT_LT(place_of(cupti_candidates(search),
                     "/venv/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12"),
            place_of(cupti_candidates(search), "libcupti.so.12"));
}

TEST(CuptiSearch, WheelsBesideGableItselfWhereItIsAPackage) {
  for (const char* own : {"lib/libgable_inject.so", "bin/gable"}) {
    CuptiSearch search;
    search.own_library =
        std::string("/v/lib/python3.12/site-packages/gable_profiler/native/") + own;
    search.cuda_home = "/opt/cuda";
    const auto list = cupti_candidates(search);
    EXPECT_LT(place_of(list, "/v/lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13"),
              place_of(list, "/opt/cuda/lib64/libcupti.so.13"));
  }
}

TEST(CuptiSearch, TheMajorVersionOfTheMappedRuntimeComesFirst) {
  CuptiSearch search;
  EXPECT_LT(place_of(cupti_candidates(search), "libcupti.so.13"),
            place_of(cupti_candidates(search), "libcupti.so.12"));
  search.mapped = {"/opt/cuda/lib64/libcudart.so.12.8.90"};
  const auto list = cupti_candidates(search);
  EXPECT_EQ(list.front(), "/opt/cuda/lib64/libcupti.so.12");
  EXPECT_LT(place_of(list, "libcupti.so.12"), place_of(list, "libcupti.so.13"));
}

// It refuses newer ones, wherever they lie and whatever runtime the program brings.
TEST(CuptiSearch, NoneNewerThanTheDriverComesFirst) {
  CuptiSearch search;
  search.driver = 12;
  search.mapped = {"/opt/app/libcudart.so.13"};
  search.toolkits = {"/usr/local/cuda"};
  const auto list = cupti_candidates(search);
  EXPECT_LT(place_of(list, "/usr/local/cuda/lib64/libcupti.so.12"),
            place_of(list, "/opt/app/libcupti.so.13"));
  search.driver = 13;
  EXPECT_EQ(cupti_candidates(search).front(), "/opt/app/libcupti.so.13");
}

TEST(CuptiSearch, EachCandidateOnce) {
  CuptiSearch search;
  search.mapped = {"/usr/local/cuda/lib64/libcudart.so.13",
                   "/usr/local/cuda/lib64/libcudart.so.13.0.96"};
  search.toolkits = {"/usr/local/cuda"};
  auto list = cupti_candidates(search);
  std::sort(list.begin(), list.end());
  EXPECT_EQ(std::adjacent_find(list.begin(), list.end()), list.end());
}

TEST(LoadCupti, TheRealOneTracesAndProfiles) {
  SKIP_WITHOUT_REAL_CUPTI();
  const auto& api = real_cupti();
  EXPECT_TRUE(api.can_trace);
  EXPECT_EQ(api.why_not, "");
  EXPECT_GE(api.version, 120600u);
  EXPECT_NE(api.path.find("libcupti.so"), std::string::npos);
}

// The one in the process wins over the one asked for: two CUPTIs in one process fight for the
// driver.
TEST(LoadCupti, OneThatIsLoadedAlreadyIsTaken) {
  SKIP_WITHOUT_REAL_CUPTI();
  const auto again = load_cupti("/no/such/libcupti.so.13");
  EXPECT_TRUE(again.can_trace);
  EXPECT_EQ(again.path, real_cupti().path);
}

TEST(Describe, NamesCodeAndNumber) {
  SKIP_WITHOUT_REAL_CUPTI();
  EXPECT_EQ(describe(real_cupti(), CUPTI_ERROR_INSUFFICIENT_PRIVILEGES),
            "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)");
}

TEST(Describe, WorksWithoutALibrary) {
  EXPECT_EQ(describe(CuptiApi{}, CUPTI_ERROR_HARDWARE_BUSY), "CUPTI error 26");
}

}  // namespace
}  // namespace gable
