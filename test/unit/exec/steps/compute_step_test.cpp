#include "test/unit/exec/run_schedule.h"

#include <gmock/gmock.h>

using namespace meshplan;

// Megatron's pair: colwise, then rowwise, then one all-reduce; hidden features sharded unevenly over three ranks.
TEST(ComputeStepTest, ColwiseAndRowwiseLinear) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  int x = builder.input("x", {{4, {"dp"}}, {6}});
  int up = builder.parameter({"up.weight"}, {{10, {"tp"}}, {6}});
  int down = builder.parameter({"down.weight"}, {{6}, {10, {"tp"}}});
  int hidden = builder.value({{4, {"dp"}}, {10, {"tp"}}}), active = builder.value({{4, {"dp"}}, {10, {"tp"}}});
  int part = builder.value({{4, {"dp"}}, {6}}, DType::f64, {"tp"}), y = builder.value({{4, {"dp"}}, {6}});
  builder.compute("aten.linear.default", {tensorArg("input", x), tensorArg("weight", up)}, {hidden});
  builder.compute("aten.silu.default", {tensorArg("self", hidden)}, {active});
  builder.free({hidden});
  builder.compute("aten.linear.default", {tensorArg("input", active), tensorArg("weight", down)}, {part});
  builder.free({active, up});
  builder.collective(Kind::all_reduce, {"tp"}, part, y);
  builder.free({part});
  builder.output("y", y);

  Tensors tensors = {{"x", at::randn({4, 6}, at::kDouble)},
                     {"up.weight", at::randn({10, 6}, at::kDouble)},
                     {"down.weight", at::randn({6, 10}, at::kDouble)}};
  at::Tensor expected = at::linear(at::silu(at::linear(tensors["x"], tensors["up.weight"])), tensors["down.weight"]);
  EXPECT_TRUE(at::allclose(mustRun(builder, tensors)["y"], expected, 1e-13, 1e-13));
}

TEST(ComputeStepTest, EmbeddingWithDividedVocabulary) {
  ScheduleBuilder builder({{"tp", 3}});
  int indices = builder.input("ids", {{2}, {5}}, DType::i64);
  int weight = builder.parameter({"embed.weight"}, {{11, {"tp"}}, {4}});
  int part = builder.value({{2}, {5}, {4}}, DType::f64, {"tp"}), y = builder.value({{2}, {5}, {4}});
  builder.compute(
      "meshplan.embedding",
      {tensorArg("weight", weight), tensorArg("indices", indices), integerArg("offset", offsetOf(weight, 0))}, {part});
  builder.collective(Kind::all_reduce, {"tp"}, part, y);
  builder.output("y", y);
  Tensors tensors = {{"ids", at::randint(11, {2, 5}, at::kLong)}, {"embed.weight", at::randn({11, 4}, at::kDouble)}};
  EXPECT_TRUE(at::equal(mustRun(builder, tensors)["y"], at::embedding(tensors["embed.weight"], tensors["ids"])));
}

TEST(ComputeStepTest, EmbeddingWithDividedColumns) {
  ScheduleBuilder builder({{"tp", 3}});
  int indices = builder.input("ids", {{2}, {5}}, DType::i64);
  int weight = builder.parameter({"embed.weight"}, {{11}, {7, {"tp"}}});
  int part = builder.value({{2}, {5}, {7, {"tp"}}}), y = builder.value({{2}, {5}, {7}});
  builder.compute("aten.embedding.default", {tensorArg("weight", weight), tensorArg("indices", indices)}, {part});
  builder.collective(Kind::all_gather, {"tp"}, part, y, 2);
  builder.output("y", y);
  Tensors tensors = {{"ids", at::randint(11, {2, 5}, at::kLong)}, {"embed.weight", at::randn({11, 7}, at::kDouble)}};
  EXPECT_TRUE(at::equal(mustRun(builder, tensors)["y"], at::embedding(tensors["embed.weight"], tensors["ids"])));
}

// Sizes in a view depend on the rank: 5 heads of 2 features are 3 and 2 on two ranks.
TEST(ComputeStepTest, SizesFollowTheExtentFunction) {
  ScheduleBuilder builder({{"tp", 2}});
  int x = builder.input("x", {{3}, {10, {"tp"}, 2}});
  int heads = builder.value({{3}, {5, {"tp"}}, {2}});
  builder.compute("aten.view.default",
                  {tensorArg("self", x), integersArg("size", {literal(3), extentOf(heads, 1), literal(-1)})}, {heads});
  builder.output("y", heads);
  at::Tensor x0 = at::randn({3, 10}, at::kDouble);
  EXPECT_TRUE(at::equal(mustRun(builder, {{"x", x0}})["y"], x0.view({3, 5, 2})));
}

TEST(ComputeStepTest, ConstantsAreSliced) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  at::Tensor table = at::randn({5, 4}, at::kFloat).to(at::kBFloat16);
  int constant = addConstant(builder, "table", {{5, {"tp"}}, {4, {"dp"}}}, table);
  int doubled = builder.value({{5, {"tp"}}, {4, {"dp"}}}, DType::bf16);
  builder.compute("aten.mul.Tensor", {tensorArg("self", constant), realArg("other", 2.0)}, {doubled});
  builder.output("y", doubled);
  EXPECT_TRUE(at::equal(mustRun(builder, {})["y"], table * 2));
}

