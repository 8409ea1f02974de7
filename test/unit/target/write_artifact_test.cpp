//===- write_artifact_test.cpp - writing complete files -------------------===//

#include "compiler/target/artifact/artifact.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <filesystem>
#include <fstream>

using namespace meshplan;
namespace fs = std::filesystem;

namespace {
class WriteArtifact : public testing::Test {
protected:
  void SetUp() override {
    directory = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(directory);
    fs::create_directories(directory);
  }
  void TearDown() override { fs::remove_all(directory); }

  std::string write(const fs::path &path, std::vector<uint8_t> bytes) {
    llvm::Error error = writeArtifact(path.string(), bytes);
    return error ? llvm::toString(std::move(error)) : std::string();
  }
  static std::string contents(const fs::path &path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const fs::directory_entry &entry : fs::directory_iterator(directory))
      names.push_back(entry.path().filename());
    return names;
  }

  fs::path directory;
};
} // namespace

TEST_F(WriteArtifact, WritesAllBytes) {
  EXPECT_EQ(write(directory / "a.sched", {'a', 'b', 0, 'c'}), "");
  EXPECT_EQ(contents(directory / "a.sched"), std::string("ab\0c", 4));
  EXPECT_THAT(files(), testing::ElementsAre("a.sched"));
}

TEST_F(WriteArtifact, ReplacesAnOlderFile) {
  EXPECT_EQ(write(directory / "a.sched", {'o', 'l', 'd', '!'}), "");
  EXPECT_EQ(write(directory / "a.sched", {'n', 'e', 'w'}), "");
  EXPECT_EQ(contents(directory / "a.sched"), "new");
  EXPECT_THAT(files(), testing::ElementsAre("a.sched"));
}

TEST_F(WriteArtifact, NamesAMissingFolder) {
  fs::path path = directory / "none" / "a.sched";
  EXPECT_EQ(write(path, {'a'}), "cannot write '" + path.string() + "': No such file or directory");
  EXPECT_THAT(files(), testing::IsEmpty());
}

TEST_F(WriteArtifact, NamesADirectory) {
  fs::create_directories(directory / "a.sched");
  EXPECT_EQ(write(directory / "a.sched", {'a'}),
            "cannot write '" + (directory / "a.sched").string() + "': Is a directory");
  EXPECT_THAT(files(), testing::ElementsAre("a.sched"));
}

TEST_F(WriteArtifact, WritesWhatALinkLeadsTo) {
  EXPECT_EQ(write(directory / "a.sched", {'o', 'l', 'd'}), "");
  fs::create_symlink("a.sched", directory / "link");
  EXPECT_EQ(write(directory / "link", {'n', 'e', 'w'}), "");
  EXPECT_TRUE(fs::is_symlink(directory / "link"));
  EXPECT_EQ(contents(directory / "a.sched"), "new");
  EXPECT_THAT(files(), testing::UnorderedElementsAre("a.sched", "link"));
}

TEST_F(WriteArtifact, RefusesLinksInALoop) {
  fs::create_symlink("link", directory / "link");
  EXPECT_EQ(write(directory / "link", {'a'}),
            "cannot write '" + (directory / "link").string() + "': its links form a cycle");
  EXPECT_THAT(files(), testing::ElementsAre("link"));
}

TEST_F(WriteArtifact, RefusesALinkToNothing) {
  fs::create_symlink("nothing", directory / "link");
  EXPECT_EQ(write(directory / "link", {'a'}),
            "cannot write '" + (directory / "link").string() + "': it is a broken link");
  EXPECT_THAT(files(), testing::ElementsAre("link"));
}
