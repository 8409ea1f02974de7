//===- strides_test.cpp - memory order of tensors -------------------------===//
//
// test/harness/tables/strides.py compares many more with PyTorch.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/storage/strides.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace meshplan;

namespace {

/// The address of element `index`, in row-major order, of a tensor.
int64_t addressOf(StridedShape tensor, int64_t index) {
  int64_t address = 0;
  for (size_t dim = tensor.shape.size(); dim-- > 0;) {
    address += index % tensor.shape[dim] * tensor.strides[dim];
    index /= tensor.shape[dim];
  }
  return address;
}

std::vector<int64_t> addressesOf(StridedShape tensor) {
  int64_t count = 1;
  for (int64_t extent : tensor.shape)
    count *= extent;
  std::vector<int64_t> addresses;
  for (int64_t index = 0; index < count; ++index)
    addresses.push_back(addressOf(tensor, index));
  return addresses;
}

/// Shapes of at most `rank` dims of 1 to 4 that have `count` elements.
std::vector<Strides> shapesOf(int64_t count, size_t rank) {
  if (rank == 0)
    return count == 1 ? std::vector<Strides>{{}} : std::vector<Strides>();
  std::vector<Strides> shapes = shapesOf(count, rank - 1);
  for (int64_t extent = 1; extent <= 4; ++extent)
    if (count % extent == 0)
      for (const Strides &rest : shapesOf(count / extent, rank - 1))
        if (rest.size() == rank - 1) {
          shapes.push_back(rest);
          shapes.back().push_back(extent);
        }
  return shapes;
}

/// Tensors of a shape with random strides: those of its dims in some order, some of which are 0 or doubled.
class RandomStrides {
public:
  Strides draw(llvm::ArrayRef<int64_t> shape) {
    std::vector<size_t> order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    if (pick(2) == 0)
      std::shuffle(order.begin(), order.end(), random);
    Strides strides(shape.size());
    int64_t next = 1;
    for (size_t dim : llvm::reverse(order)) {
      next *= pick(8) == 0 ? 2 : 1;
      strides[dim] = pick(8) == 0 ? 0 : next;
      next *= shape[dim];
      // The stride of a dim of size 1 is arbitrary.
      if (shape[dim] == 1)
        strides[dim] = pick(20);
    }
    return strides;
  }

private:
  int pick(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random); }

  std::mt19937 random{5};
};

/// The strides with which a shape has these addresses, element by element; nullopt if there are none. Strides of dims
/// of size 1 are 1.
std::optional<Strides> stridesThatReach(llvm::ArrayRef<int64_t> addresses, llvm::ArrayRef<int64_t> shape) {
  Strides strides(shape.size(), 1);
  int64_t step = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (shape[dim] > 1)
      strides[dim] = addresses[step] - addresses[0];
    step *= shape[dim];
  }
  return addressesOf({shape, strides}) == addresses.vec() ? std::optional(strides) : std::nullopt;
}

TEST(Strides, NewTensorsAreRowMajor) {
  EXPECT_EQ(contiguousStrides({2, 3, 4}), Strides({12, 4, 1}));
  EXPECT_EQ(contiguousStrides({}), Strides());
  EXPECT_EQ(contiguousStrides({2, 0, 4}), Strides({4, 4, 1}));
}

TEST(Strides, DimsOfOneElementDoNotMatter) {
  EXPECT_TRUE((StridedShape{{2, 1, 4}, {4, 77, 1}}.isContiguous()));
  EXPECT_FALSE((StridedShape{{2, 3}, {1, 2}}.isContiguous()));
  EXPECT_TRUE((StridedShape{{0, 3}, {1, 2}}.isContiguous()));
}

TEST(Strides, DenseHasNeitherGapsNorRepeats) {
  EXPECT_TRUE((StridedShape{{2, 3}, {1, 2}}.isDense()));
  EXPECT_FALSE((StridedShape{{2, 3}, {6, 1}}.isDense()));
  EXPECT_FALSE((StridedShape{{2, 3}, {0, 1}}.isDense()));
}

