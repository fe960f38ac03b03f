// SPDX-License-Identifier: Apache-2.0
// The functions that an injected library puts into NVTX's tables, called as a program calls them.
#include "collector/runtime/nvtx_entry.h"

#define NVTX_NO_IMPL
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#undef NVTX_NO_IMPL

#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>

#include "collector/layers/thread_state.h"
#include "collector/runtime/range_calls.h"
#include "collector/runtime/runtime.h"

namespace gable {
namespace {

// NVTX's side: places for functions, and the tables that point to them.
template <std::size_t kSize>
struct Table {
  std::array<NvtxFunctionPointer, kSize> functions{};
  std::array<NvtxFunctionPointer*, kSize> table{};
  unsigned told = kSize;  // what NVTX says of its size
  bool there = true;
  void reset() {
    functions = {};
    for (std::size_t i = 0; i < kSize; ++i) table[i] = &functions[i];
    told = kSize;
    there = true;
  }
  int get(NvtxFunctionTable* out, unsigned* size) {
    if (!there) return 0;
    *out = table.data();
    *size = told;
    return 1;
  }
  [[nodiscard]] std::set<std::size_t> filled() const {
    std::set<std::size_t> found;
    for (std::size_t i = 0; i < kSize; ++i)
      if (functions[i] != nullptr) found.insert(i);
    return found;
  }
};
Table<NVTX_CBID_CORE_SIZE> g_core;
Table<NVTX_CBID_CORE2_SIZE> g_core2;
NvtxExportTableCallbacks g_callbacks;
bool g_any_callbacks = true;

int NVTX_API function_table(NvtxCallbackModule module, NvtxFunctionTable* out, unsigned* size) {
  if (module == NVTX_CB_MODULE_CORE) return g_core.get(out, size);
  if (module == NVTX_CB_MODULE_CORE2) return g_core2.get(out, size);
  return 0;
}
const void* export_table(std::uint32_t id) {
  return id == NVTX_ETID_CALLBACKS && g_any_callbacks ? &g_callbacks : nullptr;
}

class NvtxEntry : public testing::Test {
 protected:
  NvtxEntry() {
    forget_ranges();
    g_core.reset();
    g_core2.reset();
    g_callbacks = {sizeof g_callbacks, function_table};
    g_any_callbacks = true;
  }
  ~NvtxEntry() override {
    set_ranges_active(true);
    forget_ranges();
  }
  static void forget_ranges() { this_thread().ranges = {}; }
  static std::string layer() {
    bool inherited = false;
    return runtime().layers.shown(layer_of_launch(runtime(), this_thread(), inherited));
  }
  static Direction direction() {
    bool inherited = false;
    auto& rt = runtime();
    return rt.layers.node(layer_of_launch(rt, this_thread(), inherited)).direction;
  }
  template <typename Function>
  static Function core(unsigned id) {
    return reinterpret_cast<Function>(g_core.functions.at(id));
  }
  template <typename Function>
  static Function core2(unsigned id) {
    return reinterpret_cast<Function>(g_core2.functions.at(id));
  }
  using Attributes = const nvtxEventAttributes_t*;
  static int push_a(const char* text) {
    return core<int (*)(const char*)>(NVTX_CBID_CORE_RangePushA)(text);
  }
  static int push_w(const wchar_t* text) {
    return core<int (*)(const wchar_t*)>(NVTX_CBID_CORE_RangePushW)(text);
  }
  static int push_ex(Attributes what) {
    return core<int (*)(Attributes)>(NVTX_CBID_CORE_RangePushEx)(what);
  }
  static int pop() { return core<int (*)()>(NVTX_CBID_CORE_RangePop)(); }
  static nvtxRangeId_t start_a(const char* text) {
    return core<nvtxRangeId_t (*)(const char*)>(NVTX_CBID_CORE_RangeStartA)(text);
  }
  static nvtxRangeId_t start_w(const wchar_t* text) {
    return core<nvtxRangeId_t (*)(const wchar_t*)>(NVTX_CBID_CORE_RangeStartW)(text);
  }
  static nvtxRangeId_t start_ex(Attributes what) {
    return core<nvtxRangeId_t (*)(Attributes)>(NVTX_CBID_CORE_RangeStartEx)(what);
  }
  static void end(nvtxRangeId_t id) { core<void (*)(nvtxRangeId_t)>(NVTX_CBID_CORE_RangeEnd)(id); }
  using Handle = nvtxDomainHandle_t;
  static Handle domain(const char* name) {
    return core2<Handle (*)(const char*)>(NVTX_CBID_CORE2_DomainCreateA)(name);
  }
  static Handle domain_w(const wchar_t* name) {
    return core2<Handle (*)(const wchar_t*)>(NVTX_CBID_CORE2_DomainCreateW)(name);
  }
  static int domain_push(Handle handle, Attributes what) {
    return core2<int (*)(Handle, Attributes)>(NVTX_CBID_CORE2_DomainRangePushEx)(handle, what);
  }
  static int domain_pop(Handle handle) {
    return core2<int (*)(Handle)>(NVTX_CBID_CORE2_DomainRangePop)(handle);
  }
  static nvtxRangeId_t domain_start(Handle handle, Attributes what) {
    return core2<nvtxRangeId_t (*)(Handle, Attributes)>(NVTX_CBID_CORE2_DomainRangeStartEx)(handle,
                                                                                            what);
  }
  static void domain_end(Handle handle, nvtxRangeId_t id) {
    core2<void (*)(Handle, nvtxRangeId_t)>(NVTX_CBID_CORE2_DomainRangeEnd)(handle, id);
  }
  static nvtxStringHandle_t string_a(Handle handle, const char* text) {
    return core2<nvtxStringHandle_t (*)(Handle, const char*)>(
        NVTX_CBID_CORE2_DomainRegisterStringA)(handle, text);
  }
  static nvtxStringHandle_t string_w(Handle handle, const wchar_t* text) {
    return core2<nvtxStringHandle_t (*)(Handle, const wchar_t*)>(
        NVTX_CBID_CORE2_DomainRegisterStringW)(handle, text);
  }
  static nvtxEventAttributes_t named(const char* text) {
    nvtxEventAttributes_t made{};
    made.version = NVTX_VERSION;
    made.size = sizeof made;
    made.messageType = NVTX_MESSAGE_TYPE_ASCII;
    made.message.ascii = text;
    return made;
  }
};

TEST_F(NvtxEntry, FillsWhatItKnowsAndNoOtherPlace) {
  EXPECT_TRUE(attach_nvtx(export_table));
  EXPECT_EQ(g_core.filled(), (std::set<std::size_t>{4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(g_core2.filled(), (std::set<std::size_t>{2, 3, 4, 5, 10, 11, 12, 13}));
}

TEST_F(NvtxEntry, APlaceOutsideOfTheTableStaysAsItIs) {
  g_core.told = NVTX_CBID_CORE_RangePop;  // the last of them is one too far
  g_core.table[NVTX_CBID_CORE_RangeEnd] = nullptr;
  g_core2.told = 0;
  EXPECT_TRUE(attach_nvtx(export_table));
  EXPECT_EQ(g_core.filled(), (std::set<std::size_t>{4, 5, 6, 8, 9, 10}));
  EXPECT_EQ(g_core2.filled(), std::set<std::size_t>());
}

TEST_F(NvtxEntry, EitherTableWillDo) {
  g_core.there = false;
  EXPECT_TRUE(attach_nvtx(export_table));
  EXPECT_EQ(g_core.filled(), std::set<std::size_t>());
  EXPECT_EQ(g_core2.filled().size(), 8u);
  g_core.reset();
  g_core2.reset();
  g_core2.there = false;
  EXPECT_TRUE(attach_nvtx(export_table));
  EXPECT_EQ(g_core.filled().size(), 8u);
  EXPECT_EQ(g_core2.filled(), std::set<std::size_t>());
}

TEST_F(NvtxEntry, WithoutTablesNothingIsAttached) {
  EXPECT_FALSE(attach_nvtx(nullptr));
  g_core.there = g_core2.there = false;
  EXPECT_FALSE(attach_nvtx(export_table));
  g_core.there = g_core2.there = true;
  g_callbacks.struct_size = sizeof g_callbacks - 1;
  EXPECT_FALSE(attach_nvtx(export_table));
  g_any_callbacks = false;
  EXPECT_FALSE(attach_nvtx(export_table));
  EXPECT_EQ(g_core.filled(), std::set<std::size_t>());
}

class NvtxCalls : public NvtxEntry {
 protected:
  NvtxCalls() { attach_nvtx(export_table); }
};

TEST_F(NvtxCalls, RangesOfAThreadAreLayers) {
  EXPECT_EQ(push_a("narrow"), 0);
  EXPECT_EQ(push_w(L"wide"), 1);
  const auto third = named("third");
  EXPECT_EQ(push_ex(&third), 2);
  EXPECT_EQ(layer(), "narrow/wide/third");
  EXPECT_EQ(direction(), Direction::none);
  EXPECT_EQ(pop(), 2);
  EXPECT_EQ(layer(), "narrow/wide");
  EXPECT_EQ(pop(), 1);
  EXPECT_EQ(pop(), 0);
  EXPECT_EQ(layer(), "(no layer)");
  EXPECT_LT(pop(), 0);
}

TEST_F(NvtxCalls, RangesOfTheProcessAreLayers) {
  const auto first = start_a("first");
  const auto second = start_w(L"second");
  const auto what = named("third");
  const auto third = start_ex(&what);
  EXPECT_EQ(layer(), "first/second/third");
  EXPECT_EQ((std::set<nvtxRangeId_t>{0, first, second, third}.size()), 4u);
  end(second);
  EXPECT_EQ(layer(), "first/third");
  end(third);
  domain_end(nullptr, first);
  EXPECT_EQ(layer(), "(no layer)");
}

TEST_F(NvtxCalls, ADomainsNameStandsBeforeThatOfItsRanges) {
  const auto a = domain("Arrays"), b = domain_w(L"Blocks");
  EXPECT_NE(a, b);
  EXPECT_EQ(domain("Arrays"), a) << "the same name, the same domain";
  const auto x = named("x"), y = named("y"), z = named("z");
  EXPECT_EQ(domain_push(a, &x), 0);
  EXPECT_EQ(domain_push(b, &y), 0) << "depths are a domain's own";
  EXPECT_EQ(layer(), "Arrays:x/Blocks:y");
  EXPECT_EQ(domain_pop(a), 0);
  EXPECT_EQ(domain_pop(b), 0);
  const auto id = domain_start(b, &z);
  EXPECT_EQ(layer(), "Blocks:z");
  domain_end(b, id);
  EXPECT_EQ(layer(), "(no layer)");
  EXPECT_LT(domain_pop(a), 0);
}

TEST_F(NvtxCalls, AMessageMayBeOfEveryKind) {
  auto what = named("unused");
  what.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  what.message.unicode = L"gr\u00fcn";
  push_ex(&what);
  what.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  what.message.registered = string_a(nullptr, "kept");
  push_ex(&what);
  what.message.registered = string_w(nullptr, L"kept wide");
  push_ex(&what);
  EXPECT_EQ(layer(), "gr\xc3\xbcn/kept/kept wide");
}

TEST_F(NvtxCalls, WhatSaysNothingIsUnnamed) {
  push_a(nullptr);
  EXPECT_EQ(layer(), "(unnamed)");
  pop();
  push_ex(nullptr);
  EXPECT_EQ(layer(), "(unnamed)");
  pop();
  auto what = named("x");
  const auto shown = [&what] {
    push_ex(&what);
    auto text = layer();
    pop();
    return text;
  };
  EXPECT_EQ(shown(), "x");
  what.version = 0;
  EXPECT_EQ(shown(), "(unnamed)");
  what.version = 1;
  EXPECT_EQ(shown(), "x");
  what.size = sizeof what - 1;
  EXPECT_EQ(shown(), "(unnamed)");
  what.size = sizeof what + 1;
  EXPECT_EQ(shown(), "x") << "a later NVTX has more";
  what.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  what.message.registered = nullptr;
  EXPECT_EQ(shown(), "(unnamed)");
  what.messageType = NVTX_MESSAGE_UNKNOWN;
  what.message.ascii = "x";
  EXPECT_EQ(shown(), "(unnamed)");
}

// A forked child leaves the parent's strings where they are, for good.
void in_forked(const std::function<void()>& body) {
  EXPECT_EXIT((body(), std::_Exit(testing::Test::HasFailure() ? 1 : 0)), testing::ExitedWithCode(0),
              "");
}

TEST_F(NvtxCalls, AStringIsRegisteredOnce) {
  const auto one = string_a(nullptr, "one");
  EXPECT_NE(one, nullptr);
  EXPECT_EQ(string_a(nullptr, "one"), one);
  EXPECT_EQ(string_w(nullptr, L"one"), one);
  EXPECT_NE(string_a(nullptr, "two"), one);
  in_forked([&] {
    forget_strings_in_child();
    const auto anew = string_a(nullptr, "one");
    EXPECT_NE(anew, one) << "the parent's may be locked";
    auto what = named("");
    what.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    what.message.registered = one;
    push_ex(&what);
    EXPECT_EQ(layer(), "one") << "the program's handle stays good";
  });
}

TEST_F(NvtxCalls, NamesAreCutWhereTheyAreTooLong) {
  push_a(std::string(600, 'a').c_str());
  EXPECT_EQ(layer(), std::string(512, 'a'));
}

TEST_F(NvtxCalls, TooManyStringsAreOneString) {
  in_forked([&] {
    forget_strings_in_child();
    for (int i = 0; i < 99'999; ++i) string_a(nullptr, std::to_string(i).c_str());
    const auto last = string_a(nullptr, "last");
    const auto other = string_a(nullptr, "one too many");
    EXPECT_NE(other, last);
    EXPECT_EQ(string_a(nullptr, "two too many"), other);
    EXPECT_EQ(string_a(nullptr, "last"), last);
    EXPECT_EQ(*reinterpret_cast<const std::string*>(last), "last");
    EXPECT_EQ(*reinterpret_cast<const std::string*>(other), "(too many registered strings)");
  });
}

TEST_F(NvtxCalls, OnlyTheDomainGableSaysDirections) {
  const auto gable = domain("gable"), other = domain("Arrays");
  const auto said = [](Handle handle, std::uint32_t category) {
    auto what = named("x");
    what.category = category;
    domain_push(handle, &what);
    const auto found = direction();
    domain_pop(handle);
    return found;
  };
  EXPECT_EQ(said(gable, 0), Direction::none);
  EXPECT_EQ(said(gable, 1), Direction::forward);
  EXPECT_EQ(said(gable, 2), Direction::backward);
  EXPECT_EQ(said(gable, 3), Direction::recompute);
  EXPECT_EQ(said(gable, 4), Direction::none);
  EXPECT_EQ(said(other, 1), Direction::none);
  EXPECT_EQ(domain_push(gable, nullptr), 0);
  EXPECT_EQ(direction(), Direction::none);
  auto what = named("y");
  what.category = 2;
  const auto id = domain_start(gable, &what);
  EXPECT_EQ(direction(), Direction::backward);
  domain_end(gable, id);
}

TEST_F(NvtxCalls, AfterTheCollectionNothingIsFollowed) {
  const auto handle = domain("Arrays");
  const auto what = named("x");
  push_a("open");
  const auto id = start_a("process");
  set_ranges_active(false);
  constexpr int kOff = NVTX_NO_PUSH_POP_TRACKING;
  EXPECT_EQ(push_a("x"), kOff);
  EXPECT_EQ(push_w(L"x"), kOff);
  EXPECT_EQ(push_ex(&what), kOff);
  EXPECT_EQ(domain_push(handle, &what), kOff);
  EXPECT_EQ(pop(), kOff);
  EXPECT_EQ(domain_pop(handle), kOff);
  EXPECT_EQ(start_a("x"), 0u);
  EXPECT_EQ(start_w(L"x"), 0u);
  EXPECT_EQ(start_ex(&what), 0u);
  EXPECT_EQ(domain_start(handle, &what), 0u);
  end(id);
  const auto late = domain("Late");
  EXPECT_NE(string_a(late, "x"), nullptr);
  set_ranges_active(true);
  EXPECT_EQ(layer(), "process/open") << "as before";
  domain_push(late, &what);
  EXPECT_EQ(layer(), "process/open/Late:x") << "handles are made all the same";
  domain_pop(late);
  end(id);
  EXPECT_EQ(pop(), 0);
}

}  // namespace
}  // namespace gable
