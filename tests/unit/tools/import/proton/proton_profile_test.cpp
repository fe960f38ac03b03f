// SPDX-License-Identifier: Apache-2.0
#include "tools/import/proton/proton_profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/base/wrong_use.h"

namespace gable {
namespace {

class ProtonProfile : public testing::Test {
 protected:
  // Empty, or how it is refused.
  std::string read(std::string_view text) {
    TextSource source(text, "dir/a.hatchet");
    try {
      read_proton_profile(source, imported);
    } catch (const WrongUse& problem) {
      return problem.what();
    }
    return {};
  }
  // All kernels, each as "layer: name start-end on device", of a tree whose root has these children
  // and is followed by `devices`.
  std::vector<std::string> kernels(const std::string& children, const std::string& devices = "{}") {
    EXPECT_EQ(read(tree(children, devices)), "");
    std::vector<std::string> all;
    for (const auto* each = imported.kernels.first(); each != nullptr;
         each = imported.kernels.next())
      all.push_back(imported.layers.shown(each->layer) + ": " +
                    imported.functions.name(each->function) + ' ' + std::to_string(each->start_ns) +
                    '-' + std::to_string(each->end_ns) + " on " + std::to_string(each->device));
    return all;
  }
  static std::string tree(const std::string& children, const std::string& devices = "{}") {
    return R"~([{"frame":{"name":"ROOT"},"metrics":{"count":1,"time (ns)":9},"children":[)~" +
           children + "]}," + devices + "]";
  }
  [[nodiscard]] bool notes_have(std::string_view piece) const {
    return std::any_of(
        imported.notes.begin(), imported.notes.end(),
        [piece](const std::string& note) { return note.find(piece) != std::string::npos; });
  }
  Imported imported;
};

using Texts = std::vector<std::string>;

std::string kernel(const std::string& name, const std::string& metrics) {
  return R"~({"frame":{"name":")~" + name + R"~("},"metrics":{)~" + metrics +
         R"~(},"children":[]})~";
}
std::string scope(const std::string& name, const std::string& children) {
  return R"~({"frame":{"name":")~" + name + R"~("},"metrics":{},"children":[)~" + children + "]}";
}
const std::string kOnce = R"~("count":1,"time (ns)":5)~";

TEST_F(ProtonProfile, LaunchesFollowEachOtherAndShareTheirTime) {
  EXPECT_EQ(
      kernels(
          kernel("a", R"~("count":3,"time (ns)":11)~") + "," +
          scope("s", kernel("b", R"~("Count":1,"Time (ns)":5,"DeviceId":"1")~") + "," +
                         scope("t", kernel("c", R"~("count":2,"time (ns)":6,"device_id":2)~")))),
      (Texts{"(no layer): a 1-5 on 0", "(no layer): a 5-9 on 0", "(no layer): a 9-12 on 0",
             "s: b 12-17 on 1", "s/t: c 17-20 on 2", "s/t: c 20-23 on 2"}));
  EXPECT_TRUE(notes_have("mean"));
  EXPECT_EQ(imported.notes.size(), 1u);
  EXPECT_EQ(imported.times_from, Texts{"proton (a.hatchet)"});
}

TEST_F(ProtonProfile, SingleLaunchesNeedNoNote) {
  EXPECT_EQ(kernels(kernel("a", kOnce) + "," + kernel("none", R"~("count":0,"time (ns)":5)~")),
            Texts{"(no layer): a 1-6 on 0"});
  EXPECT_TRUE(imported.notes.empty());
  EXPECT_EQ(imported.shapes[0], LaunchShape{});
}

TEST_F(ProtonProfile, AKernelMayHaveKernelsInIt) {
  EXPECT_EQ(kernels(R"~({"frame":{"name":"a"},"metrics":{"count":1,"time (ns)":5},"children":[)~" +
                    kernel("b", kOnce) + ",7]}"),
            (Texts{"(no layer): a 1-6 on 0", "a: b 6-11 on 0"}));
}

TEST_F(ProtonProfile, WhatIsProtonsOwnIsLeftOut) {
  EXPECT_EQ(kernels(scope("__proton_launch_metadata",
                          scope("x", kernel("a", R"~("count":3,"time (ns)":5)~")) + "," +
                              kernel("b", R"~("count":4,"time (ns)":5)~")) +
                    "," + kernel("c", kOnce)),
            Texts{"(no layer): c 1-6 on 0"});
  ASSERT_EQ(imported.notes.size(), 1u);
  EXPECT_TRUE(imported.notes[0].starts_with("7 ")) << imported.notes[0];
  EXPECT_TRUE(notes_have("__proton_launch_metadata"));
}

TEST_F(ProtonProfile, StatedWorkIsNamedInANote) {
  (void)kernels(kernel("a", kOnce + R"~(,"bytes":1,"flops16":2,"flops8":0,"other":3,"bytes2":4)~") +
                "," + scope("s", "") + R"~(,{"frame":{"name":"t"},"metrics":{"flops32":0.5}})~");
  ASSERT_EQ(imported.notes.size(), 1u);
  EXPECT_TRUE(notes_have("(bytes, flops16, flops32)")) << imported.notes[0];
}

TEST_F(ProtonProfile, AScopeNeedsNoMetrics) {
  const std::string inner = kernel("k", R"~("count":1,"time (ns)":5)~");
  EXPECT_EQ(kernels(R"~({"frame":{"name":"a"},"children":[)~" + inner + "]}"),
            (Texts{"a: k 1-6 on 0"}));
}

TEST_F(ProtonProfile, NamesLoseFolders) {
  for (const auto& [name, shown] :
       {std::pair{"/home/me/train.py:12@main", "train.py:12@main"},
        std::pair{"C:\\\\me\\\\train.py:12@main", "train.py:12@main"},
        std::pair{"train.py:12@main", "train.py:12@main"},
        std::pair{"/home/me/lib.so:f/g", "lib.so:f/g"}, std::pair{"a/b.py:7", "a/b.py:7"},
        std::pair{"a/b@c", "a/b@c"}, std::pair{"a/b", "a/b"}, std::pair{"/a/b", "b"},
        std::pair{"/a/", "(unnamed)"}, std::pair{"", "(unnamed)"}}) {
    Imported fresh;
    const std::string text = tree(kernel(name, kOnce));
    TextSource named(text, "x");
    read_proton_profile(named, fresh);
    const ImportedKernel* first = fresh.kernels.first();
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(fresh.functions.name(first->function), shown) << name;
  }
}

TEST_F(ProtonProfile, WhatHasNoNameIsUnnamed) {
  EXPECT_EQ(kernels(R"~({"metrics":{"count":1,"time (ns)":1}},)~"
                    R"~({"frame":7,"metrics":{"count":1,"time (ns)":1}},)~"
                    R"~({"frame":{"name":7},"metrics":{"count":1,"time (ns)":1}},)~"
                    R"~({"frame":{},"metrics":7})~"),
            (Texts{"(no layer): (unnamed) 1-2 on 0", "(no layer): (unnamed) 2-3 on 0",
                   "(no layer): (unnamed) 3-4 on 0"}));
}

TEST_F(ProtonProfile, NumbersMayBeTextsAndAreRounded) {
  EXPECT_EQ(kernels(kernel("a", R"~("count":"2","time (ns)":7.5,"device_id":1048576)~")),
            (Texts{"(no layer): a 1-5 on 1048576", "(no layer): a 5-9 on 1048576"}));
}

TEST_F(ProtonProfile, NumbersOutOfRangeAreRefused) {
  for (const char* metrics :
       {R"~("count":-1,"time (ns)":1)~", R"~("count":"","time (ns)":1)~",
        R"~("count":"2x","time (ns)":1)~", R"~("count":"x","time (ns)":1)~",
        R"~("count":null,"time (ns)":1)~", R"~("count":1,"time (ns)":9007199254740994)~",
        R"~("count":9007199254740994,"time (ns)":1)~",
        R"~("count":1,"time (ns)":1,"device_id":1048577)~", R"~("count":"-0","time (ns)":1)~"})
    EXPECT_NE(read(tree(kernel("a", metrics))).find("out of range"), std::string::npos) << metrics;
  EXPECT_NE(read(tree(kernel("a", R"~("time (ns)":1)~"))).find("'a' has no count"),
            std::string::npos);
  EXPECT_NE(read(tree(kernel("a", R"~("count":4194305,"time (ns)":1)~"))).find("4194304 launches"),
            std::string::npos);
  EXPECT_EQ(read(tree(kernel("a", R"~("count":1,"time (ns)":9007199254740992)~"))), "");
}

TEST_F(ProtonProfile, WhatIsNoTreeIsRefused) {
  for (const char* text : {"{", "{}", "[]", "[7]", R"~([{"a":1}])~", R"~([7,{"frame":1}])~",
                           R"~([{"a":1},{"frame":1}])~", "7"})
    EXPECT_NE(read(text).find("not a profile of proton"), std::string::npos) << text;
  EXPECT_NE(read("[").find("cut off"), std::string::npos);
  EXPECT_NE(read("[]").find("no tree"), std::string::npos);
}

TEST_F(ProtonProfile, AProfileWithoutKernelsIsRefused) {
  // The root and what has a time are no scopes.
  const std::string two = scope("a", scope("b", kernel("c", "")));
  EXPECT_NE(read(tree(two)).find("has 2 scopes and no kernel"), std::string::npos);
  EXPECT_EQ(read(tree(two)).find("cycles"), std::string::npos);
  EXPECT_EQ(read(tree(kernel("a", R"~("cycles":0)~"))).find("cycles"), std::string::npos);
  EXPECT_EQ(read(tree(kernel("a", R"~("cycles":"7")~"))).find("cycles"), std::string::npos);
  EXPECT_NE(read(tree(kernel("a", R"~("cycles (c)":7,"z":0)~"))).find("cycles were counted"),
            std::string::npos);
}

// `count` scopes in each other, a kernel in the innermost.
std::string nested(int count) {
  std::string text = kernel("k", kOnce);
  for (int i = 0; i < count; ++i) text = scope("s", text);
  return text;
}

TEST_F(ProtonProfile, ScopesMayBe500Deep) {
  // Three brackets open around the first scope, two for each scope, two for the kernel.
  EXPECT_EQ(read(tree(nested(497))), "");
  EXPECT_EQ(imported.kernels.size(), 1u);
  EXPECT_NE(read(tree(nested(498))).find("too deep"), std::string::npos);
}

TEST_F(ProtonProfile, BracketsInTextsNestNothing) {
  const std::string many(1001, '[');
  EXPECT_EQ(read(tree(kernel(many, kOnce))), "");
  EXPECT_EQ(read(tree(kernel("a\\\"" + many, kOnce))), "");
  EXPECT_EQ(read(tree(kernel("a\\\\", kOnce))), "");
  EXPECT_NE(read(std::string(1001, '[')).find("too deep"), std::string::npos);
  EXPECT_NE(read(std::string(1001, '{')).find("too deep"), std::string::npos);
  EXPECT_EQ(read(std::string(1000, '[')).find("too deep"), std::string::npos);
  std::string beside = "[" + tree("");
  for (int i = 0; i < 1000; ++i) beside += ",[],{}";
  EXPECT_EQ(read("]]" + beside + "]").find("too deep"), std::string::npos);
}

TEST_F(ProtonProfile, DevicesThatKernelsRanOnAreTold) {
  (void)kernels(
      kernel("a", kOnce) + "," + kernel("b", kOnce + R"~(,"device_id":1)~") + "," +
          kernel("c", kOnce + R"~(,"device_id":2)~") + "," +
          kernel("d", kOnce + R"~(,"device_id":3)~") + "," +
          kernel("e", kOnce + R"~(,"device_id":5)~") + "," +
          kernel("f", kOnce + R"~(,"device_id":6)~"),
      R"~({"CUDA":{"0":{"arch":"90","num_sms":132,"clock_rate":1980000,"memory_clock_rate":2619000,
                       "bus_width":5120},
                  "1":{"arch":103},
                  "2":{"arch":"gfx9"}, "4":{"arch":"80"}, "x7":7, "5":{"arch":"7"},
                  "6":{"arch":"1234"}},
          "HIP":{"3":{"arch":"gfx942","num_sms":304}}, "bad":7}, 7)~");
  ASSERT_EQ(imported.devices.size(), 6u);
  const DeviceInfo& first = imported.devices.at(0);
  EXPECT_EQ(first.name, "");
  EXPECT_EQ(first.compute_major, 9);
  EXPECT_EQ(first.compute_minor, 0);
  EXPECT_EQ(first.sm_count, 132);
  EXPECT_EQ(first.sm_clock_max_hz, 1'980'000'000u);
  EXPECT_EQ(first.memory_clock_max_hz, 2'619'000'000u);
  EXPECT_EQ(first.memory_bus_bits, 5120u);
  EXPECT_EQ(imported.devices.at(1).compute_major, 10);
  EXPECT_EQ(imported.devices.at(1).compute_minor, 3);
  EXPECT_EQ(imported.devices.at(1).sm_count, 0);
  EXPECT_EQ(imported.devices.at(1).sm_clock_max_hz, 0u);
  for (const int id : {2, 5, 6}) {
    EXPECT_EQ(imported.devices.at(id).compute_major, 0) << id;
    EXPECT_EQ(imported.devices.at(id).compute_minor, 0) << id;
    EXPECT_EQ(imported.devices.at(id).name, "") << id;
  }
  EXPECT_EQ(imported.devices.at(3).name, "AMD gfx942");
  EXPECT_EQ(imported.devices.at(3).sm_count, 304);
}

TEST_F(ProtonProfile, AnotherMakersDeviceIsNamedByItsType) {
  (void)kernels(kernel("a", kOnce), R"~({"XPU":{"0":{"arch":"12"}}})~");
  EXPECT_EQ(imported.devices.at(0).name, "XPU 12");
  EXPECT_EQ(imported.devices.at(0).compute_major, 0);
}

TEST_F(ProtonProfile, ADevicesNumbersAreInRange) {
  struct Case {
    const char* key;
    std::uint64_t most;
  };
  for (const auto& [key, most] :
       {Case{"num_sms", 1u << 20}, Case{"clock_rate", 1u << 30},
        Case{"memory_clock_rate", 1u << 30}, Case{"bus_width", 1u << 20}}) {
    const auto of = [key = std::string(key)](std::uint64_t value) {
      return tree(kernel("a", kOnce),
                  R"~({"CUDA":{"0":{")~" + key + "\":" + std::to_string(value) + "}}}");
    };
    EXPECT_EQ(read(of(most)), "") << key;
    EXPECT_NE(read(of(most + 1)).find(std::string(key) + " is out of range"), std::string::npos);
  }
  EXPECT_NE(read(tree(kernel("a", kOnce), R"~({"CUDA":{"1048577":{}}})~")).find("out of range"),
            std::string::npos);
  EXPECT_EQ(read(tree(kernel("a", kOnce), R"~({"CUDA":{"1048576":{}}})~")), "");
}

}  // namespace
}  // namespace gable
