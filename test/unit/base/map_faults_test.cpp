//===- map_faults_test.cpp - mapped files that cannot be read -------------===//

#include "runtime/base/map_faults.h"

#include "runtime/base/file.h"
#include "test/unit/child_process.h"
#include "test/unit/temporary_directory.h"

#include <csignal>
#include <fstream>
#include <unistd.h>

namespace meshplan {
namespace {

class MapFaults : public testing::Test {
protected:
  void SetUp() override { std::ofstream(path) << std::string(5 * pageBytes, 'x'); }
  void truncate() const { EXPECT_EQ(::truncate(path.c_str(), pageBytes), 0); }

  const size_t pageBytes = ::sysconf(_SC_PAGESIZE);
  TemporaryDirectory folder;
  std::string path = folder / "data";
};

TEST_F(MapFaults, APageThatIsGoneReadsAsZerosAndIsToldOf) {
  EXPECT_EQ(statusOfChild([&] {
              catchMapFaults();
              auto file = MappedFile::open(path);
              if (!file.ok() || !checkMapFaults().ok())
                return 1;
              truncate();
              const std::byte *bytes = file->bytes().data();
              if (bytes[0] != std::byte('x'))
                return 2;
              if (bytes[3 * pageBytes + 7] != std::byte(0) || bytes[4 * pageBytes] != std::byte(0))
                return 3;
              Status status = checkMapFaults();
              return status.code() == StatusCode::io &&
                             status.message() ==
                                 "cannot read '" + path + "': it was truncated since it was opened, or its disk fails"
                         ? 0
                         : 4;
            }),
            0);
}

TEST_F(MapFaults, WhatIsGoneOfTheLastPageIsToldOf) {
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok() && checkMapFaults().ok());
  ASSERT_EQ(::truncate(path.c_str(), 5 * pageBytes - 100), 0);
  EXPECT_EQ(checkMapFaults().code(), StatusCode::io);
}

TEST_F(MapFaults, AFileThatIsReplacedIsStillThere) {
  auto file = MappedFile::open(path);
  ASSERT_EQ(::unlink(path.c_str()), 0);
  EXPECT_TRUE(checkMapFaults().ok());
  std::ofstream(folder / "other") << "short";
  std::ofstream(path) << "short";
  EXPECT_TRUE(checkMapFaults().ok());
}

TEST_F(MapFaults, AMovedFileIsStillListed) {
  EXPECT_EQ(statusOfChild([&] {
              catchMapFaults();
              auto file = MappedFile::open(path);
              MappedFile moved = *std::move(file);
              truncate();
              return moved.bytes()[2 * pageBytes] == std::byte(0) && !checkMapFaults().ok() ? 0 : 1;
            }),
            0);
}

TEST_F(MapFaults, WithoutTheHandlerTheSystemEndsTheProcess) {
  EXPECT_EQ(statusOfChild([&] {
              ::signal(SIGBUS, SIG_DFL); // a sanitizer has one
              auto file = MappedFile::open(path);
              truncate();
              return static_cast<int>(file->bytes()[2 * pageBytes]);
            }),
            -SIGBUS);
}

TEST_F(MapFaults, OtherFaultsEndTheProcess) {
  EXPECT_EQ(statusOfChild([&] {
              catchMapFaults();
              ::raise(SIGBUS);
              ::raise(SIGBUS);
              return 0;
            }),
            -SIGBUS);
}

} // namespace
} // namespace meshplan
