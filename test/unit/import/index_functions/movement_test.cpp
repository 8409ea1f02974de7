//===- movement_test.cpp - sources of moved elements ----------------------===//

#include "compiler/transforms/import/index_functions/index_functions.h"
#include "test/unit/import/program_text.h"
#include "test/unit/indexing/evaluate.h"
#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::indexing;
using namespace mlir;

namespace {

class MovementTest : public ProgramText {
protected:
  /// The row-major indices of the operand's elements in the result; nothing if the operator is not recognized.
  std::optional<std::vector<int64_t>> elementsOf(mlir::Value value) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
    ExprBuilder builder;
    std::optional<MovedRead> moved = readThroughMovement(builder, value, coordinatesOf(builder, shape));
    if (!moved)
      return std::nullopt;
    EXPECT_EQ(moved->operand, argument(0));
    ArrayRef<int64_t> from = cast<RankedTensorType>(moved->operand.getType()).getShape();
    EXPECT_EQ(moved->indices.size(), from.size());
    std::vector<int64_t> elements;
    forEachElement(shape, [&](const Coordinates &coordinates) {
      int64_t element = 0;
      for (auto [index, extent] : llvm::zip_equal(moved->indices, from)) {
        int64_t place = evaluate(index, coordinates);
        EXPECT_TRUE(place >= 0 && place < extent) << place << " of " << extent;
        element = element * extent + place;
      }
      elements.push_back(element);
    });
    return elements;
  }

  /// The same for `target` on x, a tensor of `type`; x is also the argument `other`.
  std::optional<std::vector<int64_t>> elementsOf(const std::string &target, const std::string &args,
                                                 const std::string &type, const std::string &result) {
    read("x: " + type, {"y = " + target + "(x: " + type + ") {self = #base.operand<0>" + (args.empty() ? "" : ", ") +
                        args + "} : " + result});
    return elementsOf(last());
  }
};

TEST_F(MovementTest, ElementsComeFromWhereTheOperatorTakesThem) {
  struct {
    const char *target, *args, *type, *result;
    std::vector<int64_t> elements;
  } cases[] = {
      {"aten.clone.default", "", "2x3xf32", "2x3xf32", {0, 1, 2, 3, 4, 5}},
      {"aten.view.default", "size = [3, 2]", "2x3xf32", "3x2xf32", {0, 1, 2, 3, 4, 5}},
      {"aten.unsqueeze.default", "dim = 0", "3xf32", "1x3xf32", {0, 1, 2}},
      {"aten.expand.default", "size = [2, 3]", "3xf32", "2x3xf32", {0, 1, 2, 0, 1, 2}},
      {"aten.expand.default", "size = [2, -1]", "2x1xf32", "2x3xf32", {0, 0, 0, 1, 1, 1}},
      {"aten.repeat.default", "repeats = [2]", "3xf32", "6xf32", {0, 1, 2, 0, 1, 2}},
      {"aten.repeat_interleave.self_int", "repeats = 2, dim = 0", "3xf32", "6xf32", {0, 0, 1, 1, 2, 2}},
      {"aten.repeat_interleave.self_int", "repeats = 2, dim = -1", "2x2xf32", "2x4xf32", {0, 0, 1, 1, 2, 2, 3, 3}},
      // From the start, from the end, and beyond one of them.
      {"aten.slice.Tensor", "dim = 0, start = 1", "4xf32", "3xf32", {1, 2, 3}},
      {"aten.slice.Tensor", "dim = 0, start = -2", "4xf32", "2xf32", {2, 3}},
      {"aten.slice.Tensor", "dim = 0, start = -9, end = 2", "4xf32", "2xf32", {0, 1}},
      {"aten.slice.Tensor", "dim = -1, start = 1, step = 2", "2x4xf32", "2x2xf32", {1, 3, 5, 7}},
      {"aten.slice.Tensor", "", "4xf32", "4xf32", {0, 1, 2, 3}},
      {"aten.select.int", "dim = 0, index = 1", "2x3xf32", "3xf32", {3, 4, 5}},
      {"aten.select.int", "dim = -1, index = -1", "2x3xf32", "2xf32", {2, 5}},
      {"aten.select.int", "dim = 0, index = 2", "3xf32", "f32", {2}},
      {"aten.permute.default", "dims = [1, 0]", "2x3xf32", "3x2xf32", {0, 3, 1, 4, 2, 5}},
      {"aten.permute.default", "dims = [-1, 0, 1]", "1x2x3xf32", "3x1x2xf32", {0, 3, 1, 4, 2, 5}},
      {"aten.transpose.int", "dim0 = 0, dim1 = -1", "2x1x3xf32", "3x1x2xf32", {0, 3, 1, 4, 2, 5}},
      {"aten.t.default", "", "2x3xf32", "3x2xf32", {0, 3, 1, 4, 2, 5}},
      // A vector has nothing to transpose.
      {"aten.t.default", "", "3xf32", "3xf32", {0, 1, 2}},
  };
  for (const auto &each : cases)
    EXPECT_THAT(elementsOf(each.target, each.args, each.type, each.result), testing::Optional(each.elements))
        << each.target << " {" << each.args << "} of " << each.type;
}