TEST(Strides, ViewsSplitAndMergeDimsThatLieTogether) {
  EXPECT_EQ(viewStrides({{4, 6}, {6, 1}}, {2, 2, 3, 2}), Strides({12, 6, 2, 1}));
  // [2, 4, 6, 8] in the memory order [2, 6, 4, 8]: the last dim can be split, heads and rows cannot be merged.
  EXPECT_EQ(viewStrides({{2, 4, 6, 8}, {192, 8, 32, 1}}, {2, 4, 6, 2, 4}), Strides({192, 8, 32, 4, 1}));
  EXPECT_EQ(viewStrides({{2, 4, 6, 8}, {192, 8, 32, 1}}, {8, 6, 8}), std::nullopt);
  EXPECT_EQ(viewStrides({{2, 6, 4, 8}, {192, 32, 8, 1}}, {2, 6, 32}), Strides({192, 32, 1}));
}

TEST(Strides, RepeatedElementsMergeWithRepeatedOnes) {
  EXPECT_EQ(viewStrides({{2, 3, 4}, {0, 0, 1}}, {6, 4}), Strides({0, 1}));
  EXPECT_EQ(viewStrides({{2, 3, 4}, {0, 4, 1}}, {6, 4}), std::nullopt);
}

TEST(Strides, ScalarsAndEmptyTensors) {
  EXPECT_EQ(viewStrides({{}, {}}, {1, 1}), Strides({1, 1}));
  EXPECT_EQ(viewStrides({{0, 4}, {1, 9}}, {2, 0}), Strides({1, 1}));
}

TEST(Strides, ElementwiseResultsKeepTheOrderOfTheirOperands) {
  EXPECT_EQ(elementwiseStrides({2, 3}, StridedShape{{2, 3}, {1, 2}}), Strides({1, 2}));
  // A row-major operand beside a transposed one: the first decides.
  const Strides shape = {2, 3}, columns = {3}, rowMajor = {3, 1}, turned = {1, 2}, one = {1};
  EXPECT_EQ(elementwiseStrides(shape, {{shape, rowMajor}, {shape, turned}}), rowMajor);
  EXPECT_EQ(elementwiseStrides(shape, {{shape, turned}, {shape, rowMajor}}), turned);
  // A broadcast operand does not decide.
  EXPECT_EQ(elementwiseStrides(shape, {{columns, one}, {shape, turned}}), turned);
}

TEST(Strides, CopiesOfRepeatedElementsAreNew) {
  EXPECT_EQ(copyStrides({{2, 3}, {1, 2}}), Strides({1, 2}));
  EXPECT_EQ(copyStrides({{2, 3}, {0, 1}}), Strides({3, 1}));
}

TEST(Strides, FeaturesOfImagesMayBeInnermost) {
  EXPECT_TRUE((StridedShape{{2, 3, 4, 5}, {60, 1, 15, 3}}.isChannelsLast()));
  EXPECT_FALSE((StridedShape{{2, 3, 4, 5}, {60, 20, 5, 1}}.isChannelsLast()));
  EXPECT_EQ(channelsLastStrides({2, 3, 4, 5}), Strides({60, 1, 15, 3}));
}

TEST(Strides, AViewHasTheAddressesOfItsTensor) {
  RandomStrides random;
  int views = 0, copies = 0;
  for (int64_t count : {1, 4, 8, 12, 16, 24})
    for (const Strides &shape : shapesOf(count, 4))
      for (const Strides &view : shapesOf(count, 4)) {
        Strides strides = random.draw(shape);
        std::optional<Strides> made = viewStrides({shape, strides}, view);
        std::vector<int64_t> addresses = addressesOf({shape, strides});
        ASSERT_EQ(made.has_value(), stridesThatReach(addresses, view).has_value())
            << testing::PrintToString(shape) << " with strides " << testing::PrintToString(strides) << " as "
            << testing::PrintToString(view);
        ++(made ? views : copies);
        if (made) {
          ASSERT_EQ(addressesOf({view, *made}), addresses)
              << testing::PrintToString(shape) << " with strides " << testing::PrintToString(strides) << " as "
              << testing::PrintToString(view);
        }
      }
  EXPECT_GT(views, 1000);
  EXPECT_GT(copies, 1000);
}

