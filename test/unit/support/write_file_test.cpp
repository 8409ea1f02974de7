//===- write_file_test.cpp - writing complete files -----------------------===//

#include "compiler/support/write_file.h"
#include "test/unit/small_files.h"
#include "test/unit/temporary_directory.h"
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/stat.h>

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

class WriteFile : public testing::Test {
protected:
  /// The reason why it cannot be written, with the folder as DIR; empty on success.
  std::string write(const std::string &name, llvm::StringRef content) {
    std::string text = llvm::toString(writeFileAtomically(directory / name, content));
    if (size_t at = text.find(directory.path()); at != std::string::npos)
      text.replace(at, directory.path().size(), "DIR");
    return text;
  }
  std::string read(const std::string &name) const {
    std::ifstream file(directory / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TemporaryDirectory directory;
};

TEST_F(WriteFile, AFileIsWhatIsWritten) {
  const std::string every("\0a\n\r\xff", 5), large(3 << 20, 'x');
  for (const std::string &content : {std::string(), every, large}) {
    EXPECT_EQ(write("f", content), "");
    EXPECT_TRUE(read("f") == content) << content.size();
  }
  EXPECT_EQ(write("f", "short"), "");
  EXPECT_EQ(read("f"), "short") << "nothing is left of what was longer";
  EXPECT_THAT(directory.names(), ElementsAre("f")) << "and no temporary file";
}

TEST_F(WriteFile, ANewFileIsForWhomTheMaskSays) {
  mode_t mask = ::umask(0022);
  EXPECT_EQ(write("f", "x"), "");
  ::umask(mask);
  struct stat found = {};
  ASSERT_EQ(::stat((directory / "f").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0644u);
}

TEST_F(WriteFile, ALinkStaysALink) {
  std::filesystem::create_directory(directory / "sub");
  std::ofstream(directory / "sub/f") << "before";
  std::filesystem::create_symlink("sub/f", directory / "near");
  std::filesystem::create_symlink("near", directory / "far");
  EXPECT_EQ(write("far", "after"), "");
  EXPECT_EQ(read("sub/f"), "after");
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "far"));
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "near"));
  EXPECT_THAT(directory.names(), ElementsAre("far", "near", "sub"));
}

TEST_F(WriteFile, OtherNamesOfTheFileKeepWhatItWas) {
  std::ofstream(directory / "f") << "before";
  std::filesystem::create_hard_link(directory / "f", directory / "other");
  EXPECT_EQ(write("f", "after"), "");
  EXPECT_EQ(read("other"), "before") << "it was replaced, not written over";
}

TEST_F(WriteFile, LinksThatLeadNowhere) {
  std::filesystem::create_symlink("none", directory / "dangling");
  std::filesystem::create_symlink("b", directory / "a");
  std::filesystem::create_symlink("a", directory / "b");
  EXPECT_EQ(write("dangling", "x"), "cannot write 'DIR/dangling': it is a broken link");
  EXPECT_EQ(write("a", "x"), "cannot write 'DIR/a': its links form a cycle");
  EXPECT_THAT(directory.names(), ElementsAre("a", "b", "dangling"));
}

TEST_F(WriteFile, WhatIsNoFileStays) {
  std::filesystem::create_directory(directory / "folder");
  std::filesystem::create_symlink("folder", directory / "link");
  EXPECT_EQ(write("folder", "x"), "cannot write 'DIR/folder': Is a directory");
  EXPECT_EQ(write("link", "x"), "cannot write 'DIR/link': Is a directory");
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(write("pipe", "x"), "cannot write 'DIR/pipe': it is not a regular file");
  EXPECT_TRUE(std::filesystem::is_fifo(directory / "pipe"));
  EXPECT_TRUE(std::filesystem::is_empty(directory / "folder"));
}

TEST_F(WriteFile, AFolderThatIsMissingIsNotMade) {
  EXPECT_EQ(write("none/f", "x"), "cannot write 'DIR/none/f': No such file or directory");
  std::ofstream(directory / "f") << "a file";
  EXPECT_EQ(write("f/g", "x"), "cannot write 'DIR/f/g': Not a directory");
  EXPECT_THAT(directory.names(), ElementsAre("f"));
  EXPECT_EQ(read("f"), "a file");
}

TEST_F(WriteFile, ANameThatIsTooLongIsRefused) {
  EXPECT_EQ(write(std::string(255, 'n'), "x"), "cannot write 'DIR/" + std::string(255, 'n') + "': File name too long");
  EXPECT_THAT(directory.names(), IsEmpty());
}

TEST_F(WriteFile, AFullDiskKeepsTheOldFile) {
  EXPECT_EQ(write("f", "old"), "");
  {
    SmallFiles limit(10);
    EXPECT_EQ(write("g", "0123456789"), "");
    EXPECT_EQ(write("f", "0123456789a"), "cannot write 'DIR/f': File too large");
  }
  EXPECT_EQ(read("f"), "old");
  EXPECT_THAT(directory.names(), ElementsAre("f", "g")) << "no temporary file stays";
}

TEST_F(WriteFile, SignalsAreAsTheyWere) {
  sigset_t mine, before, after;
  sigemptyset(&mine);
  sigaddset(&mine, SIGINT);
  pthread_sigmask(SIG_BLOCK, &mine, &before);
  EXPECT_EQ(write("f", "x"), "");
  EXPECT_NE(write("none/f", "x"), "");
  pthread_sigmask(SIG_SETMASK, &before, &after);
  EXPECT_TRUE(sigismember(&after, SIGINT)) << "held back before";
  EXPECT_FALSE(sigismember(&after, SIGTERM)) << "and not held back";
  EXPECT_FALSE(sigismember(&after, SIGHUP));
}

} // namespace
