//===- folder_test.cpp - the folder of the checkpoints --------------------===//

#include "runtime/checkpoint/folder.h"
#include "test/unit/checkpoint/small_training.h"

#include <unistd.h>

using namespace meshplan;

namespace {

using testing::ElementsAre;

/// The files of a rank's checkpoint before it is complete.
void makeIncomplete(const std::string &folder, int64_t step, const std::string &record = "{}") {
  std::filesystem::create_directory(incompletePath(folder, step));
  writeText(incompletePath(folder, step) + "/checkpoint.json", record);
}

void save(CheckpointFolder &folder, const std::string &path, int64_t step) {
  makeIncomplete(path, step);
  Status status = folder.commit(step);
  ASSERT_TRUE(status.ok()) << status.message();
}

TEST(CheckpointFolder, KeepsTheLast) {
  TemporaryDirectory folder;
  auto opened = CheckpointFolder::open(folder.path(), 2);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  for (int64_t step : {5, 10, 1000000})
    save(*opened, folder.path(), step);
  EXPECT_THAT(folder.names(), ElementsAre(".lock", "step-000010", "step-1000000"));
  EXPECT_EQ(*findCheckpoint(folder.path()), folder / "step-1000000");
  EXPECT_EQ(*findCheckpoint(folder / "step-000010"), folder / "step-000010");
}

TEST(CheckpointFolder, KeepsAllWithoutANumber) {
  TemporaryDirectory folder;
  auto opened = CheckpointFolder::open(folder.path(), 0);
  for (int64_t step : {1, 2, 3})
    save(*opened, folder.path(), step);
  EXPECT_EQ(listCheckpoints(folder.path())->size(), 3u);
}

TEST(CheckpointFolder, AStepMayBeSavedAgain) {
  TemporaryDirectory folder;
  auto opened = CheckpointFolder::open(folder.path(), 2);
  save(*opened, folder.path(), 5);
  makeIncomplete(folder.path(), 5, "{\"again\": 1}");
  ASSERT_TRUE(opened->commit(5).ok());
  EXPECT_THAT(folder.names(), ElementsAre(".lock", "step-000005"));
  EXPECT_EQ(std::filesystem::file_size(folder / "step-000005/checkpoint.json"), 12u);
}

TEST(CheckpointFolder, OnlyNamesOfCheckpointsCount) {
  TemporaryDirectory folder;
  for (const char *name : {"step-5", "step-000005x", "step-", "other", "step--00005", ".step-000007.incomplete"})
    std::filesystem::create_directory(folder / name);
  EXPECT_TRUE(listCheckpoints(folder.path())->empty());
  EXPECT_EQ(
      findCheckpoint(folder.path()).status().message(),
      folder.path() +
          ": neither a checkpoint nor a folder of checkpoints; help: name a folder such as step-000010, or the folder "
          "that contains it");
  std::filesystem::create_directory(folder / "step-000007");
  EXPECT_EQ(*findCheckpoint(folder.path()), folder / "step-000007");
  EXPECT_EQ(*findCheckpoint(folder / "step-000007/"), folder / "step-000007/") << "its record is missing";
  EXPECT_EQ(findCheckpoint("/nowhere").status().message(), "cannot open '/nowhere': No such file or directory");
}

TEST(CheckpointFolder, RemovesWhatAKilledRunHasLeft) {
  TemporaryDirectory folder;
  makeIncomplete(folder.path(), 7);
  std::filesystem::create_directory(folder / ".step-000003.removed");
  writeText(folder / "notes.txt", "mine");
  ASSERT_TRUE(CheckpointFolder::open(folder.path(), 2).ok());
  EXPECT_THAT(folder.names(), ElementsAre(".lock", "notes.txt"));
}

TEST(CheckpointFolder, TwoRunsDoNotWriteIntoOne) {
  TemporaryDirectory folder;
  std::string path = folder / "deep/run";
  {
    auto first = CheckpointFolder::open(path, 2);
    ASSERT_TRUE(first.ok()) << first.status().message();
    char host[128] = "";
    ::gethostname(host, sizeof host - 1);
    EXPECT_EQ(CheckpointFolder::open(path, 2).status().message(),
              path + ": process " + std::to_string(::getpid()) + " on " + host +
                  " writes checkpoints there; help: end it, or name another folder");
  }
  EXPECT_TRUE(CheckpointFolder::open(path, 2).ok());
}

TEST(CheckpointFolder, ACheckpointIsOfTheFolderThatItLiesIn) {
  TemporaryDirectory folder;
  std::filesystem::create_directories(folder / "run/step-000010");
  std::filesystem::create_directories(folder / "other");
  for (const char *checkpoint : {"run/step-000010", "run/step-000010/", "other/../run/step-000010"})
    for (const char *run : {"run", "run/", "./run"})
      EXPECT_TRUE(isOfFolder(folder / checkpoint, folder / run)) << checkpoint << " and " << run;
  EXPECT_FALSE(isOfFolder(folder / "run/step-000010", folder / "other"));
  EXPECT_FALSE(isOfFolder(folder / "run/step-000010", folder / "new")) << "which is not there";
  EXPECT_FALSE(isOfFolder(folder / "run/step-000010", ""));
  EXPECT_FALSE(isOfFolder("", folder / "run"));
}

TEST(CheckpointFolder, ATrainingGoesOnWhereTheLastOneIs) {
  TemporaryDirectory folder;
  auto opened = CheckpointFolder::open(folder.path(), 0);
  EXPECT_TRUE(opened->checkGoesOn(0).ok());
  save(*opened, folder.path(), 10);
  save(*opened, folder.path(), 20);
  EXPECT_TRUE(opened->checkGoesOn(20).ok());
  EXPECT_EQ(opened->checkGoesOn(0).message(), folder.path() +
                                                  ": it already has checkpoints, the last of step 20; "
                                                  "help: continue from it with --resume, or name another folder");
  EXPECT_EQ(opened->checkGoesOn(10).message(),
            folder.path() + ": it has checkpoints of steps after 10, where this run continues, the last of step "
                            "20; help: continue from that one, or name another folder");
}

TEST(CheckpointFolder, SaysWhyItCannotBeWritten) {
  TemporaryDirectory folder;
  writeText(folder / "file", "");
  EXPECT_EQ(CheckpointFolder::open(folder / "file/run", 2).status().message(),
            "cannot make folder '" + (folder / "file/run") + "': Not a directory");
  EXPECT_EQ(CheckpointFolder::open("/proc/run", 2).status().message(),
            "cannot make folder '/proc/run': No such file or directory");
  std::filesystem::create_directory(folder / "run");
  std::filesystem::create_directory(folder / "run/.lock");
  EXPECT_EQ(CheckpointFolder::open(folder / "run", 2).status().message(),
            "cannot write '" + (folder / "run/.lock") + "': Is a directory");
}

} // namespace
