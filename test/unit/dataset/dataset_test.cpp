//===- dataset_test.cpp - the samples of a run, and their order -----------===//

#include "runtime/dataset/dataset.h"

#include "test/unit/dataset/megatron_bytes.h"

#include <map>
#include <set>

namespace meshplan {
namespace {

using testing::ElementsAre;

class DatasetTest : public testing::Test {
protected:
  using Words = std::vector<std::string>;

  /// Rows of two tokens, starting with `begin`, `begin` + 2, ...
  std::string write(const std::string &name, int64_t samples, int64_t begin = 0) {
    writeSafetensors(folder / name, {tokenRows("input_ids", samples, 2, begin)});
    return folder / name;
  }

  std::vector<DataInput> inputs(int64_t batch) { return {{"input_ids", DType::i64, {batch, 2}}}; }

  std::shared_ptr<const Dataset> open(const Words &words, const DatasetOptions &options = {}, int64_t batch = 2) {
    auto dataset = Dataset::open(words, inputs(batch), options);
    EXPECT_TRUE(dataset.ok()) << dataset.status().message();
    return dataset ? *dataset : nullptr;
  }

  std::string error(const Words &words, const std::vector<DataInput> &wanted, const DatasetOptions &options = {}) {
    return errorOf(Dataset::open(words, wanted, options));
  }

  /// The first tokens of these samples.
  std::vector<int64_t> tokens(const Dataset &dataset, int64_t position, int64_t count) {
    Blend::Walk walk = dataset.startWalk();
    std::vector<int64_t> found;
    for (const SampleLocation &location : dataset.locate(walk, position, count)) {
      int64_t token = -1;
      Status status = dataset.read(location, 0, {{{0, 1}}}, std::as_writable_bytes(std::span(&token, 1)));
      EXPECT_TRUE(status.ok()) << status.message();
      found.push_back(token);
    }
    return found;
  }

