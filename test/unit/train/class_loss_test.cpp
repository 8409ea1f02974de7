//===- class_loss_test.cpp - the structure of a program's loss ------------===//

#include "runtime/train/class_loss.h"

#include "test/unit/dataset/helpers.h"
#include "test/unit/exec/schedule_builder.h"

#include <gtest/gtest.h>

using namespace meshplan;

namespace {

/// Programs with six targets in two samples, sharded over two ranks.
class ClassLossTest : public testing::Test {
protected:
  int losses(std::vector<artifact::ArgT> more = {}) {
    int shifted = builder.value({{2, {"dp"}}, {3}}, DType::i64), flat = builder.value({{6, {"dp"}}}, DType::i64),
        result = rows();
    builder.compute("aten.pad.default", {tensorArg("self", labels)}, {shifted});
    builder.compute("aten.reshape.default", {tensorArg("self", shifted)}, {flat});
    std::vector<artifact::ArgT> args{tensorArg("picked", logits), tensorArg("target", flat),
                                     integerArg("ignore_index", literal(-100))};
    std::ranges::move(more, std::back_inserter(args));
    builder.compute("meshplan.token_loss", std::move(args), {result});
    return result;
  }

  /// The sum of a value over the ranks.
  int sumOf(int value) {
    int addend = builder.value({}, DType::f64, {"dp"}), sum = builder.value({});
    builder.compute("aten.sum.default", {tensorArg("self", value)}, {addend});
    builder.collective(Kind::all_reduce, {"dp"}, addend, sum);
    return sum;
  }

  int count() {
    int addend = builder.value({}, DType::f64, {"dp"}), sum = builder.value({});
    builder.compute("meshplan.count_tokens", {tensorArg("target", labels)}, {addend});
    builder.collective(Kind::all_reduce, {"dp"}, addend, sum);
    return sum;
  }

  int binary(const std::string &target, int self, int other) {
    int result = builder.value({});
    builder.compute(target, {tensorArg("self", self), tensorArg("other", other)}, {result});
    return result;
  }

  int unary(const std::string &target, int self, std::vector<artifact::ArgT> more = {}) {
    int result = builder.value({});
    more.insert(more.begin(), tensorArg("self", self));
    builder.compute(target, std::move(more), {result});
    return result;
  }

  int mean() { return binary("aten.div.Tensor", sumOf(losses()), count()); }

  int rows() { return builder.value({{6, {"dp"}}}); }

  bool isMean(int loss) {
    builder.output("loss", loss);
    return isMeanCrossEntropy(*open(), "loss");
  }

  const artifact::Program *open() {
    builder.write(folder / "a.sched");
    auto loaded = loadSchedule(folder / "a.sched");
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    schedule = std::make_unique<Artifact>(*std::move(loaded));
    return schedule->schedule().programs()->Get(0);
  }

  TemporaryDirectory folder;
  ScheduleBuilder builder{{{"dp", 2}}};
  int labels = builder.input("labels", {{2, {"dp"}}, {3}}, DType::i64);
  int logits = builder.input("logits", {{6, {"dp"}}});
  int scale = builder.parameter({"scale"}, {});
  std::unique_ptr<Artifact> schedule;
};

TEST_F(ClassLossTest, AMeanOverTheTargetsThatCount) { EXPECT_TRUE(isMean(mean())); }

TEST_F(ClassLossTest, AMeanOfMeans) { EXPECT_TRUE(isMean(unary("aten.mean.default", mean()))); }

TEST_F(ClassLossTest, InAnotherTypeItIsTheSame) { EXPECT_TRUE(isMean(unary("aten.to.dtype", mean()))); }

TEST_F(ClassLossTest, AnOperatorThatReducesItself) {
  auto call = [&](int64_t reduction) {
    return unary("aten.cross_entropy_loss.default", logits,
                 {tensorArg("target", labels), integerArg("reduction", literal(reduction))});
  };
  EXPECT_TRUE(isMean(call(1)));
}

TEST_F(ClassLossTest, ASumIsNoMean) { EXPECT_FALSE(isMean(sumOf(losses()))); }

TEST_F(ClassLossTest, ASumOfMeansIsNoMean) { EXPECT_FALSE(isMean(sumOf(mean()))); }

TEST_F(ClassLossTest, MoreThanACrossEntropy) { EXPECT_FALSE(isMean(binary("aten.add.Tensor", mean(), scale))); }

TEST_F(ClassLossTest, AFactor) { EXPECT_FALSE(isMean(binary("aten.mul.Tensor", mean(), scale))); }

TEST_F(ClassLossTest, ADivisorThatCountsNothing) {
  EXPECT_FALSE(isMean(binary("aten.div.Tensor", sumOf(losses()), scale)));
}

TEST_F(ClassLossTest, WeightedClasses) {
  int loss = losses({tensorArg("weight", logits)});
  EXPECT_FALSE(isMean(binary("aten.div.Tensor", sumOf(loss), count())));
}

TEST_F(ClassLossTest, SmoothedLabels) {
  int loss = losses({realArg("label_smoothing", 0.1)});
  EXPECT_FALSE(isMean(binary("aten.div.Tensor", sumOf(loss), count())));
}

TEST_F(ClassLossTest, OtherLosses) {
  EXPECT_FALSE(isMean(unary("aten.mean.default", unary("aten.mse_loss.default", logits))));
}

/// The message about data with these `numbers`, three per sample; a step reads `samples`.
class IgnoredTargetsTest : public ClassLossTest {
protected:
  std::string said(const std::vector<int64_t> &numbers, int64_t samples, int64_t position = 0) {
    builder.output("loss", mean());
    const artifact::Program *program = open();
    auto count = static_cast<int64_t>(numbers.size() / 3);
    writeSafetensors(folder / "data.safetensors",
                     {{"labels", "I64", "[" + std::to_string(count) + ", 3]", bytesOf(numbers)}});
    std::vector<DataInput> inputs{{"labels", DType::i64, {samples, 3}}};
    std::vector<std::string> words{folder / "data.safetensors"};
    auto data = Dataset::open(words, inputs, {.shuffles = false});
    EXPECT_TRUE(data.ok()) << data.status().message();
    return data ? textOfIgnored(*program, **data, position) : "";
  }
};

constexpr int64_t none = -100;

TEST_F(IgnoredTargetsTest, OfTheWholeBatch) {
  EXPECT_EQ(said({none, none, none, none, none, none, 1, none, none, none, none, none}, 2),
            "every target of the batch is ignored: all of 'labels' is -100");
}

TEST_F(IgnoredTargetsTest, OneThatCountsIsEnough) {
  EXPECT_EQ(said({none, none, none, none, none, none, 1, none, none, none, none, none}, 2, 2), "");
}

TEST_F(IgnoredTargetsTest, OfOneCallOfTheModel) {
  EXPECT_EQ(said({1, none, none, none, none, none, none, none, none, none, none, none}, 4),
            "every target of microbatch 1 is ignored: all of 'labels' there is -100");
}

} // namespace
