//===- inputs_test.cpp - inputs that a program takes from a data set ------===//

#include "runtime/dataset/inputs.h"

#include "test/unit/dataset/helpers.h"

namespace meshplan {
namespace {

std::string errorOfInputs(const std::vector<DataInput> &inputs) { return errorOf(batchShapeOf(inputs)); }

TEST(Inputs, TheFirstDimIsTheBatch) {
  std::vector<DataInput> inputs = {{"x", DType::f32, {4, 3, 2}}, {"y", DType::i64, {4}}};
  Expected<BatchShape> batch = batchShapeOf(inputs);
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->samples, 4);
  ASSERT_EQ(batch->fields.size(), 2u);
  EXPECT_EQ(batch->fields[0].name, "x");
  EXPECT_EQ(batch->fields[0].dtype, DType::f32);
  EXPECT_THAT(batch->fields[0].shape, testing::ElementsAre(3, 2));
  EXPECT_EQ(batch->fields[1].dtype, DType::i64);
  EXPECT_THAT(batch->fields[1].shape, testing::IsEmpty());
}

TEST(Inputs, Refused) {
  EXPECT_EQ(
      errorOfInputs({{"y", DType::i64, {4}}, {"x", DType::f32, {4, 4}, 1}}),
      "the plan calls dim 1 of input 'x' the batch, and data has samples in the first one; help: export the model "
      "with the batch as the first dim of its inputs");
  EXPECT_EQ(errorOfInputs({}), "the program has no inputs: there is no data to read");
  EXPECT_EQ(
      errorOfInputs({{"x", DType::f32, {4}}, {"scale", DType::f32, {}}}),
      "input 'scale' has no dims, and data needs a first one for the samples; help: make it a constant or a buffer "
      "of the model");
  EXPECT_EQ(
      errorOfInputs({{"input_ids", DType::i64, {4, 96}}, {"mask", DType::f32, {1, 96}}}),
      "inputs 'input_ids' and 'mask' have 4 and 1 samples in their first dim (shapes [4, 96] and [1, 96]), the same "
      "number required; help: export the model with one batch dim for all inputs");
  EXPECT_EQ(errorOfInputs({{"x", DType::f32, {0, 3}}}), "input 'x' has shape [0, 3], at least one sample required");
}

TEST(Inputs, FieldText) {
  std::vector<int64_t> shape = {2, 3};
  EXPECT_EQ(fieldText("x", "f32", shape), "x f32 [2, 3]");
}

} // namespace
} // namespace meshplan
