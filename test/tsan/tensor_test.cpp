//===- tensor_test.cpp - the stand-in against tensor.h --------------------===//

#include "test/lib/tensor/plain_tensor.h"

#include "runtime/tensor/memory.h"

#include <gmock/gmock.h>

using namespace meshplan;
using testing::ElementsAre;

namespace {

/// [rows, columns] of 0, 1, 2, ...
Tensor counted(int64_t rows, int64_t columns) {
  Tensor tensor = *allocateTensor(std::vector{rows, columns}, DType::f64);
  double number = 0;
  forEachIndex(tensor.shape(), [&](auto index) { writeElement(tensor, index, number++); });
  return tensor;
}

std::vector<double> elementsOf(const Tensor &tensor) {
  std::vector<double> elements;
  forEachIndex(tensor.shape(), [&](auto index) { elements.push_back(readElement(tensor, index)); });
  return elements;
}

} // namespace

TEST(PlainTensor, HandlesShareElements) {
  Tensor tensor = counted(1, 2), copy = tensor, moved = std::move(tensor);
  EXPECT_FALSE(tensor.defined());
  writeElement(copy, std::vector<int64_t>{0, 1}, 7);
  EXPECT_THAT(elementsOf(moved), ElementsAre(0, 7));
  copy = Tensor();
  EXPECT_THAT(elementsOf(moved), ElementsAre(0, 7));
}

TEST(PlainTensor, NarrowIsAView) {
  Tensor tensor = counted(3, 4);
  Tensor part = *narrow(*narrow(tensor, 0, 1, 2), 1, 2, 2);
  EXPECT_THAT(elementsOf(part), ElementsAre(6, 7, 10, 11));
  EXPECT_FALSE(part.isContiguous());
  EXPECT_THAT(elementsOf(*contiguous(part)), ElementsAre(6, 7, 10, 11));
  writeElement(part, std::vector<int64_t>{0, 0}, -1);
  EXPECT_EQ(readElement(tensor, std::vector<int64_t>{1, 2}), -1);
  EXPECT_EQ(narrow(tensor, 0, 2, 2).status().code(), StatusCode::invalid);
}

TEST(PlainTensor, ReshapeAndConcatenate) {
  Tensor tensor = counted(2, 2);
  EXPECT_THAT(reshape(tensor, std::vector<int64_t>{4})->shape(), ElementsAre(4));
  EXPECT_FALSE(reshape(tensor, std::vector<int64_t>{3}).ok());
  EXPECT_THAT(elementsOf(*concatenate(std::vector{tensor, tensor}, 1)), ElementsAre(0, 1, 0, 1, 2, 3, 2, 3));
  EXPECT_EQ(counted(0, 3).data(), nullptr);
}

TEST(PlainTensor, LivesInThePoolOfItsThread) {
  auto pool = std::make_shared<MemoryPool>();
  {
    PoolScope scope(pool);
    Tensor tensor = counted(2, 4);
    EXPECT_EQ(pool->current(), 64);
  }
  EXPECT_EQ(pool->current(), 0);
  EXPECT_EQ(pool->peak(), 64);
}