TEST(Strides, ContiguousAndDenseAreWhatTheAddressesSay) {
  RandomStrides random;
  int contiguous = 0, dense = 0, other = 0;
  for (int64_t count : {1, 2, 4, 6, 8, 12, 24})
    for (const Strides &shape : shapesOf(count, 4))
      for (int draw = 0; draw < 10; ++draw) {
        Strides strides = random.draw(shape);
        StridedShape tensor{shape, strides};
        std::vector<int64_t> addresses = addressesOf(tensor), inOrder(addresses.size());
        std::iota(inOrder.begin(), inOrder.end(), 0);
        bool isContiguous = addresses == inOrder;
        llvm::sort(addresses);
        bool isDense = addresses == inOrder;
        ASSERT_EQ(tensor.isContiguous(), isContiguous)
            << testing::PrintToString(shape) << " with strides " << testing::PrintToString(strides);
        ASSERT_EQ(tensor.isDense(), isDense)
            << testing::PrintToString(shape) << " with strides " << testing::PrintToString(strides);
        // A dense tensor is copied in its own order.
        if (isDense) {
          ASSERT_EQ(copyStrides(tensor), strides);
        }
        ++(isContiguous ? contiguous : isDense ? dense : other);
      }
  EXPECT_GT(std::min({contiguous, dense, other}), 100);
}

TEST(Strides, ChannelsLastIsRowMajorOverFeaturesLast) {
  struct Case {
    Strides shape, strides;
    bool isChannelsLast;
  };
  const Case cases[] = {
      {{2, 3, 4, 5, 6}, {360, 1, 90, 18, 3}, true},
      // One feature, or one position: the same as row-major, which takes precedence.
      {{2, 1, 4, 5}, {20, 1, 5, 1}, false},
      {{2, 3, 1, 1}, {3, 1, 3, 3}, false},
      // Features innermost, and the rows of the image transposed.
      {{2, 3, 4, 5}, {60, 1, 3, 12}, false},
      // Not an image.
      {{2, 3, 4}, {12, 1, 3}, false},
      {{2, 3, 4, 5, 6, 7}, {2520, 1, 630, 126, 21, 3}, false},
      {{2, 0, 4, 5}, {0, 1, 0, 0}, false},
  };
  for (const Case &each : cases)
    EXPECT_EQ((StridedShape{each.shape, each.strides}.isChannelsLast()), each.isChannelsLast)
        << testing::PrintToString(each.shape) << " with strides " << testing::PrintToString(each.strides);
  EXPECT_EQ(channelsLastStrides({2, 3, 4, 5, 6}), Strides({360, 1, 90, 18, 3}));
}

TEST(Strides, BroadcastDimsRepeatTheirElement) {
  EXPECT_EQ(expandedStrides({{3, 1, 5}, {5, 5, 1}}, {2, 3, 4, 5}), Strides({0, 5, 0, 1}));
  EXPECT_EQ(expandedStrides({{}, {}}, {2, 3}), Strides({0, 0}));
  // A dim of size 1 that keeps this size keeps its stride.
  EXPECT_EQ(expandedStrides({{1, 5}, {77, 1}}, {1, 5}), Strides({77, 1}));
  // The call aligns more dims than the result has: nothing is known.
  EXPECT_EQ(expandedStrides({{2, 3}, {3, 1}}, {3}), Strides({0}));
}

