// SPDX-License-Identifier: Apache-2.0
// Exports without a kernel: what they hold, and what nsys itself says of it.
#include "tests/unit/tools/import/nsys/nsys_file.h"

namespace gable {
namespace {

class NsysContents : public NsysFile {
 protected:
  void table(const std::string& name, int rows) {
    run("CREATE TABLE " + name + " (x INT)");
    for (int i = 0; i < rows; ++i) run("INSERT INTO " + name + " VALUES (1)");
  }
  void says(int severity, const std::string& text) {
    run("CREATE TABLE IF NOT EXISTS DIAGNOSTIC_EVENT (severity INT, text TEXT);"
        "INSERT INTO DIAGNOSTIC_EVENT VALUES (" +
        std::to_string(severity) + ", '" + text + "')");
  }
  // What it says that nsys says.
  std::string told() {
    const std::string text = read();
    const std::size_t at = text.find(" (nsys says: ");
    if (at == std::string::npos) return "";
    const std::size_t end = text.find("); when that is mended");
    EXPECT_NE(end, std::string::npos) << text;
    return text.substr(at + 13, end - at - 13);
  }
  // Of one sentence.
  std::string told(int severity, const std::string& text) {
    run("DROP TABLE IF EXISTS DIAGNOSTIC_EVENT");
    says(severity, text);
    return told();
  }
};

constexpr const char* kHead =
    "run.sqlite has no table CUPTI_ACTIVITY_KIND_KERNEL: nsys recorded "
    "no kernel";

TEST_F(NsysContents, NothingAtAll) {
  EXPECT_EQ(read(), std::string(kHead) +
                        ", nor anything else of the program; record with --trace "
                        "cuda,nvtx.");
  table("CUPTI_ACTIVITY_KIND_KERNEL", 0);
  EXPECT_TRUE(read().starts_with("run.sqlite has no row in CUPTI_ACTIVITY_KIND_KERNEL: nsys"));
}

TEST_F(NsysContents, WhatIsThereIsCounted) {
  table("OSRT_API", 1);
  EXPECT_TRUE(read().starts_with(std::string(kHead) +
                                 ", but 1 call of the operating system's libraries; record"))
      << read();
  table("COMPOSITE_EVENTS", 2);
  EXPECT_TRUE(read().starts_with(std::string(kHead) +
                                 ", but 2 CPU samples and 1 call of the operating system's"))
      << read();
  table("CUPTI_ACTIVITY_KIND_RUNTIME", 2);
  table("CUPTI_ACTIVITY_KIND_DRIVER", 1);
  table("MPI_P2P_EVENTS", 1);
  table("SCHED_EVENTS", 0);
  EXPECT_EQ(read(), std::string(kHead) +
                        ", but 3 CUDA calls, 2 CPU samples, 1 call of the operating system's "
                        "libraries and 1 call of MPI; record with --trace cuda,nvtx a part that "
                        "launches kernels.");
}

TEST_F(NsysContents, EveryTableHasAName) {
  for (const auto& [name, says] : std::vector<std::pair<std::string, std::string>>{
           {"CUPTI_ACTIVITY_KIND_DRIVER", "1 CUDA call"},
           {"CUPTI_ACTIVITY_KIND_MEMCPY", "1 copy or memset"},
           {"CUPTI_ACTIVITY_KIND_MEMSET", "1 copy or memset"},
           {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "1 wait for the GPU"},
           {"GPU_METRICS", "1 sample of the GPU's metrics"},
           {"CUBLAS_EVENTS", "1 call of cuBLAS or cuDNN"},
           {"CUDNN_EVENTS", "1 call of cuBLAS or cuDNN"},
           {"SCHED_EVENTS", "1 change of threads on CPUs"},
           {"MPI_COLLECTIVES_EVENTS", "1 call of MPI"},
           {"NVTX_EVENTS", "1 NVTX range"}}) {
    table(name, 1);
    EXPECT_NE(read().find(", but " + says + ";"), std::string::npos) << read();
    run("DROP TABLE " + name);
  }
  table("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", 1);
  EXPECT_NE(read().find(", but 1 launch of a whole CUDA graph; record with --cuda-graph-trace"),
            std::string::npos)
      << read();
}

TEST_F(NsysContents, OfNvtxsEventsRangesCount) {
  run("CREATE TABLE NVTX_EVENTS (eventType INT);"
      "INSERT INTO NVTX_EVENTS VALUES (59), (60), (34), (75)");
  EXPECT_NE(read().find("but 2 NVTX ranges;"), std::string::npos) << read();
}

TEST_F(NsysContents, ErrorsAndWarningsOfCudaAreTold) {
  EXPECT_EQ(told(3, "CUDA was busy."), "CUDA was busy");
  EXPECT_EQ(told(2, "CUDA was busy..."), "CUDA was busy...");
  EXPECT_EQ(told(1, "CUDA was busy"), "") << "that is information";
  EXPECT_EQ(told(4, "CUDA was busy"), "");
  EXPECT_EQ(told(1, "CUDA tracing failed"), "CUDA tracing failed") << "what failed is told";
  EXPECT_EQ(told(3, "The disk is full"), "") << "it is not about the GPU";
  EXPECT_EQ(told(3, "CUDA: unified memory"), "");
  EXPECT_EQ(told(3, "GPU metrics"), "");
}

TEST_F(NsysContents, TheWorstTwoAreToldEachOnce) {
  says(2, "CUDA one");
  says(2, "CUDA one");
  says(3, "CUDA two");
  says(3, "CUDA three");
  EXPECT_EQ(told(), "CUDA two; CUDA three");
  run("DELETE FROM DIAGNOSTIC_EVENT");
  says(3, "No CUDA events were seen");
  says(2, "CUDA one");
  says(3, "CUDA might have not been started");
  EXPECT_EQ(told(), "CUDA one; CUDA might have not been started");
  run("DELETE FROM DIAGNOSTIC_EVENT WHERE text LIKE 'CUDA might%'");
  EXPECT_EQ(told(), "CUDA one") << "that there is nothing is told where nothing else is";
  run("DELETE FROM DIAGNOSTIC_EVENT WHERE text LIKE 'CUDA%'");
  EXPECT_EQ(told(), "No CUDA events were seen");
}

TEST_F(NsysContents, WhatIsPrivateIsNot) {
  run("CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);"
      "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname', 'blue.lab'), ('Os', 'green');"
      "CREATE TABLE PROCESSES (name TEXT);"
      "INSERT INTO PROCESSES VALUES ('/opt/trainer x python')");
  for (const auto& [text, clean] : std::vector<std::pair<std::string, std::string>>{
           {"CUDA on blue and Lab", "CUDA on ... and ..."},
           {"CUDA on green", "CUDA on green"},
           {"CUDA of trainer", "CUDA of ..."},
           {"CUDA of python", "CUDA of python"},
           {"CUDA of x", "CUDA of x"},
           {"CUDA in /tmp/a b", "CUDA in ... b"},
           {"CUDA A=1", "CUDA ..."},
           {"CUDA me@there", "CUDA ..."},
           {"CUDA host node7", "CUDA host ..."},
           {"CUDA host has", "CUDA host has"},
           {"CUDA host: has", "CUDA host: ..."},
           {"CUDA node-17", "CUDA ..."},
           {"CUDA machin-17", "CUDA ..."},
           {"CUDA a12345678", "CUDA ..."},
           {"CUDA a1234567", "CUDA a1234567"},
           {"CUDA a.example", "CUDA ..."},
           {"CUDA 12.8.1", "CUDA 12.8.1"},
           {"CUDA 10.0.0.1", "CUDA ..."},
           {"CUDA (12.8),", "CUDA (12.8),"},
           {"CUDA abcdefghijklmnopqrstuvwx", "CUDA abcdefghijklmnopqrstuvwx"},
           {"CUDA abcdefghijklmnopqrstuvwxy", "CUDA ..."},
           {"CUDA cuDeviceGetAttributesOfEverything", "CUDA cuDeviceGetAttributesOfEverything"},
           {"CUDA --trace-everything-there-is-now", "CUDA --trace-everything-there-is-now"},
           {"CUDA \"my program\" failed", "CUDA ... failed"},
           {"CUDA (`my program`) failed", "CUDA (...) failed"},
           {"CUDA \"open", "CUDA \"open"},
           {"CUDA  two   blanks", "CUDA two blanks"},
           {"CUDA /a /b end", "CUDA ... end"},
       }) {
    EXPECT_EQ(told(3, text), clean) << text;
  }
}

TEST_F(NsysContents, LongSentencesAreShortened) {
  std::string text = "CUDA";
  while (text.size() < 156) text += " word";
  text.resize(160, 'x');
  EXPECT_EQ(told(3, text), text);
  const std::string cut = told(3, text + " y");
  EXPECT_LE(cut.size(), 162u) << "the mark in it has three bytes";
  EXPECT_TRUE(cut.starts_with("CUDA word")) << cut;
}

}  // namespace
}  // namespace gable
