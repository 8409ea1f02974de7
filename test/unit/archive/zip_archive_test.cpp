//===- zip_archive_test.cpp - members of a zip file -------------*- C++ -*-===//

#include "compiler/archive/zip_archive.h"
#include "test/unit/archive/test_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zip.h>

#include <filesystem>
#include <random>

using namespace meshplan::archive;
using namespace meshplan::archive::testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

namespace {

/// A file that is removed at the end of the test.
class ZipArchiveTest : public ::testing::Test {
protected:
  ~ZipArchiveTest() override {
    for (const std::string &path : paths)
      std::filesystem::remove_all(path);
  }

  std::unique_ptr<ZipArchive> open(const std::string &path) {
    paths.push_back(path);
    return ZipArchive::open(path, errors);
  }
  /// The error, with the path written as FILE, and its helps.
  std::vector<std::string> said() const {
    std::vector<std::string> result;
    for (const Diagnostic &error : errors) {
      std::string text = error.message;
      if (size_t at = text.find(paths.back()); at != std::string::npos)
        text.replace(at, paths.back().size(), "FILE");
      result.push_back(text);
      if (!error.help.empty())
        result.push_back(error.help);
    }
    return result;
  }
  std::vector<std::string> paths;
  std::vector<Diagnostic> errors;
};

const std::string exportHelp = "a model is written by torch.export.save(program, 'model.pt2')";

TEST_F(ZipArchiveTest, MembersAreReadStoredAndDeflated) {
  const std::string zeros(100000, '\0'), every = [] {
    std::string all;
    for (int c = 0; c < 256; ++c)
      all += static_cast<char>(c);
    return all;
  }();
  for (bool deflated : {false, true}) {
    std::unique_ptr<ZipArchive> archive =
        open(writeZip({{"a/empty", ""}, {"a/every", every}, {"zeros", zeros}}, deflated));
    ASSERT_TRUE(archive);
    EXPECT_EQ(archive->path(), paths.back());
    EXPECT_THAT(archive->names(), ElementsAre("a/empty", "a/every", "zeros"));
    EXPECT_EQ(archive->read("a/empty", errors), "");
    EXPECT_EQ(archive->read("a/every", errors), every);
    EXPECT_EQ(archive->read("zeros", errors), zeros);
    EXPECT_EQ(archive->read("a/every", errors), every) << "and again";
    EXPECT_EQ(archive->find("zeros")->size, zeros.size());
    EXPECT_EQ(archive->find("zeros")->compressedSize < 1000, deflated);
    EXPECT_EQ(archive->find("a/every")->index, 1u);
  }
  EXPECT_THAT(said(), IsEmpty());
}

TEST_F(ZipArchiveTest, NamesAreWhole) {
  std::unique_ptr<ZipArchive> archive = open(writeZip({{"m/data", "x"}}));
  ASSERT_TRUE(archive);
  EXPECT_NE(archive->find("m/data"), nullptr);
  for (const char *name : {"m", "m/", "data", "m/data/", "M/data", ""})
    EXPECT_EQ(archive->find(name), nullptr) << name;
}

TEST_F(ZipArchiveTest, WhatCannotBeOpenedIsNamed) {
  EXPECT_FALSE(open("/tmp/meshplan-no-such-file.pt2"));
  EXPECT_THAT(
      said(),
      ElementsAre("'FILE' cannot be opened: no such file or directory",
                  "torch.export.save(program, path) writes it; in a plan a relative path starts at the plan's folder"));
  errors.clear();
  std::string folder = writeFile("");
  std::filesystem::remove(folder);
  std::filesystem::create_directory(folder);
  EXPECT_FALSE(open(folder));
  EXPECT_THAT(said(), ElementsAre("'FILE' is a folder", "name the .pt2 file that torch.export.save wrote"));
  errors.clear();
  EXPECT_FALSE(ZipArchive::open("/dev/null", errors));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].message, "'/dev/null' is not a regular file");
}

TEST_F(ZipArchiveTest, WhatIsNoZipIsNamed) {
  for (const char *bytes : {"PK", "not a zip archive, but long enough to hold the end of one"}) {
    EXPECT_FALSE(open(writeFile(bytes)));
    EXPECT_THAT(said(), ElementsAre("'FILE' is not a zip archive, or is truncated", exportHelp)) << bytes;
    errors.clear();
  }
}

