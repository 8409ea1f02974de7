//===- file_failures_test.cpp - files that cannot be written --------------===//

#include "runtime/base/file.h"

#include "test/unit/base/file_bytes.h"
#include "test/unit/small_files.h"
#include "test/unit/temporary_directory.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

namespace meshplan {
namespace {

TEST(AtomicFile, AFullDiskKeepsTheOldFile) {
  TemporaryDirectory directory;
  std::string path = directory / "a";
  ASSERT_TRUE(writeFileAtomically(path, bytesOf("old")).ok());
  const std::string message = "cannot write '" + path + "': File too large";
  {
    SmallFiles limit(10);
    EXPECT_TRUE(writeFileAtomically(path, bytesOf("0123456789")).ok()) << "as many as there is room for";
    EXPECT_EQ(writeFileAtomically(path, bytesOf("0123456789a")).message(), message) << "a part was written";
    Expected<AtomicFile> file = AtomicFile::create(path);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(file->resize(11).message(), message);
    EXPECT_TRUE(file->resize(10).ok());
    EXPECT_EQ(file->write(10, bytesOf("b")).message(), message);
  }
  EXPECT_EQ(contentOf(path), "0123456789");
  EXPECT_THAT(directory.names(), testing::ElementsAre("a"));
}

TEST(AtomicFile, WhatIsNoFileIsNotReplaced) {
  TemporaryDirectory directory;
  std::string pipe = directory / "pipe", link = directory / "link";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink("pipe", link);
  for (const std::string &path : {pipe, link}) {
    Status status = writeFileAtomically(path, bytesOf("x"));
    EXPECT_EQ(status.code(), StatusCode::invalid);
    EXPECT_EQ(status.message(), "cannot write '" + path + "': it is not a regular file");
  }
  Status status = writeFileAtomically(directory.path(), bytesOf("x"));
  EXPECT_EQ(status.code(), StatusCode::invalid);
  EXPECT_EQ(status.message(), "cannot write '" + directory.path() + "': Is a directory");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_THAT(directory.names(), testing::ElementsAre("link", "pipe"));
}

TEST(AtomicFile, PiecesMayBeWrittenInAnyOrder) {
  TemporaryDirectory directory;
  Expected<AtomicFile> file = AtomicFile::create(directory / "a");
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->resize(8).ok());
  EXPECT_TRUE(file->write(6, bytesOf("gh")).ok());
  EXPECT_TRUE(file->write(0, bytesOf("abc")).ok());
  EXPECT_TRUE(file->write(3, {}).ok());
  EXPECT_TRUE(file->commit().ok());
  EXPECT_EQ(contentOf(directory / "a"), std::string("abc\0\0\0gh", 8)) << "what was not written is zero";
}

} // namespace
} // namespace meshplan
