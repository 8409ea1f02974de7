//===- reshape_factors_test.cpp - shared factors against the elements -----===//

#include "compiler/sharding/record_support/reshape_factors.h"
#include "mlir/AsmParser/AsmParser.h"
#include "test/unit/sharding/parsed_call.h"

using namespace meshplan;
using namespace mlir;

namespace {

using Shape = std::vector<int64_t>;

class ReshapeFactors : public CallTest {
protected:
  FactorRule share(const Shape &from, const Shape &to) {
    Type element = Float32Type::get(&context);
    call.args = cast<DictionaryAttr>(parseAttribute("{self = #base.operand<0>}", &context));
    call.operands = {RankedTensorType::get(from, element)};
    call.results = {RankedTensorType::get(to, element)};
    RuleBuilder builder(call);
    shareFactors(builder, builder.operand("self"), builder.result());
    return builder.finish();
  }

  CallView call;
};

/// Index of each factor at element `linear` of a row-major tensor, or -1 for those that the tensor lacks.
std::vector<int64_t> factorIndices(const FactorRule &rule, const TensorFactors &tensor, const Shape &shape,
                                   int64_t linear) {
  std::vector<int64_t> indices(rule.factors.size(), -1);
  for (size_t dim = shape.size(); dim-- > 0;) {
    int64_t index = linear % shape[dim];
    linear /= shape[dim];
    for (unsigned factor : llvm::reverse(tensor.dims[dim])) {
      indices[factor] = index % rule.factors[factor].size;
      index /= rule.factors[factor].size;
    }
  }
  return indices;
}

/// All shapes of this many elements of at most `rank` dims.
void collectShapes(int64_t elements, size_t rank, Shape &prefix, std::vector<Shape> &shapes) {
  if (elements == 1)
    shapes.push_back(prefix);
  if (prefix.size() == rank)
    return;
  for (int64_t size = 1; size <= elements; ++size)
    if (elements % size == 0 && (size > 1 || prefix.empty() || prefix.back() > 1)) {
      prefix.push_back(size);
      collectShapes(elements / size, rank, prefix, shapes);
      prefix.pop_back();
    }
}

TEST_F(ReshapeFactors, ASharedFactorIsTheSameIndexOfEveryElement) {
  for (int64_t elements : {1, 6, 8, 12, 30}) {
    Shape prefix;
    std::vector<Shape> shapes;
    collectShapes(elements, 4, prefix, shapes);
    for (const Shape &from : shapes)
      for (const Shape &to : shapes) {
        FactorRule rule = share(from, to);
        ASSERT_EQ(rule.findFault(call.operands, call.results).value_or(""), "");
        for (int64_t linear = 0; linear < elements; ++linear) {
          auto before = factorIndices(rule, rule.operands[0], from, linear);
          auto after = factorIndices(rule, rule.results[0], to, linear);
          for (auto [index, factor] : llvm::enumerate(rule.factors))
            ASSERT_TRUE(factor.kind == FactorKind::whole || before[index] == after[index])
                << describe(rule) << " at element " << linear;
        }
      }
  }
}

TEST_F(ReshapeFactors, EqualShapesShareEveryDim) {
  EXPECT_EQ(describe(share({4, 1, 6}, {4, 1, 6})), "[a, 1, b] -> [a, 1, b]; a=4 b=6");
}

TEST_F(ReshapeFactors, HeadsAreSplitAndJoined) {
  EXPECT_EQ(describe(share({4, 96, 576}, {4, 96, 9, 64})), "[a, b, cd] -> [a, b, c, d]; a=4 b=96 c=9 d=64");
  EXPECT_EQ(describe(share({4, 96, 9, 64}, {4, 96, 576})), "[a, b, c, d] -> [a, b, cd]; a=4 b=96 c=9 d=64");
  EXPECT_EQ(describe(share({6, 4}, {24})), "[a, b] -> [ab]; a=6 b=4");
  EXPECT_EQ(describe(share({6, 4}, {2, 12})), "[ab, c] -> [a, bc]; a=2 b=3 c=4");
}

TEST_F(ReshapeFactors, OnesAreSkippedOnBothSides) {
  EXPECT_EQ(describe(share({1, 4, 1, 6}, {4, 6, 1})), "[1, a, 1, b] -> [a, b, 1]; a=4 b=6");
  EXPECT_EQ(describe(share({1, 1}, {})), "[1, 1] -> []");
  EXPECT_EQ(describe(share({}, {1})), "[] -> [1]");
}

TEST_F(ReshapeFactors, SizesWithoutCommonDivisorAreWhole) {
  EXPECT_EQ(describe(share({3, 2}, {2, 3})), "[a, b] -> [c, d]; a=3:whole b=2:whole c=2:whole d=3:whole");
  // After the complete pieces the sides agree again.
  EXPECT_EQ(describe(share({3, 2, 5}, {2, 3, 5})),
            "[a, b, c] -> [d, e, c]; a=3:whole b=2:whole c=5 d=2:whole e=3:whole");
  EXPECT_EQ(describe(share({5, 3, 2}, {5, 2, 3})),
            "[a, b, c] -> [a, d, e]; a=5 b=3:whole c=2:whole d=2:whole e=3:whole");
}

TEST_F(ReshapeFactors, OtherNumbersOfElementsShareNothing) {
  EXPECT_EQ(describe(share({4, 6}, {4, 5})), "[a, b] -> [c, d]; a=4:whole b=6:whole c=4:whole d=5:whole");
  EXPECT_EQ(describe(share({0, 6}, {6, 0})), "[a, b] -> [c, d]; a=0:whole b=6:whole c=6:whole d=0:whole");
}

} // namespace
