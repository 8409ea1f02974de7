#include "runtime/tensor/tensor.h"

#include "runtime/tensor/torch/access.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

using namespace meshplan;
using testing::ElementsAre;
using testing::HasSubstr;

static Tensor countedTensor(std::initializer_list<int64_t> shape) {
  at::Tensor tensor = at::arange(c10::multiply_integers(shape), at::kFloat);
  return wrap(tensor.reshape(at::IntArrayRef(shape)));
}

TEST(TensorTest, EmptyHandle) {
  Tensor tensor;
  EXPECT_FALSE(tensor.defined());
  EXPECT_EQ(describe(tensor), "none");
}

TEST(TensorTest, CopiesShareElements) {
  Tensor tensor = countedTensor({2, 3});
  Tensor copy = tensor, moved = std::move(tensor);
  EXPECT_FALSE(tensor.defined());
  EXPECT_EQ(copy.data(), moved.data());
  tensor = copy;
  copy = Tensor();
  EXPECT_EQ(tensor.data(), moved.data());
}

TEST(TensorTest, AllocateEveryDType) {
  for (int i = 0; i <= static_cast<int>(DType::boolean); ++i) {
    DType dtype = static_cast<DType>(i);
    auto tensor = allocateTensor(std::vector<int64_t>{2, 5}, dtype);
    ASSERT_TRUE(tensor.ok());
    EXPECT_EQ(tensor->dtype(), dtype);
    EXPECT_THAT(tensor->shape(), ElementsAre(2, 5));
    EXPECT_EQ(tensor->byteSize(), 10 * unwrap(*tensor).element_size()) << dtypeName(dtype);
    EXPECT_TRUE(tensor->isContiguous());
  }
}

TEST(TensorTest, AllocateScalarAndNothing) {
  EXPECT_EQ(allocateTensor({}, DType::f32)->elementCount(), 1);
  auto nothing = allocateTensor(std::vector<int64_t>{0, 4}, DType::f32);
  EXPECT_EQ(nothing->data(), nullptr);
  EXPECT_EQ(nothing->byteSize(), 0);
}

TEST(TensorTest, AllocateFailureIsAStatus) {
  auto negative = allocateTensor(std::vector<int64_t>{-1}, DType::f32);
  EXPECT_EQ(negative.status().code(), StatusCode::invalid);
  EXPECT_THAT(negative.status().message(), HasSubstr("negative dimension -1"));
  EXPECT_FALSE(allocateTensor(std::vector<int64_t>{int64_t(1) << 60}, DType::f32).ok());
}

TEST(TensorTest, NarrowIsAView) {
  Tensor tensor = countedTensor({4, 6});
  auto part = narrow(tensor, 1, 2, 3);
  ASSERT_TRUE(part.ok());
  EXPECT_FALSE(part->isContiguous());
  EXPECT_EQ(part->data(), tensor.data() + 2 * sizeof(float));
  auto packed = contiguous(*part);
  EXPECT_TRUE(at::equal(unwrap(*packed), unwrap(tensor).slice(1, 2, 5)));
  EXPECT_EQ(contiguous(tensor)->data(), tensor.data());
}

TEST(TensorTest, NarrowOutOfRange) {
  EXPECT_EQ(narrow(countedTensor({4}), 0, 3, 2).status().code(), StatusCode::invalid);
  EXPECT_EQ(narrow(countedTensor({4}), 1, 0, 2).status().code(), StatusCode::invalid);
}

TEST(TensorTest, ReshapeIsAView) {
  Tensor tensor = countedTensor({2, 6});
  auto view = reshape(tensor, std::vector<int64_t>{3, 4});
  ASSERT_TRUE(view.ok());
  EXPECT_THAT(view->shape(), ElementsAre(3, 4));
  EXPECT_EQ(view->data(), tensor.data());
  EXPECT_THAT(reshape(tensor, std::vector<int64_t>{5}).status().message(), HasSubstr("shape '[5]' is invalid"));
}

TEST(TensorTest, ConcatenateAndCopy) {
  Tensor tensor = countedTensor({2, 5});
  std::vector<Tensor> pieces = {*narrow(tensor, 1, 3, 2), *narrow(tensor, 1, 0, 3)};
  auto swapped = concatenate(pieces, 1);
  ASSERT_TRUE(swapped.ok());
  EXPECT_TRUE(at::equal(unwrap(*swapped), unwrap(tensor).roll(2, 1)));
  Tensor target = *narrow(*swapped, 1, 0, 2);
  EXPECT_TRUE(copyElements(*narrow(tensor, 1, 0, 2), target).ok());
  EXPECT_TRUE(at::equal(unwrap(target), unwrap(tensor).slice(1, 0, 2)));
}

TEST(TensorTest, CopyNeedsEqualTypes) {
  Status status = copyElements(countedTensor({2, 3}), countedTensor({3, 2}));
  EXPECT_EQ(status.message(), "cannot copy [2, 3] f32 into [3, 2] f32");
  EXPECT_FALSE(copyElements(countedTensor({2}), *allocateTensor(std::vector<int64_t>{2}, DType::f64)).ok());
}

TEST(TensorTest, JoinedIsAViewOfWhatLiesTogether) {
  Tensor all = countedTensor({10});
  Tensor head = *narrow(all, 0, 1, 3), nothing = *narrow(all, 0, 4, 0), rest = *narrow(all, 0, 4, 6);
  Tensor table = *reshape(rest, std::vector<int64_t>{2, 3});
  auto both = joined(std::vector<Tensor>{head, nothing, table});
  ASSERT_TRUE(both.ok() && both->defined());
  EXPECT_THAT(both->shape(), ElementsAre(9));
  EXPECT_EQ(both->data(), head.data());
  for (const std::vector<Tensor> &apart : {std::vector<Tensor>{table, head},
                                           {head, head},
                                           {head, countedTensor({6})},
                                           {head, *narrow(all, 0, 5, 2)},
                                           {head, wrap(unwrap(table).t())}}) {
    auto view = joined(apart);
    ASSERT_TRUE(view.ok());
    EXPECT_FALSE(view->defined());
  }
}

TEST(TensorTest, MemoryOfOthersIsKeptAsLongAsItsTensors) {
  auto memory = std::make_shared<std::array<float, 6>>(std::array<float, 6>{1, 2, 3, 4, 5, 6});
  std::weak_ptr<void> watched = memory;
  Tensor tensor = *tensorOver(std::move(memory), std::vector<int64_t>{2, 3}, DType::f32);
  Tensor row = *narrow(tensor, 0, 1, 1);
  tensor = Tensor();
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(reinterpret_cast<const float *>(row.data())[0], 4);
  row = Tensor();
  EXPECT_TRUE(watched.expired());
}