// Strides of the results of torch.empty_strided(...).add(...) and others.
TEST(Strides, ElementwiseResultsLieAsPyTorchLaysThem) {
  struct Case {
    std::vector<std::pair<Strides, Strides>> operands;
    Strides shape, strides;
  };
  const Case cases[] = {
      // A part of a transposed tensor: not dense, but in the same order.
      {{{{4, 3}, {1, 8}}}, {4, 3}, {1, 4}},
      // Repeated elements do not decide.
      {{{{2, 3, 4}, {0, 0, 1}}}, {2, 3, 4}, {12, 4, 1}},
      {{{{2, 3, 4}, {12, 0, 3}}}, {2, 3, 4}, {12, 4, 1}},
      // Each operand orders its own dims.
      {{{{1, 3, 4}, {12, 1, 3}}, {{2, 1, 4}, {1, 2, 2}}}, {2, 3, 4}, {3, 1, 6}},
      {{{{2, 3, 4}, {1, 8, 2}}, {{3, 4}, {1, 3}}}, {2, 3, 4}, {1, 8, 2}},
      // If two disagree, the first decides.
      {{{{2, 3, 4}, {12, 4, 1}}, {{2, 3, 4}, {1, 8, 2}}}, {2, 3, 4}, {12, 4, 1}},
      {{{{2, 3, 4, 5}, {60, 1, 15, 3}}, {{3, 1, 1}, {1, 1, 1}}}, {2, 3, 4, 5}, {60, 1, 15, 3}},
      {{{{2, 3, 4, 5}, {60, 1, 15, 3}}, {{1, 3, 1, 1}, {3, 1, 3, 3}}}, {2, 3, 4, 5}, {60, 1, 15, 3}},
      {{{{3}, {1}}, {{2, 1}, {1, 1}}}, {2, 3}, {3, 1}},
      {{{{2, 1}, {1, 1}}, {{1, 3}, {1, 2}}}, {2, 3}, {3, 1}},
      // With equal strides the larger dim is outer, unless row-major order says otherwise.
      {{{{4, 2}, {1, 1}}}, {4, 2}, {2, 1}},
      {{{{2, 4}, {1, 1}}}, {2, 4}, {1, 2}},
      {{{{3, 3}, {1, 1}}}, {3, 3}, {3, 1}},
      {{{{2, 1, 3}, {3, 99, 1}}}, {2, 1, 3}, {3, 3, 1}},
      {{{{2, 1, 3}, {1, 1, 2}}}, {2, 1, 3}, {1, 1, 2}},
      // Strides of dense operands that agree are kept exactly, also in a dim of size 1.
      {{{{2, 1, 3}, {1, 50, 2}}}, {2, 1, 3}, {1, 50, 2}},
      {{{{2, 1, 3}, {1, 50, 2}}, {{2, 1, 3}, {3, 3, 1}}}, {2, 1, 3}, {1, 6, 2}},
      // Gaps are closed; empty tensors and scalars do not decide.
      {{{{2, 3}, {6, 2}}}, {2, 3}, {3, 1}},
      {{{{2, 0}, {1, 2}}}, {2, 0}, {1, 1}},
      {{{{}, {}}, {{2, 3}, {1, 2}}}, {2, 3}, {1, 2}},
      // Dims for which no operand decides are skipped.
      {{{{4, 1, 3}, {1, 0, 4}}, {{1, 2, 3}, {0, 3, 1}}}, {4, 2, 3}, {1, 4, 8}},
      {{{{2, 2, 2, 2}, {0, 1, 0, 2}}, {{2, 2, 2, 2}, {1, 0, 2, 0}}}, {2, 2, 2, 2}, {2, 1, 8, 4}},
  };
  for (const Case &each : cases) {
    std::vector<StridedShape> operands;
    for (const auto &[shape, strides] : each.operands)
      operands.push_back({shape, strides});
    EXPECT_EQ(elementwiseStrides(each.shape, operands), each.strides)
        << testing::PrintToString(each.operands) << " of shape " << testing::PrintToString(each.shape);
  }
}

} // namespace
