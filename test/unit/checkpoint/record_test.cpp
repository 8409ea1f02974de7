//===- record_test.cpp - the file checkpoint.json -------------------------===//

#include "runtime/checkpoint/record.h"
#include "test/unit/checkpoint/small_training.h"

using namespace meshplan;

namespace {

using testing::ElementsAre;

CheckpointRecord exampleOf(const SmallPlan &plan, const TrainingState &state = {}) {
  Artifact artifact = scheduleOf(plan);
  return recordOf(*artifact.schedule().programs()->Get(0), state);
}

TEST(CheckpointRecord, SaysWhatTheProgramHolds) {
  CheckpointRecord record = exampleOf({.dtype = DType::bf16, .master = DType::f32, .hasFrozen = true});
  EXPECT_EQ(record.optimizer, "sgd");
  ASSERT_EQ(record.parameters.size(), 2u);
  EXPECT_THAT(record.parameters[0].names, ElementsAre("w"));
  EXPECT_EQ(record.parameters[0].dtype, DType::bf16);
  EXPECT_THAT(record.parameters[0].shape, ElementsAre(7));
  EXPECT_TRUE(record.parameters[0].isTrained);
  EXPECT_FALSE(record.parameters[1].isTrained);
  EXPECT_TRUE(record.parameters[1].isSaved) << "there are no weights that have it";
  ASSERT_EQ(record.states.size(), 2u);
  EXPECT_EQ(record.states[0].kind(), "master");
  EXPECT_TRUE(record.states[0].isMaster);
  EXPECT_EQ(record.states[1].kind(), "momentum_buffer");
  EXPECT_FALSE(record.states[1].isMaster);
  EXPECT_FALSE(exampleOf({.hasFrozen = true}, {.weights = "w.safetensors"}).savesAll());
  EXPECT_EQ(exampleOf({.optimizer = "plain"}).optimizer, "sgd");
}

/// Checkpoints of earlier versions name a tied parameter by another of its names.
TEST(CheckpointRecord, FindsWhatIsKeptOfATiedParameterUnderEachName) {
  CheckpointRecord record;
  record.parameters = {{.names = {"head.weight", "embed.weight"}}, {.names = {"norm.weight"}}};
  record.states = {{.name = "head.weight.exp_avg", .parameter = "head.weight"},
                   {.name = "norm.weight.exp_avg", .parameter = "norm.weight"}};
  EXPECT_EQ(record.findState("head.weight.exp_avg"), &record.states[0]);
  EXPECT_EQ(record.findState("embed.weight.exp_avg"), &record.states[0]);
  EXPECT_EQ(record.findState("norm.weight.exp_avg"), &record.states[1]);
  EXPECT_EQ(record.findState("embed.weight.exp_avg_sq"), nullptr);
  EXPECT_EQ(record.findState("embed.weight"), nullptr);
  EXPECT_EQ(record.findState("other.exp_avg"), nullptr);
}

/// Buffers larger than tables and masks count as weights.
TEST(CheckpointRecord, SavesBuffersThatAreNoWeights) {
  TrainingState state{.weights = "w.safetensors"};
  EXPECT_TRUE(exampleOf({.hasFrozen = true, .isBuffer = true}, state).savesAll());
  int64_t most = int64_t(64) << 20; // bytes
  EXPECT_TRUE(exampleOf({.extent = most / 4, .hasFrozen = true, .isBuffer = true}, state).savesAll());
  EXPECT_FALSE(exampleOf({.extent = most / 4 + 1, .hasFrozen = true, .isBuffer = true}, state).savesAll());
}

CheckpointRecord withChecksums(CheckpointRecord record = exampleOf({})) {
  record.checksums = CheckpointChecksums{.files = {{modelName, {7, {{"w", {1, 0xabcdef01}}}}}, {optimizerName, {}}}};
  return record;
}

TEST(CheckpointRecord, IsReadAsItWasWritten) {
  TrainingState state{.counters = {.steps = 10, .skipped = 2, .stepsInRow = 3, .lossScale = 0.1},
                      .samplesConsumed = int64_t(1) << 60,
                      .samples = 5,
                      .dataFingerprint = "ab",
                      .seed = (int64_t(1) << 53) - 1,
                      .settings = {{"optimizer.lr", 1e-4}, {"seed", 3}},
                      .weights = "/a \"b\".safetensors"};
  CheckpointRecord record =
      withChecksums(exampleOf({.dtype = DType::bf16, .master = DType::f32, .hasFrozen = true}, state));
  record.weightsFingerprint = "cd";
  auto read = readRecord("r", textOf(record));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->state, state);
  EXPECT_EQ(textOf(*read), textOf(record));
  EXPECT_FALSE(read->parameters[1].isSaved);
}

