//===- missing_test.cpp - operators that PyTorch does not differentiate ---===//

#include "../derive.h"
#include "compiler/derivatives/derivative_rules.h"

using namespace meshplan;

namespace {

using MissingDerivatives = DeriveTest;

constexpr char sameVectors[] = "4xf32, 4xf32 -> 4xf32";

TEST_F(MissingDerivatives, AreRefused) {
  for (const char *target : {"aten.nextafter.default", "aten.floor_divide.default"})
    for (unsigned operand : {0, 1})
      EXPECT_EQ(deriveOnly({operand}, target, both, sameVectors), "refused: PyTorch has no derivative of it") << target;
  EXPECT_EQ(derive("aten.floor_divide.Scalar", "self = $0, other = 2", "4xf32 -> 4xf32"),
            "refused: PyTorch has no derivative of it");
  EXPECT_EQ(deriveOnly({1}, "aten.heaviside.default", "self = $0, values = $1", sameVectors),
            "refused: PyTorch has no derivative of it");
  EXPECT_EQ(derive("aten.aminmax.default", "self = $0", "4xf32 -> f32, f32"),
            "refused: PyTorch has no derivative of it");
  EXPECT_EQ(derive("aten.remainder.Scalar_Tensor", "self = 2, other = $0", "4xf32 -> 4xf32"),
            "refused: PyTorch has no derivative of it");
}

/// One argument has no derivative, the other has one.
TEST_F(MissingDerivatives, AreThoseOfAnArgument) {
  for (const char *target : {"aten.igamma.default", "aten.igammac.default", "aten.special_zeta.default"})
    EXPECT_EQ(deriveOnly({0}, target, both, sameVectors),
              "refused: PyTorch has no derivative of it with respect to 'self'");
  auto derivation = begin("aten.igamma.default", both, sameVectors, llvm::ArrayRef<unsigned>{1});
  derivativeOf("aten.igamma.default")(*derivation);
  EXPECT_EQ(derivation->getRefusal(), "");
  EXPECT_EQ(derivation->getGiven().size(), 1u);
}

} // namespace