  TemporaryDirectory folder;
};

TEST_F(DatasetTest, AnEpochHasEverySampleOnce) {
  auto dataset = open({write("d.safetensors", 11)});
  EXPECT_EQ(dataset->samples(), 11);
  std::set<std::vector<int64_t>> orders;
  for (int64_t epoch = 0; epoch < 5; ++epoch) {
    std::vector<int64_t> order = tokens(*dataset, 11 * epoch, 11);
    orders.insert(order);
    std::ranges::sort(order);
    EXPECT_THAT(order, ElementsAre(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20));
  }
  EXPECT_EQ(orders.size(), 5u) << "each epoch has an order of its own";
}

TEST_F(DatasetTest, TheOrderIsThatOfSeedAndPosition) {
  std::string path = write("d.safetensors", 50);
  auto dataset = open({path}, {.seed = 1}), other = open({path}, {.seed = 2}), large = open({path}, {.seed = 1}, 50);
  std::vector<int64_t> order = tokens(*dataset, 0, 170);
  EXPECT_EQ(tokens(*large, 0, 170), order) << "whatever the batch";
  EXPECT_NE(tokens(*other, 0, 170), order);
  for (int64_t position : {1, 49, 50, 123})
    EXPECT_EQ(tokens(*dataset, position, 47),
              std::vector<int64_t>(order.begin() + position, order.begin() + position + 47))
        << "from the position alone";
}

TEST_F(DatasetTest, WithoutShuffling) {
  auto dataset = open({write("d.safetensors", 4)}, {.shuffles = false});
  EXPECT_THAT(tokens(*dataset, 2, 7), ElementsAre(4, 6, 0, 2, 4, 6, 0));
}

TEST_F(DatasetTest, SeveralFilesAreOne) {
  std::string a = write("a.safetensors", 2, 100), b = write("b.safetensors", 3, 200);
  auto dataset = open({b, a}, {.shuffles = false});
  EXPECT_THAT(tokens(*dataset, 0, 5), ElementsAre(200, 202, 204, 100, 102));
  EXPECT_EQ(tokens(*open({folder.path()}, {.shuffles = false}), 0, 3), (std::vector<int64_t>{100, 102, 200}));
  auto shuffled = open({a, b}, {.seed = 4});
  std::vector<int64_t> order = tokens(*shuffled, 0, 5);
  std::ranges::sort(order);
  EXPECT_THAT(order, ElementsAre(100, 102, 200, 202, 204));
}

TEST_F(DatasetTest, BlendsHaveTheirSharesAndTheirOwnEpochs) {
  std::string a = write("a.safetensors", 5, 0), b = write("b.safetensors", 3, 100);
  auto dataset = open({a + "=0.75", b + "=0.25"}, {.seed = 3});
  EXPECT_EQ(dataset->samples(), 8);
  std::vector<int64_t> order = tokens(*dataset, 0, 40), ofA, ofB;
  for (int64_t token : order)
    (token < 100 ? ofA : ofB).push_back(token);
  EXPECT_EQ(ofA.size(), 30u);
  for (size_t epoch = 0; epoch < 6; ++epoch)
    EXPECT_EQ(std::set<int64_t>(ofA.begin() + 5 * epoch, ofA.begin() + 5 * epoch + 5).size(), 5u);
  for (size_t epoch = 0; epoch < 3; ++epoch)
    EXPECT_EQ(std::set<int64_t>(ofB.begin() + 3 * epoch, ofB.begin() + 3 * epoch + 3).size(), 3u);
  EXPECT_EQ(tokens(*dataset, 17, 10), std::vector<int64_t>(order.begin() + 17, order.begin() + 27));
}

TEST_F(DatasetTest, DataSetsOfABlendAreShuffledApart) {
  std::string a = write("a.safetensors", 30, 0), b = write("b.safetensors", 30, 0);
  std::vector<int64_t> order = tokens(*open({a + "=1", b + "=1"}), 0, 60), ofA, ofB;
  for (size_t i = 0; i < order.size(); ++i)
    (i % 2 ? ofB : ofA).push_back(order[i]);
  EXPECT_NE(ofA, ofB);
}

TEST_F(DatasetTest, KindsMayBeMixed) {
  writeText(folder / "t.bin", bytesOf(counting<uint16_t>(4, 1000)));
  writeText(folder / "m.idx", MegatronBytes::of({2}, 4, 4).text());
  writeText(folder / "m.bin", bytesOf(counting<int32_t>(2, 2000)));
  auto dataset = open({folder / "t.bin", folder / "m", write("d.safetensors", 1, 7)}, {.shuffles = false});
  EXPECT_THAT(tokens(*dataset, 0, 4), ElementsAre(1000, 1002, 2000, 7));
  EXPECT_EQ(dataset->fingerprint(), "t.bin: 8 bytes, 4 tokens of u16, 2 samples of 2: input_ids same\n"
                                    "m.bin: 8 bytes, 2 documents, 2 tokens of i32, 1 samples of 2: input_ids same\n"
                                    "d.safetensors: " +
                                        std::to_string(std::filesystem::file_size(folder / "d.safetensors")) +
                                        " bytes, 1 samples of input_ids i64 [2]");
}

TEST_F(DatasetTest, FingerprintsHaveWeightsAndNoFolders) {
  writeText(folder / "t.bin", bytesOf(counting<uint16_t>(4)));
  std::filesystem::create_directory(folder / "sub");
  std::filesystem::copy_file(folder / "t.bin", folder / "sub/t.bin");
  EXPECT_EQ(open({folder / "t.bin=0.5", folder / "sub/t.bin=1"})->fingerprint(),
            "500000 millionths of t.bin: 8 bytes, 4 tokens of u16, 2 samples of 2: input_ids same\n"
            "1000000 millionths of t.bin: 8 bytes, 4 tokens of u16, 2 samples of 2: input_ids same");
}

TEST_F(DatasetTest, BadData) {
  std::string path = write("d.safetensors", 3), empty = write("e.safetensors", 0);
  EXPECT_EQ(error({path}, inputs(4)),
            path + ": 3 samples, a global batch has 4; help: give more data, or compile for a smaller batch");
  EXPECT_EQ(error({path, empty}, inputs(2)),
            empty + ": no samples (e.safetensors: " + std::to_string(std::filesystem::file_size(empty)) +
                " bytes, 0 samples of input_ids i64 [2])");
  writeText(folder / "t.bin", bytesOf<uint16_t>({1}));
  EXPECT_EQ(error({folder / "t.bin"}, inputs(2)),
            folder / "t.bin" + ": no samples (t.bin: 2 bytes, 1 tokens of u16, 0 samples of 2: input_ids same)");
  EXPECT_EQ(error({path + "=0"}, inputs(2)),
            "--data " + path +
                "=0: weight '0', a decimal number above 0 and below 1000000 with at most six decimal "
                "places required; help: PATH=0.3, or PATH alone");
  const std::string none = "cannot open '" + folder / "none" + "': No such file or directory, and ";
  EXPECT_EQ(error({folder / "none"}, inputs(2)),
            none + "there are no token files '" + folder / "none.bin" + "' and '" + folder / "none.idx" + "'");
  EXPECT_EQ(error({folder / "none"}, inputs(2), {.tokens = {{"input_ids", TokenOffset::same}}}),
            none + "there are no token files '" + folder / "none.bin" + "' and '" + folder / "none.idx" + "'")
      << "not that the option does nothing";
  writeText(folder / "none.bin", "12");
  EXPECT_EQ(error({folder / "none"}, inputs(2)),
            none + "the token file '" + folder / "none.bin" + "' has no index '" + folder / "none.idx" + "'");
  EXPECT_EQ(error({path}, {}), "the program has no inputs: there is no data to read");
  EXPECT_EQ(error({path}, {{"labels", DType::i64, {2, 2}}}), path + ": no tensor 'labels'; the file has 'input_ids'");
}

TEST_F(DatasetTest, OptionsThatDoNothing) {
  std::string path = write("d.safetensors", 3);
  writeText(folder / "t.bin", bytesOf(counting<uint16_t>(8)));
  EXPECT_EQ(error({path}, inputs(2), {.tokens = {{"input_ids", TokenOffset::same}}}),
            "--tokens input_ids=same: there are no token files in the data; help: leave the option out");
  EXPECT_EQ(error({folder / "t.bin"}, inputs(2), {.tokens = {{"labels", TokenOffset::next}}}),
            "--tokens labels=next: the program has no input 'labels'; it has 'input_ids'");
}

TEST_F(DatasetTest, ARunGoesOnWithItsOwnData) {
  std::string path = write("d.safetensors", 8);
  auto dataset = open({path}, {.seed = 5});
  DataState saved = dataset->stateAt(13);
  EXPECT_EQ(saved, (DataState{13, 8, 5, true, dataset->fingerprint()}));
  EXPECT_TRUE(dataset->checkResume(saved).ok());
  std::filesystem::create_directory(folder / "moved");
  std::filesystem::rename(path, folder / "moved/d.safetensors");
  EXPECT_TRUE(open({folder / "moved/d.safetensors"}, {.seed = 5}, 4)->checkResume(saved).ok());
}

TEST_F(DatasetTest, ARunDoesNotGoOnWithOtherData) {
  const std::string help = "; help: give the data of the saved run, or start a new run from its weights";
  DataState saved = open({write("d.safetensors", 8)}, {.seed = 5})->stateAt(13);
  auto check = [&](const std::shared_ptr<const Dataset> &dataset, const DataState &state) {
    Status status = dataset->checkResume(state);
    EXPECT_FALSE(status.ok());
    return status.message();
  };
  EXPECT_EQ(check(open({write("e.safetensors", 6)}, {.seed = 5}), saved),
            "the saved position, 13 samples, is in data of which an epoch has 8 samples, and this data has 6" + help);
  std::string size = std::to_string(std::filesystem::file_size(folder / "d.safetensors"));
  EXPECT_EQ(check(open({write("f.safetensors", 8)}, {.seed = 5}), saved),
            "the data differs from that of the saved run: it has 'f.safetensors: " + size +
                " bytes, 8 samples of input_ids i64 [2]', the saved run has 'd.safetensors: " + size +
                " bytes, 8 samples of input_ids i64 [2]'" + help);
  auto dataset = open({folder / "d.safetensors"}, {.seed = 6});
  EXPECT_EQ(check(dataset, saved), "the seed of the data is 6, and that of the saved run 5; help: give the same seed");
  EXPECT_EQ(check(open({folder / "d.safetensors"}, {.seed = 5, .shuffles = false}), saved),
            "the saved run read samples in shuffled order, this run reads them in the given order");
  saved.position = -1;
  EXPECT_EQ(check(dataset, saved), "the saved position in the data is -1, 0 or more required");
}

TEST_F(DatasetTest, OtherLabelsAreAnotherFingerprint) {
  writeText(folder / "t.bin", bytesOf(counting<uint16_t>(8)));
  auto openTokens = [&](TokenOffset offset) {
    std::vector<DataInput> both = {{"input_ids", DType::i64, {2, 2}}, {"labels", DType::i64, {2, 2}}};
    auto dataset = Dataset::open(Words{folder / "t.bin"}, both, {.tokens = {{"labels", offset}}});
    EXPECT_TRUE(dataset.ok()) << dataset.status().message();
    return *dataset;
  };
  DataState saved = openTokens(TokenOffset::same)->stateAt(0);
  EXPECT_TRUE(openTokens(TokenOffset::same)->checkResume(saved).ok());
  saved.samples = 3;
  EXPECT_EQ(
      openTokens(TokenOffset::next)->checkResume(saved).message(),
      "the data differs from that of the saved run: it has 't.bin: 16 bytes, 8 tokens of u16, 3 samples of 2: "
      "input_ids "
      "same, labels next', the saved run has 't.bin: 16 bytes, 8 tokens of u16, 4 samples of 2: input_ids same, labels "
      "same'; help: give the data of the saved run, or start a new run from its weights");
}

TEST_F(DatasetTest, MoreFilesAreAnotherFingerprint) {
  std::string a = write("a.safetensors", 4), b = write("b.safetensors", 4);
  DataState saved = open({a, b})->stateAt(0);
  Status status = open({folder.path()})->checkResume(saved);
  EXPECT_TRUE(status.ok()) << "a folder is its files: " << status.message();
  std::string c = write("c.safetensors", 8);
  status = open({c})->checkResume(saved);
  EXPECT_THAT(status.message(), testing::HasSubstr("it has 'c.safetensors: "));
}

} // namespace
} // namespace meshplan
