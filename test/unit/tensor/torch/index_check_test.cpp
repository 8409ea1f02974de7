//===- index_check_test.cpp - indices out of range ------------------------===//

#include "runtime/tensor/torch/index_check.h"

#include "test/unit/tensor/call_helper.h"

#include <gmock/gmock.h>

using namespace meshplan;
using testing::ElementsAre;

namespace {

at::Tensor indexTensor(std::initializer_list<int64_t> list) {
  return at::tensor(std::vector<int64_t>(list), at::kLong);
}

/// The failure of a call on tensors named by its arguments.
struct Failure {
  Failure(std::string_view target, const NamedTensors &named, std::vector<Argument> literals = {}) {
    auto [tensors, arguments] = positions(named, std::move(literals));
    auto call = prepareCall(target, arguments, {-1});
    EXPECT_TRUE(call.ok()) << call.status().message();
    std::vector<Tensor> values;
    for (const at::Tensor &tensor : tensors)
      values.push_back(wrap(tensor));
    message = (*call)->run(values).message();
    if ((*call)->indexFault())
      fault = *(*call)->indexFault();
  }

  std::string message;
  std::optional<IndexFault> fault;
};

std::string messageOf(std::string_view target, const NamedTensors &named, std::vector<Argument> literals = {}) {
  return Failure(target, named, std::move(literals)).message;
}

const at::Tensor table = at::zeros({6, 3}), scores = at::zeros({2, 3});

} // namespace

TEST(IndexCheckTest, RowsOfATable) {
  at::Tensor indices = indexTensor({0, 1, 5, 6, -1, 9}).view({2, 3});
  Failure failure("aten.embedding.default", {{"weight", table}, {"indices", indices}});
  EXPECT_EQ(failure.message, "index 6 at [1, 0] is out of range [0, 6)");
  ASSERT_TRUE(failure.fault);
  EXPECT_EQ(failure.fault->value, 1);
  EXPECT_THAT(failure.fault->position, ElementsAre(1, 0));
  EXPECT_EQ(failure.fault->index, 6);
  EXPECT_EQ(messageOf("aten.embedding.default", {{"weight", table}, {"indices", indexTensor({-1})}}),
            "index -1 at [0] is out of range [0, 6)");
  EXPECT_EQ(messageOf("aten.embedding.default", {{"weight", table}, {"indices", at::scalar_tensor(7, at::kLong)}}),
            "index 7 at [] is out of range [0, 6)");
}

TEST(IndexCheckTest, TheTableOfAllRanks) {
  NamedTensors named = {{"weight", table}, {"indices", indexTensor({11, 12})}};
  EXPECT_EQ(messageOf("meshplan.embedding", named, {{"offset", int64_t(6)}, {"rows", int64_t(12)}}),
            "index 12 at [1] is out of range [0, 12)");
  EXPECT_EQ(messageOf("meshplan.embedding", named, {{"offset", int64_t(6)}, {"rows", int64_t(13)}}), "");
}

TEST(IndexCheckTest, ClassesOfLosses) {
  for (const char *target : {"aten.nll_loss_nd.default", "aten.cross_entropy_loss.default"}) {
    EXPECT_EQ(messageOf(target, {{"self", scores}, {"target", indexTensor({2, 3})}}),
              "target 3 at [1] is out of range [0, 3)");
    EXPECT_EQ(messageOf(target, {{"self", scores}, {"target", indexTensor({-100, 2})}}), "") << "ignored";
    EXPECT_EQ(messageOf(target, {{"self", scores}, {"target", indexTensor({-100, 7})}}, {{"ignore_index", int64_t(7)}}),
              "target -100 at [0] is out of range [0, 3)");
  }
  EXPECT_EQ(messageOf("aten.nll_loss_nd.default",
                      {{"self", at::zeros({2, 3, 4})}, {"target", at::full({2, 4}, 5, at::kLong)}}),
            "target 5 at [0, 0] is out of range [0, 3)");
  EXPECT_EQ(messageOf("aten.cross_entropy_loss.default", {{"self", scores}, {"target", scores}}), "")
      << "shares of classes";
  at::Tensor row = at::ones({2});
  EXPECT_EQ(messageOf("meshplan.token_loss", {{"picked", row}, {"target", indexTensor({0, 4})}},
                      {{"ignore_index", int64_t(-100)}, {"classes", int64_t(4)}}),
            "target 4 at [1] is out of range [0, 4)");
  EXPECT_EQ(messageOf("meshplan.class_weight", {{"weight", row}, {"target", indexTensor({0, 2})}},
                      {{"ignore_index", int64_t(-100)}}),
            "target 2 at [1] is out of range [0, 2)");
}

TEST(IndexCheckTest, OneDim) {
  at::Tensor index = indexTensor({0, 5}).view({1, 2});
  EXPECT_EQ(messageOf("aten.gather.default", {{"self", table}, {"index", index}}, {{"dim", int64_t(-1)}}),
            "index 5 at [0, 1] is out of range [0, 3)");
  EXPECT_EQ(messageOf("aten.gather.default", {{"self", table}, {"index", index}}, {{"dim", int64_t(0)}}), "");
  EXPECT_EQ(
      messageOf("aten.index_select.default", {{"self", table}, {"index", indexTensor({6})}}, {{"dim", int64_t(0)}}),
      "index 6 at [0] is out of range [0, 6)");
  EXPECT_EQ(messageOf("aten.scatter_add.default", {{"self", table}, {"index", index}, {"src", at::ones({1, 2})}},
                      {{"dim", int64_t(1)}}),
            "index 5 at [0, 1] is out of range [0, 3)");
}

TEST(IndexCheckTest, IndicesFromTheEnd) {
  std::vector<Tensor> values = {wrap(table), wrap(indexTensor({-6, 5})), wrap(indexTensor({0, -4})), Tensor()};
  std::vector<Argument> arguments = {value("self", 0), {"indices", ValueListArgument{{1, 2}}}};
  auto call = prepareCall("aten.index.Tensor", arguments, {3});
  ASSERT_TRUE(call.ok()) << call.status().message();
  EXPECT_EQ((*call)->run(values).message(), "index -4 at [1] is out of range [-3, 3)");
  values[2] = wrap(indexTensor({0, -3}));
  EXPECT_TRUE((*call)->run(values).ok());
  EXPECT_EQ((*call)->indexFault(), nullptr) << "that of the last call";
  arguments[1].content = ValueListArgument{{-1, 1}};
  call = prepareCall("aten.index.Tensor", arguments, {3});
  EXPECT_EQ((*call)->run(values).message(), "index -6 at [0] is out of range [-3, 3)");
  EXPECT_EQ(messageOf("aten.take.default", {{"self", table}, {"index", indexTensor({-18, 18})}}),
            "index 18 at [1] is out of range [-18, 18)");
}

TEST(IndexCheckTest, OtherFailuresAreSaidAsTheyAre) {
  Failure failure("aten.embedding.default", {{"weight", table.view(18)}, {"indices", indexTensor({1})}});
  EXPECT_THAT(failure.message, testing::HasSubstr("2-D"));
  EXPECT_FALSE(failure.fault);
  std::vector<Argument> whole = {value("weight", 0), value("indices", 1), {"offset", int64_t(0)}};
  EXPECT_FALSE(IndexCheck::of("meshplan.embedding", whole)) << "no rank knows the rows of all ranks";
  EXPECT_FALSE(IndexCheck::of("aten.linear.default", whole));
}