TEST_F(MovementTest, WhatAnArchiveMakesUpIsNotUnderstood) {
  struct {
    const char *target, *args, *type, *result;
  } cases[] = {
      // The value changes with the type, so it is not an element of x.
      {"aten.to.dtype", "dtype = i64", "3xf32", "3xi64"},
      {"aten._to_copy.default", "dtype = i32", "3xi64", "3xi32"},
      {"aten.clone.default", "", "3xf32", "4xf32"},
      {"aten.repeat_interleave.self_int", "repeats = 0, dim = 0", "3xf32", "3xf32"},
      {"aten.repeat_interleave.self_int", "repeats = 2, dim = 1", "3xf32", "6xf32"},
      {"aten.repeat_interleave.self_int", "repeats = 2, dim = 0", "3xf32", "3x2xf32"},
      // Without a dim the elements of all dims are repeated.
      {"aten.repeat_interleave.self_int", "repeats = 2", "2x2xf32", "4x2xf32"},
      {"aten.slice.Tensor", "dim = 1", "3xf32", "3xf32"},
      {"aten.slice.Tensor", "dim = 0", "3x2xf32", "3xf32"},
      {"aten.select.int", "dim = 0, index = 3", "3xf32", "f32"},
      {"aten.select.int", "dim = 0, index = -4", "3xf32", "f32"},
      {"aten.select.int", "dim = 0, index = 1", "3xf32", "3xf32"},
      {"aten.permute.default", "dims = [0, 0]", "2x2xf32", "2x2xf32"},
      {"aten.permute.default", "dims = [0, 2]", "2x2xf32", "2x2xf32"},
      {"aten.permute.default", "dims = [0]", "2x2xf32", "2x2xf32"},
      {"aten.permute.default", "dims = [1, 0]", "2x2xf32", "2xf32"},
      {"aten.permute.default", "", "2x2xf32", "2x2xf32"},
      {"aten.transpose.int", "dim0 = 0, dim1 = 2", "2x2xf32", "2x2xf32"},
      {"aten.t.default", "", "2x2x2xf32", "2x2x2xf32"},
      {"aten.t.default", "", "3xf32", "2xf32"},
      {"aten.neg.default", "", "3xf32", "3xf32"},
  };
  for (const auto &each : cases)
    EXPECT_EQ(elementsOf(each.target, each.args, each.type, each.result), std::nullopt)
        << each.target << " {" << each.args << "} of " << each.type << " as " << each.result;
}

TEST_F(MovementTest, OnlySelfIsRead) {
  read("x: 6xf32; o: 2x3xi64", {"y = aten.view_as.default(x: 6xf32, o: 2x3xi64) {self = #base.operand<0>, other = "
                                "#base.operand<1>} : 2x3xf32"});
  EXPECT_THAT(elementsOf(last()), testing::Optional(std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
  read("o: 2x3xi64; x: 6xf32", {"y = aten.view_as.default(o: 2x3xi64, x: 6xf32) {self = #base.operand<1>, other = "
                                "#base.operand<0>} : 2x3xf32"});
  EXPECT_EQ(elementsOf(last()), std::nullopt) << "self is not a first operand";
  EXPECT_EQ(elementsOf(argument(0)), std::nullopt) << "nothing makes an argument";
}

} // namespace