TEST(CheckpointRecord, HasTheNamesOfWeightFiles) {
  CheckpointRecord record = exampleOf({});
  record.parameters[0].pieces = WeightPieces{{"a.", "b."}, {"", ".w"}, {3, 4}, 0, 0};
  auto read = readRecord("r", textOf(record));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->parameters[0].pieces, record.parameters[0].pieces);
  record.parameters[0].pieces->sizes = {3, 3};
  EXPECT_EQ(readRecord("r", textOf(record)).status().message(), "r: 'pieces' of 'w': its parts are less than dim 0");
  record.parameters[0].pieces->sizes = {-3, 10};
  EXPECT_EQ(readRecord("r", textOf(record)).status().message(), "r: 'sizes' is not a shape");
  std::string text = textOf(record);
  EXPECT_EQ(readRecord("r", text.replace(text.find("\"a.\""), 4, "7")).status().message(),
            "r: 'before' has an element that is not a string");
}

std::string errorOf(const std::string &from, const std::string &to) {
  std::string text = textOf(exampleOf({}));
  size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << text;
  return readRecord("r", text.replace(place, from.size(), to)).status().message();
}

TEST(CheckpointRecord, HasChecksumsAndItsOwn) {
  std::string text = textOf(withChecksums());
  auto read = readRecord("r", text);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->checksums, withChecksums().checksums);
  EXPECT_EQ(sealedText(text), text);
  EXPECT_TRUE(text.ends_with(",\n \"checksum\": \"" + text.substr(text.size() - 12, 8) + "\"\n}\n")) << text;
  // Format 1 has no checksums, and its fingerprint of weights cannot be compared.
  CheckpointRecord record = exampleOf({});
  record.weightsFingerprint = "cd";
  auto old = readRecord("r", textOf(record));
  ASSERT_TRUE(old.ok()) << old.status().message();
  EXPECT_EQ(old->checksums, std::nullopt);
  EXPECT_EQ(old->weightsFingerprint, "");
}

TEST(CheckpointRecord, EveryChangedBitIsSeen) {
  std::string text = textOf(withChecksums());
  for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string damaged = text;
    damaged[bit / 8] ^= 1 << bit % 8;
    EXPECT_FALSE(readRecord("r", damaged).ok()) << bit;
  }
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(readRecord("r", text.substr(0, size)).ok()) << size;
}

TEST(CheckpointRecord, SaysThatItWasChanged) {
  std::string text = textOf(withChecksums()), seal = text.substr(text.size() - 12, 8);
  auto errorIn = [&](const std::string &from, const std::string &to, bool isSealed) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    std::string own = sealedText(changed).substr(sealedText(changed).size() - 12, 8);
    std::string message = readRecord("r", isSealed ? sealedText(changed) : changed).status().message();
    size_t place = message.find(own);
    return place == std::string::npos ? message : message.replace(place, 8, "OWN");
  };
  EXPECT_EQ(errorIn("\"seed\": 0", "\"seed\": 1", false),
            "r: damaged, or edited by hand: its text has the checksum OWN, as written it had " + seal);
  EXPECT_EQ(errorIn("\"seed\": 0", "\"seed\": 1", true), "");
  EXPECT_EQ(errorIn(",\n \"checksum\": \"" + seal + "\"", "", false), "r: damaged: it has no checksum");
  EXPECT_EQ(errorIn("\"block_bytes\"", "\"block\"", true), "r: 'block_bytes' is missing or is not a whole number");
  EXPECT_EQ(errorIn("00000001abcdef01", "00000001abcdefg1", true), "r: 'w' has no checksums");
  EXPECT_EQ(errorIn("00000007", "0000007", true), "r: 'header' is not a checksum");
}

TEST(CheckpointRecord, SaysWhatIsWrong) {
  EXPECT_EQ(readRecord("r", "{").status().message(), "r: it is not a JSON object");
  EXPECT_EQ(readRecord("r", "").status().message(), "r: it is not a JSON object");
  EXPECT_EQ(errorOf("\"format\": 1", "\"format\": 4"), "r: a checkpoint of format 4, this version reads 1 to 3");
  EXPECT_EQ(errorOf("\"format\": 1,", ""), "r: 'format' is missing or is not a whole number");
  EXPECT_EQ(errorOf("\"steps\": 0", "\"steps\": 0.5"), "r: 'steps' is missing or is not a whole number");
  EXPECT_EQ(errorOf("\"loss_scale\": 0.0", "\"loss_scale\": \"x\""), "r: 'loss_scale' is missing or is not a number");
  EXPECT_EQ(errorOf("\"data\": {", "\"date\": {"), "r: 'data' is missing or is not an object");
  EXPECT_EQ(errorOf("\"parameters\"", "\"parameter\""), "r: 'parameters' is missing or is not a list");
  EXPECT_EQ(errorOf("\"saved\": true", "\"saved\": 1"), "r: 'saved' is missing or is not a boolean");
  EXPECT_EQ(errorOf("\"dtype\": \"f64\"", "\"dtype\": \"f65\""), "r: 'dtype' is not an element type");
  EXPECT_EQ(errorOf("\"path\": \"\"", "\"path\": 3"), "r: 'path' is missing or is not a string");
  EXPECT_EQ(errorOf("    7", "    -7"), "r: 'shape' is not a shape");
  EXPECT_EQ(errorOf("    \"w\"", "    \"\""), "r: 'names' has no name");
}

} // namespace