TEST_F(ZipArchiveTest, AChangedByteOfAMemberIsDamage) {
  std::string path = writeZip({{"a", "some bytes"}, {"b", "others"}});
  std::string bytes = readFile(path);
  std::filesystem::remove(path);
  bytes.replace(bytes.find("bytes"), 5, "bites");
  std::unique_ptr<ZipArchive> archive = open(writeFile(bytes));
  ASSERT_TRUE(archive);
  EXPECT_EQ(archive->read("a", errors), std::nullopt);
  EXPECT_THAT(said(), ElementsAre("'FILE': member 'a' cannot be read: CRC error"));
  EXPECT_EQ(archive->read("b", errors), "others") << "the others can be read";
}

TEST_F(ZipArchiveTest, ASizeThatCannotBeTakesNoMemory) {
  // In the central directory, whose entries start with these four bytes, the sizes are at offsets 20 and 24.
  const std::string member(2000, 'a');
  struct {
    size_t offset;
    const char *name;
  } cases[] = {{20, "compressed"}, {24, "inflated"}};
  for (auto [offset, name] : cases) {
    std::string path = writeZip({{"a", member}}, /*deflated=*/true);
    std::string bytes = readFile(path);
    std::filesystem::remove(path);
    size_t entry = bytes.find("PK\x01\x02");
    ASSERT_NE(entry, std::string::npos);
    bytes.replace(entry + offset, 4, "\x00\x00\x00\x70", 4); // 1.8 GB
    std::unique_ptr<ZipArchive> archive = open(writeFile(bytes));
    ASSERT_TRUE(archive) << name;
    EXPECT_EQ(archive->read("a", errors), std::nullopt) << name;
    EXPECT_THAT(said(), ElementsAre("'FILE': member 'a' cannot be read: the size in its header cannot be")) << name;
    errors.clear();
  }
}

TEST_F(ZipArchiveTest, AMemberThatFillsTheMemoryIsRefusedByItsSize) {
  // A second member makes the file large enough for plausible sizes: 4 MiB that unpack to 4 GB.
  std::mt19937 random(1);
  std::string noise(5 << 20, '\0');
  for (char &byte : noise)
    byte = static_cast<char>(random());
  std::string path = writeZip({{"a", std::string(2000, 'a')}, {"noise", noise}}, /*deflated=*/true);
  std::string bytes = readFile(path);
  std::filesystem::remove(path);
  size_t entry = bytes.find("PK\x01\x02");
  ASSERT_NE(entry, std::string::npos);
  bytes.replace(entry + 20, 4, std::string("\x00\x00\x40\x00", 4));
  bytes.replace(entry + 24, 4, std::string("\x00\x00\x00\xf0", 4));
  std::unique_ptr<ZipArchive> archive = open(writeFile(bytes));
  ASSERT_TRUE(archive);
  EXPECT_EQ(archive->read("a", errors), std::nullopt);
  EXPECT_THAT(said(), ElementsAre("'FILE': member 'a' cannot be read: unpacked it is 4026531840 bytes, at most "
                                  "1073741824 are read"));
}

TEST_F(ZipArchiveTest, AMemberThatIsNotOfItsSizeIsDamage) {
  const std::pair<char, const char *> cases[] = {{11, "it ends before the size in its header"},
                                                 {9, "it is longer than the size in its header"}};
  for (auto [size, problem] : cases) {
    std::string path = writeZip({{"a", "some bytes"}}, /*deflated=*/true);
    std::string bytes = readFile(path);
    std::filesystem::remove(path);
    bytes[bytes.find("PK\x01\x02") + 24] = size; // the inflated size
    std::unique_ptr<ZipArchive> archive = open(writeFile(bytes));
    ASSERT_TRUE(archive);
    EXPECT_EQ(archive->read("a", errors), std::nullopt);
    EXPECT_THAT(said(), ElementsAre(std::string("'FILE': member 'a' cannot be read: ") + problem));
    errors.clear();
  }
}

TEST_F(ZipArchiveTest, AMemberMayBeAsSmallAsDeflateCanMakeIt) {
  const std::string zeros(int64_t(64) << 20, '\0'); // a ratio of about 1029
  std::unique_ptr<ZipArchive> archive = open(writeZip({{"zeros", zeros}}, /*deflated=*/true));
  ASSERT_TRUE(archive);
  EXPECT_GT(archive->find("zeros")->size / archive->find("zeros")->compressedSize, 1000u);
  std::optional<std::string> bytes = archive->read("zeros", errors);
  EXPECT_THAT(said(), IsEmpty());
  EXPECT_TRUE(bytes == zeros);
}

} // namespace
