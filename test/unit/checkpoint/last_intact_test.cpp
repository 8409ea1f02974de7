//===- last_intact_test.cpp - the last intact checkpoint ------------------===//

#include "runtime/checkpoint/integrity/last_intact.h"

#include "runtime/checkpoint/export.h"
#include "runtime/checkpoint/load.h"
#include "runtime/checkpoint/source.h"
#include "test/unit/checkpoint/small_training.h"

#include <fstream>
#include <sstream>

using namespace meshplan;

namespace {

using testing::HasSubstr;

std::string textOf(const std::string &path) {
  std::stringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

/// Flips a bit of a file; negative offsets count from its end.
void flip(const std::string &path, int64_t place) {
  std::string text = textOf(path);
  text[place < 0 ? text.size() + place : place] ^= 4;
  writeText(path, text);
}

class LastWholeTest : public testing::Test {
protected:
  /// Checkpoints of steps 1 to 3, of a tensor of several blocks.
  LastWholeTest() {
    Artifact artifact = scheduleOf({.extent = extent});
    Status status = onRanks(artifact, [&](World &world, ProgramRunner &runner) -> Status {
      MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(OnesFeed()));
      MESHPLAN_ASSIGN_OR_RETURN(CheckpointWriter writer, CheckpointWriter::open(world, {run, 0, 0}));
      for (int64_t step = 0; step < 3; ++step) {
        MESHPLAN_RETURN_IF_ERROR(runner.run());
        MESHPLAN_RETURN_IF_ERROR(writer.start(runner, {}));
        MESHPLAN_RETURN_IF_ERROR(writer.finish());
      }
      return Status();
    });
    EXPECT_TRUE(status.ok()) << status.message();
  }

  /// The status of resuming under a plan of so many ranks, each of which reads another part.
  Status load(const std::string &path, int64_t ranks) {
    Artifact artifact = scheduleOf({.ranks = ranks, .extent = extent});
    return onRanks(artifact,
                   [&](World &world, ProgramRunner &runner) { return loadCheckpoint(world, runner, path).status(); });
  }

  std::string pathOf(int64_t step) const { return checkpointPath(run, step); }

  const int64_t extent = 300001; // of f64: three blocks
  TemporaryDirectory folder;
  std::string run = folder / "run";
};

TEST_F(LastWholeTest, ChecksumsAreThoseOfTheFile) {
  auto source = CheckpointSource::openSaved(pathOf(3));
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_TRUE(source->checkSaved().ok());
  ASSERT_TRUE(source->record().checksums);
  const FileChecksums &own = source->record().checksums->files.at(optimizerName);
  std::string text = textOf(pathOf(3) + "/" + optimizerName);
  std::span<const std::byte> bytes = std::as_bytes(std::span(text)), data = bytes.last(8 * extent);
  EXPECT_EQ(own.header, crc32Of(bytes.first(text.size() - data.size())));
  const std::vector<uint32_t> &values = own.tensors.at("w.momentum_buffer");
  ASSERT_EQ(values.size(), 3u);
  for (size_t block = 0; block < 3; ++block) {
    std::span<const std::byte> rest = data.subspan(block << 20);
    EXPECT_EQ(values[block], crc32Of(rest.first(std::min<size_t>(rest.size(), 1 << 20)))) << block;
  }
}

TEST_F(LastWholeTest, ADamagedTensorIsSeenUnderEveryPlan) {
  std::string path = pathOf(3) + "/" + optimizerName, whole = textOf(path);
  for (int64_t place : {-1, -(1 << 20), -(1 << 21), -8 * 300001}) {
    flip(path, place);
    for (int64_t ranks : {1, 2, 3}) {
      Status status = load(run, ranks);
      EXPECT_EQ(status.code(), StatusCode::corrupted);
      EXPECT_THAT(status.message(), HasSubstr(path + ": tensor 'w.momentum_buffer': damaged: bytes ")) << ranks;
    }
    writeText(path, whole);
  }
  EXPECT_TRUE(load(run, 2).ok());
}

TEST_F(LastWholeTest, EachFileOfACheckpointIsLookedAt) {
  EXPECT_TRUE(checkIntact(pathOf(1)).ok());
  flip(pathOf(1) + "/" + modelName, -1);
  EXPECT_THAT(checkIntact(pathOf(1)).message(), HasSubstr("model.safetensors: tensor 'w': damaged: bytes 2097152 to "));
  flip(pathOf(2) + "/" + optimizerName, 20); // a letter of a name that nothing reads
  EXPECT_THAT(checkIntact(pathOf(2)).message(), HasSubstr(optimizerName));
  flip(pathOf(3) + "/" + recordName, 100);
  EXPECT_THAT(checkIntact(pathOf(3)).message(),
              HasSubstr("checkpoint.json: damaged, or edited by hand: its text has "));
}

TEST_F(LastWholeTest, SaysWhatIsDamaged) {
  std::string path = pathOf(1) + "/" + modelName, text = textOf(path);
  flip(path, -1);
  std::span<const std::byte> whole = std::as_bytes(std::span(text)), last = whole.last(8 * extent - (2 << 20));
  std::string damaged = textOf(path);
  EXPECT_EQ(checkIntact(pathOf(1)).message(),
            path + ": tensor 'w': damaged: bytes 2097152 to 2400007 have the checksum " +
                checksumText(crc32Of(std::as_bytes(std::span(damaged)).last(last.size()))) +
                ", written were bytes with " + checksumText(crc32Of(last)));
  writeText(path, text);
  // A letter of the key "format", which no reader of tensors reads.
  size_t place = text.find("pt\"");
  ASSERT_NE(place, std::string::npos);
  flip(path, static_cast<int64_t>(place));
  damaged = textOf(path);
  std::span<const std::byte> header = whole.first(whole.size() - 8 * extent);
  EXPECT_EQ(checkIntact(pathOf(1)).message(),
            path + ": damaged: its header has the checksum " +
                checksumText(crc32Of(std::as_bytes(std::span(damaged)).first(header.size()))) +
                ", written was one with " + checksumText(crc32Of(header)));
}

TEST_F(LastWholeTest, ARecordWithoutSomeChecksums) {
  auto record = openRecord(pathOf(1));
  ASSERT_TRUE(record.ok() && record->checksums);
  auto message = [&](const auto &change) {
    CheckpointRecord changed = *record;
    change(changed.checksums->files);
    writeText(pathOf(1) + "/" + recordName, textOf(changed));
    return checkIntact(pathOf(1)).message();
  };
  EXPECT_EQ(message([](auto &files) { files.find(modelName)->second.tensors.clear(); }),
            pathOf(1) + "/model.safetensors: checkpoint.json has no checksums of tensor 'w'");
  EXPECT_EQ(message([](auto &files) { files.erase(files.find(optimizerName)); }),
            pathOf(1) + "/optimizer.safetensors: checkpoint.json has no checksums of it");
  EXPECT_EQ(message([](auto &files) { files.find(modelName)->second.tensors.begin()->second.pop_back(); }),
            pathOf(1) + "/model.safetensors: tensor 'w' has 2 checksums, 3 required");
}

TEST_F(LastWholeTest, SumsOfAnotherCheckpointAreNoticed) {
  const std::vector<CheckpointFile> files{{"m", {{"w", DType::f32, {4}}}}};
  std::vector<FileSums> sums{FileSums{checksumBlockBytes}};
  sums[0].tensors.try_emplace("w", 16, checksumBlockBytes).first->second.add(0, std::vector<std::byte>(16));
  std::vector<std::string> texts{sumsText(sums, files)};
  EXPECT_TRUE(combinedSums(texts, files).ok());
  const std::vector<CheckpointFile> others{{"m", {}}};
  EXPECT_EQ(combinedSums(texts, others).status().message(), "the checksums of a rank belong to another checkpoint");
}

TEST_F(LastWholeTest, NamesTheWayOut) {
  const Status damage(StatusCode::corrupted, "w: damaged");
  EXPECT_EQ(withLastIntact(damage, pathOf(3), run).message(),
            "w: damaged; help: the last intact checkpoint there is '" + pathOf(2) + "': `mv " + pathOf(3) + " " + run +
                "/damaged-step-000003`; the same command uses it");
  EXPECT_EQ(withLastIntact(damage, pathOf(3), pathOf(3)).message(),
            "w: damaged; help: the last intact checkpoint there is '" + pathOf(2) + "': name that one");
  EXPECT_EQ(withLastIntact(damage, pathOf(1), pathOf(1)).message(),
            "w: damaged; help: the last intact checkpoint there is '" + pathOf(3) + "': name that one");
  flip(pathOf(2) + "/" + modelName, -1);
  EXPECT_EQ(withLastIntact(damage, pathOf(3), run).message(),
            "w: damaged; help: the last intact checkpoint there is '" + pathOf(1) + "': `mv " + pathOf(3) + " " + run +
                "/damaged-step-000003`, `mv " + pathOf(2) + " " + run +
                "/damaged-step-000002`; the same command uses it");
  std::filesystem::remove(pathOf(1) + "/" + modelName);
  EXPECT_EQ(withLastIntact(damage, pathOf(3), run).message(),
            "w: damaged; help: no other checkpoint in '" + run + "' is intact");
  const Status other(StatusCode::invalid, "another model");
  EXPECT_EQ(withLastIntact(other, pathOf(3), run).message(), "another model");
}

TEST_F(LastWholeTest, ACheckpointWithoutItsRecordIsDamaged) {
  std::filesystem::remove(pathOf(3) + "/" + recordName);
  std::string missing = pathOf(3) + ": checkpoint.json is missing; help: the last intact checkpoint there is '" +
                        pathOf(2) + "': ",
              renaming = "`mv " + pathOf(3) + " " + run + "/damaged-step-000003`; the same command uses it";
  for (const std::string &asked : {run, pathOf(3), pathOf(3) + "/"}) {
    std::string path = *findCheckpoint(asked);
    std::string end = asked == run ? renaming : "name that one";
    EXPECT_THAT(withLastIntact(load(path, 1), path, asked).message(), testing::EndsWith(end)) << asked;
    auto report = exportCheckpoint({.checkpoint = asked, .output = folder / "out"});
    EXPECT_THAT(report.status().message(), testing::AllOf(HasSubstr(": checkpoint.json is missing; help: the last "
                                                                    "intact checkpoint there is '"),
                                                          testing::EndsWith(end)))
        << asked;
  }
  EXPECT_EQ(withLastIntact(load(pathOf(3), 1), pathOf(3), run).message(), missing + renaming);
}

TEST_F(LastWholeTest, AnExportSaysSo) {
  flip(pathOf(3) + "/" + modelName, -1);
  auto report = exportCheckpoint({.checkpoint = run, .output = folder / "out"});
  EXPECT_THAT(report.status().message(),
              testing::AllOf(HasSubstr(pathOf(3) + "/model.safetensors: tensor 'w': damaged: bytes 2097152 to 2400007 "
                                                   "have the checksum "),
                             HasSubstr("; help: the last intact checkpoint there is '" + pathOf(2) + "': `mv ")));
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

} // namespace
