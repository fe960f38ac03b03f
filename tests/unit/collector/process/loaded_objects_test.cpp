// SPDX-License-Identifier: Apache-2.0
#include "collector/process/loaded_objects.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace gable {
namespace {

TEST(LoadedObjects, AFilesNameStandsBehindTheLastSlash) {
  EXPECT_STREQ(file_name_of("/usr/lib/libc.so.6"), "libc.so.6");
  EXPECT_STREQ(file_name_of("libc.so.6"), "libc.so.6");
  EXPECT_STREQ(file_name_of("/usr/lib/"), "");
}

TEST(LoadedObjects, AnObjectHasTheAddressesOfItsLoadedSegments) {
  std::array<ElfW(Phdr), 3> segments{};
  segments[0].p_type = PT_NOTE;
  segments[0].p_vaddr = 0x9000;
  segments[0].p_memsz = 0x1000;
  segments[1].p_type = PT_LOAD;
  segments[1].p_vaddr = 0x100;
  segments[1].p_memsz = 0x10;
  segments[2].p_type = PT_LOAD;
  segments[2].p_vaddr = 0x200;
  segments[2].p_memsz = 0x20;
  dl_phdr_info object{};
  object.dlpi_addr = 0x10000;
  object.dlpi_phdr = segments.data();
  object.dlpi_phnum = 3;
  const auto has = [&](std::uintptr_t at) {
    return contains(object, reinterpret_cast<const void*>(at));
  };
  EXPECT_FALSE(has(0x100ff));
  EXPECT_TRUE(has(0x10100));
  EXPECT_TRUE(has(0x1010f));
  EXPECT_FALSE(has(0x10110));
  EXPECT_TRUE(has(0x1021f));
  EXPECT_FALSE(has(0x10220));
  EXPECT_FALSE(has(0x19000)) << "a note is not loaded by itself";
  object.dlpi_phnum = 2;
  EXPECT_FALSE(has(0x10200));
}

TEST(LoadedObjects, AreFoundByTheirWholeFileName) {
  EXPECT_TRUE(is_loaded("libc.so.6"));
  EXPECT_FALSE(is_loaded("libc.so"));
  EXPECT_FALSE(is_loaded("libgable_nothing.so"));
}

std::string object_of(const void* address, std::size_t size) {
  std::string name(20, '?');
  return object_at(address, name.data(), size) ? name.c_str() : "none";
}

TEST(LoadedObjects, TheObjectOfAnAddressIsNamedAsFarAsItFits) {
  EXPECT_EQ(object_of(stdout, 20), "libc.so.6");
  EXPECT_EQ(object_of(stdout, 10), "libc.so.6");
  EXPECT_EQ(object_of(stdout, 9), "libc.so.");
  EXPECT_EQ(object_of(stdout, 1), "");
  EXPECT_EQ(object_of(stdout, 0), "none");
}

TEST(LoadedObjects, TheProgramGoesByItsOwnName) {
  static const int in_program = 0;
  std::array<char, 200> name{};
  ASSERT_TRUE(object_at(&in_program, name.data(), name.size()));
  EXPECT_STREQ(name.data(), program_invocation_short_name);
}

TEST(LoadedObjects, MemoryOfNoObjectHasNone) { EXPECT_EQ(object_of(nullptr, 20), "none"); }

}  // namespace
}  // namespace gable