TEST(ComputeStepTest, ListsAndSeveralResults) {
  ScheduleBuilder builder({{"tp", 2}});
  int x = builder.input("x", {{4, {"tp"}}, {6}});
  std::vector<int> thirds;
  for (int i = 0; i < 3; ++i)
    thirds.push_back(builder.value({{4, {"tp"}}, {2}}));
  int y = builder.value({{4, {"tp"}}, {4}});
  builder.compute("aten.split.Tensor",
                  {tensorArg("self", x), integerArg("split_size", literal(2)), integerArg("dim", literal(1))},
                  {thirds[0], -1, thirds[2]});
  builder.compute("aten.cat.default", {tensorsArg("tensors", {thirds[2], thirds[0]}), integerArg("dim", literal(-1))},
                  {y});
  builder.output("y", y);
  at::Tensor x0 = at::randn({4, 6}, at::kDouble);
  EXPECT_TRUE(at::equal(mustRun(builder, {{"x", x0}})["y"], at::cat({x0.slice(1, 4), x0.slice(1, 0, 2)}, 1)));
}

// Cross entropy with the logits' columns sharded over three ranks and never gathered.
TEST(ComputeStepTest, CrossEntropyWithDividedVocabulary) {
  ScheduleBuilder builder({{"tp", 3}});
  int logits = builder.input("logits", {{6}, {10, {"tp"}}}), target = builder.input("labels", {{6}}, DType::i64);
  auto reduced = [&](int part) {
    int whole = builder.value({{6}});
    builder.collective(Kind::all_reduce, {"tp"}, part, whole);
    return whole;
  };
  int maxPart = builder.value({{6}}, DType::f64, {"tp"}, artifact::Reduction::max);
  builder.compute("meshplan.row_max", {tensorArg("input", logits)}, {maxPart});
  int max = reduced(maxPart);
  int sumPart = builder.value({{6}}, DType::f64, {"tp"}), pickPart = builder.value({{6}}, DType::f64, {"tp"});
  builder.compute("meshplan.row_sum_exp", {tensorArg("input", logits), tensorArg("max", max)}, {sumPart});
  builder.compute("meshplan.row_pick",
                  {tensorArg("input", logits), tensorArg("target", target), integerArg("offset", offsetOf(logits, 1))},
                  {pickPart});
  int sum = reduced(sumPart), picked = reduced(pickPart), loss = builder.value({{6}});
  builder.compute("meshplan.token_loss",
                  {tensorArg("max", max), tensorArg("sum_exp", sum), tensorArg("picked", picked),
                   tensorArg("target", target), integerArg("ignore_index", literal(-100))},
                  {loss});
  builder.output("loss", loss);
  Tensors tensors = {{"logits", at::randn({6, 10}, at::kDouble)}, {"labels", at::randint(10, {6}, at::kLong)}};
  tensors["labels"][2] = -100;
  at::Tensor expected = at::cross_entropy_loss(tensors["logits"], tensors["labels"], {}, at::Reduction::None);
  EXPECT_TRUE(at::allclose(mustRun(builder, tensors)["loss"], expected, 1e-13, 1e-13));
}

namespace {

std::string failureOf(const ScheduleBuilder &builder, const Tensors &tensors) {
  auto result = runSchedule(builder, tensors);
  EXPECT_EQ(result.status().code(), StatusCode::internal);
  return result.status().message();
}

} // namespace

TEST(ComputeStepTest, AResultThatIsNone) {
  // The gradient of the weight is not requested, so it is not computed.
  ScheduleBuilder builder({{"tp", 1}});
  int grad = builder.input("grad", {{2}, {3}}), x = builder.input("x", {{2}, {3}}), y = builder.value({{2}, {3}}),
      weight = builder.value({{3}});
  artifact::ArgT eps = realArg("eps", 1e-6), mask;
  mask.name = "output_mask";
  mask.kind = artifact::ArgKind::bool_list;
  mask.bools = {true, false, false};
  int mean = builder.input("mean", {{2}, {1}}), rstd = builder.input("rstd", {{2}, {1}});
  builder.compute("aten.native_layer_norm_backward.default",
                  {tensorArg("grad_out", grad), tensorArg("input", x), integersArg("normalized_shape", {literal(3)}),
                   tensorArg("mean", mean), tensorArg("rstd", rstd), artifact::ArgT(), artifact::ArgT(), mask},
                  {y, weight, -1});
  auto &args = builder.program().instructions[0]->action.AsCompute()->args;
  args[5]->name = "weight";
  args[6]->name = "bias";
  at::Tensor matrix = at::zeros({2, 3}, at::kDouble), column = at::ones({2, 1}, at::kDouble);
  Tensors tensors = {{"grad", matrix}, {"x", matrix}, {"mean", column}, {"rstd", column}};
  EXPECT_THAT(failureOf(builder, tensors), testing::EndsWith(": its result is none, the schedule expects [3] f64"));
  builder.program().instructions[0]->action.AsCompute()->outputs[1] = -1;
  builder.output("y", y);
  EXPECT_EQ(mustRun(builder, tensors).size(), 1u) << "where nothing is expected there may be none";
}

TEST(ComputeStepTest, AFailureNamesTheTensorsOfLists) {
  ScheduleBuilder builder({{"tp", 1}});
  int a = builder.input("a", {{2}, {3}}), b = builder.input("b", {{4}}), y = builder.value({{2}, {3}});
  builder.compute("aten.cat.default", {tensorsArg("tensors", {a, b}), integerArg("dim", literal(0))}, {y});
  Tensors tensors = {{"a", at::zeros({2, 3}, at::kDouble)}, {"b", at::zeros({4}, at::kDouble)}};
  auto result = runSchedule(builder, tensors);
  EXPECT_THAT(result.status().message(),
              testing::StartsWith("rank 0: aten.cat.default(tensors [2, 3] f64, tensors [4] f64): "));
}
