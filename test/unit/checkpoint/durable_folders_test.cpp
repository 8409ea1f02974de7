//===- durable_folders_test.cpp - what a crash of the machine leaves -------===//
//
// fsync is replaced by a function that, in these tests, also records what the flushed folder has. What a folder had at
// its last flush is what a crash of the machine may leave of it.
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/folder.h"
#include "runtime/checkpoint/new_folder.h"
#include "test/unit/checkpoint/small_training.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>
#include <sys/syscall.h>
#include <unistd.h>

using namespace meshplan;
using testing::ElementsAre;

namespace {

/// Paths relative to the flushed folder, with those in subfolders.
using Entries = std::set<std::string>;
/// All flushes of folders so far, in their order.
std::vector<std::pair<std::string, Entries>> flushes;
/// Other tests flush on several threads at the same time.
std::atomic<bool> isRecording = false;

Entries entriesOf(const std::string &folder) {
  Entries entries;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(folder))
    entries.insert(std::filesystem::relative(entry.path(), folder));
  return entries;
}

} // namespace

extern "C" int fsync(int descriptor) {
  if (isRecording) {
    std::string path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor));
    if (std::filesystem::is_directory(path))
      flushes.emplace_back(path, entriesOf(path));
  }
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

namespace {

/// True if the last flush of its folder had this entry.
bool isDurable(const std::string &path) {
  std::filesystem::path parent = std::filesystem::canonical(std::filesystem::path(path).parent_path());
  auto last = std::find_if(flushes.rbegin(), flushes.rend(), [&](const auto &flush) { return flush.first == parent; });
  return last != flushes.rend() && last->second.contains(std::filesystem::path(path).filename());
}

class DurableFolders : public testing::Test {
protected:
  DurableFolders() {
    flushes.clear();
    isRecording = true;
  }
  ~DurableFolders() override { isRecording = false; }

  TemporaryDirectory folder;
};

TEST_F(DurableFolders, EveryNewParentOfTheCheckpoints) {
  ASSERT_TRUE(CheckpointFolder::open(folder / "a/b/c", 2).ok());
  for (const char *path : {"a", "a/b", "a/b/c"})
    EXPECT_TRUE(isDurable(folder / path)) << path;
  flushes.clear();
  ASSERT_TRUE(CheckpointFolder::open(folder / "a/d/./e/", 2).ok());
  for (const char *path : {"a/d", "a/d/e"})
    EXPECT_TRUE(isDurable(folder / path)) << path;
  EXPECT_FALSE(isDurable(folder / "a")) << "it was there";
}

TEST_F(DurableFolders, RelativeOnes) {
  std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  EXPECT_TRUE(CheckpointFolder::open("x/y", 2).ok());
  EXPECT_TRUE(CheckpointFolder::open("z", 2).ok());
  std::filesystem::current_path(before);
  for (const char *path : {"x", "x/y", "z"})
    EXPECT_TRUE(isDurable(folder / path)) << path;
}

TEST_F(DurableFolders, AFolderThatAppearsWhenComplete) {
  auto made = NewFolder::create(folder / "a/b/out");
  ASSERT_TRUE(made.ok()) << made.status().message();
  for (const char *path : {"a", "a/b"})
    EXPECT_TRUE(isDurable(folder / path)) << path;
  writeText(made->temporaryPath() + "/x", "1");
  const std::string place = std::filesystem::canonical(made->temporaryPath());
  ASSERT_TRUE(made->commit().ok());
  EXPECT_TRUE(isDurable(folder / "a/b/out"));
  EXPECT_THAT(flushes, testing::Contains(testing::Pair(place, ElementsAre("x")))) << "before it has its name";
}

TEST_F(DurableFolders, AnOldCheckpointHasItsOtherNameBeforeItsFilesAreRemoved) {
  auto opened = CheckpointFolder::open(folder.path(), 1);
  ASSERT_TRUE(opened.ok());
  for (int64_t step : {1, 2, 3}) {
    std::filesystem::create_directory(incompletePath(folder.path(), step));
    writeText(incompletePath(folder.path(), step) + "/checkpoint.json", "{}");
    ASSERT_TRUE(opened->commit(step).ok());
  }
  // What the last flush had may still be there: no checkpoint without its files.
  for (const auto &[path, entries] : flushes)
    for (const char *name : {"step-000001", "step-000002", "step-000003"})
      EXPECT_EQ(entries.contains(name), entries.contains(std::string(name) + "/checkpoint.json"));
  for (const char *name : {"step-000001", "step-000002"})
    EXPECT_FALSE(isDurable(folder / name)) << name;
  EXPECT_TRUE(isDurable(folder / "step-000003"));
}

} // namespace
