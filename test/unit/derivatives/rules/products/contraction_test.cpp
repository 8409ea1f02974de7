//===- contraction_test.cpp - derivatives of products ---------------------===//

#include "test/unit/derivatives/derive.h"

using namespace meshplan;

namespace {

using ContractionDerivatives = DeriveTest;

constexpr char product[] = "self = $0, other = $1";
constexpr char linear[] = "input = $0, weight = $1, bias = $2";

TEST_F(ContractionDerivatives, LinearHasACallForEachOperand) {
  EXPECT_EQ(derive("aten.linear.default", linear, "2x4x8xf32, 6x8xf32, 6xf32 -> 2x4x6xf32"),
            "%0 = aten.matmul.default(other b, self g): 2x4x8xf32\n"
            "%1 = meshplan.weight_gradient(left g, right a): 6x8xf32\n"
            "%2 = aten.sum.dim_IntList(dim [0, 1], keepdim false, self g): 6xf32\n"
            "a: %0\nb: %1\nc: %2");
  EXPECT_EQ(deriveOnly({1}, "aten.linear.default", "input = $0, weight = $1", "4x8xbf16, 6x8xbf16 -> 4x6xbf16"),
            "%0 = meshplan.weight_gradient(left g, right a): 6x8xbf16\nb: %0")
      << "a frozen input has no call";
}

TEST_F(ContractionDerivatives, LinearOfOneSample) {
  EXPECT_EQ(derive("aten.linear.default", linear, "8xf32, 6x8xf32, 6xf32 -> 6xf32"),
            "%0 = aten.reshape.default(self g, shape [1, 6]): 1x6xf32\n"
            "%1 = aten.matmul.default(other b, self %0): 1x8xf32\n"
            "%2 = aten.reshape.default(self %1, shape [8]): 8xf32\n"
            "%3 = meshplan.weight_gradient(left g, right a): 6x8xf32\n"
            "a: %2\nb: %3\nc: g");
}

TEST_F(ContractionDerivatives, LinearByAVectorIsLeftToTheRuntime) {
  EXPECT_EQ(derive("aten.linear.default", "input = $0, weight = $1", "4x8xf32, 8xf32 -> 4xf32"),
            "%0 = vjp.aten.linear.default(gradients [g], input a, of 'input', weight b): 4x8xf32\n"
            "%1 = vjp.aten.linear.default(gradients [g], input a, of 'weight', weight b): 8xf32\na: %0\nb: %1");
}

TEST_F(ContractionDerivatives, Matrices) {
  EXPECT_EQ(derive("aten.mm.default", "self = $0, mat2 = $1", "4x8xf32, 8x6xf32 -> 4x6xf32"),
            "%0 = aten.permute.default(dims [1, 0], self b): 6x8xf32\n"
            "%1 = aten.matmul.default(other %0, self g): 4x8xf32\n"
            "%2 = meshplan.weight_gradient(left a, right g): 8x6xf32\na: %1\nb: %2");
  EXPECT_EQ(derive("aten.bmm.default", "self = $0, mat2 = $1", "2x4x8xf32, 2x8x6xf32 -> 2x4x6xf32"),
            "%0 = aten.permute.default(dims [0, 2, 1], self b): 2x6x8xf32\n"
            "%1 = aten.matmul.default(other %0, self g): 2x4x8xf32\n"
            "%2 = aten.permute.default(dims [0, 2, 1], self a): 2x8x4xf32\n"
            "%3 = aten.matmul.default(other g, self %2): 2x8x6xf32\na: %1\nb: %3");
}

TEST_F(ContractionDerivatives, BroadcastMatricesAreSummed) {
  EXPECT_EQ(derive("aten.matmul.default", product, "2x4x8xf32, 8x6xf32 -> 2x4x6xf32"),
            "%0 = aten.permute.default(dims [1, 0], self b): 6x8xf32\n"
            "%1 = aten.matmul.default(other %0, self g): 2x4x8xf32\n"
            "%2 = meshplan.weight_gradient(left a, right g): 8x6xf32\na: %1\nb: %2")
      << "all rows of the left side at once";
  EXPECT_EQ(derive("aten.matmul.default", product, "3x1x4x8xf32, 2x8x6xf32 -> 3x2x4x6xf32"),
            "%0 = aten.permute.default(dims [0, 2, 1], self b): 2x6x8xf32\n"
            "%1 = aten.matmul.default(other %0, self g): 3x2x4x8xf32\n"
            "%2 = aten.sum.dim_IntList(dim [1], keepdim true, self %1): 3x1x4x8xf32\n"
            "%3 = aten.permute.default(dims [0, 1, 3, 2], self a): 3x1x8x4xf32\n"
            "%4 = aten.matmul.default(other g, self %3): 3x2x8x6xf32\n"
            "%5 = aten.sum.dim_IntList(dim [0], keepdim false, self %4): 2x8x6xf32\na: %2\nb: %5");
  EXPECT_EQ(deriveOnly({0}, "aten.matmul.default", product, "4x8xf32, 2x8x6xf32 -> 2x4x6xf32"),
            "%0 = aten.permute.default(dims [0, 2, 1], self b): 2x6x8xf32\n"
            "%1 = aten.matmul.default(other %0, self g): 2x4x8xf32\n"
            "%2 = aten.sum.dim_IntList(dim [0], keepdim false, self %1): 4x8xf32\na: %2");
}

TEST_F(ContractionDerivatives, AVectorIsARowOrAColumn) {
  constexpr char matrixOfTwo[] = "%0 = aten.reshape.default(self g, shape [1, 1]): 1x1xf32\n"
                                 "%1 = aten.reshape.default(self b, shape [8, 1]): 8x1xf32\n"
                                 "%2 = aten.permute.default(dims [1, 0], self %1): 1x8xf32\n"
                                 "%3 = aten.matmul.default(other %2, self %0): 1x8xf32\n"
                                 "%4 = aten.reshape.default(self %3, shape [8]): 8xf32\n"
                                 "%5 = aten.reshape.default(self a, shape [1, 8]): 1x8xf32\n"
                                 "%6 = meshplan.weight_gradient(left %5, right %0): 8x1xf32\n"
                                 "%7 = aten.reshape.default(self %6, shape [8]): 8xf32\na: %4\nb: %7";
  EXPECT_EQ(derive("aten.matmul.default", product, "8xf32, 8xf32 -> f32"), matrixOfTwo);
  EXPECT_EQ(derive("aten.dot.default", "self = $0, tensor = $1", "8xf32, 8xf32 -> f32"), matrixOfTwo);
  EXPECT_EQ(derive("aten.mv.default", "self = $0, vec = $1", "4x8xf32, 8xf32 -> 4xf32"),
            "%0 = aten.reshape.default(self g, shape [4, 1]): 4x1xf32\n"
            "%1 = aten.reshape.default(self b, shape [8, 1]): 8x1xf32\n"
            "%2 = aten.permute.default(dims [1, 0], self %1): 1x8xf32\n"
            "%3 = aten.matmul.default(other %2, self %0): 4x8xf32\n"
            "%4 = meshplan.weight_gradient(left a, right %0): 8x1xf32\n"
            "%5 = aten.reshape.default(self %4, shape [8]): 8xf32\na: %3\nb: %5");
  EXPECT_EQ(deriveOnly({0}, "aten.matmul.default", product, "8xf32, 2x8x6xf32 -> 2x6xf32"),
            "%0 = aten.reshape.default(self g, shape [2, 1, 6]): 2x1x6xf32\n"
            "%1 = aten.permute.default(dims [0, 2, 1], self b): 2x6x8xf32\n"
            "%2 = aten.matmul.default(other %1, self %0): 2x1x8xf32\n"
            "%3 = aten.sum.dim_IntList(dim [0], keepdim false, self %2): 1x8xf32\n"
            "%4 = aten.reshape.default(self %3, shape [8]): 8xf32\na: %4");
}

TEST_F(ContractionDerivatives, AMatrixTimesItself) {
  EXPECT_EQ(derive("aten.mm.default", "self = $0, mat2 = $0", "4x4xf32 -> 4x4xf32"),
            "%0 = aten.permute.default(dims [1, 0], self a): 4x4xf32\n"
            "%1 = aten.matmul.default(other %0, self g): 4x4xf32\n"
            "%2 = meshplan.weight_gradient(left a, right g): 4x4xf32\n"
            "%3 = aten.add.Tensor(other %2, self %1): 4x4xf32\na: %3");
}

TEST_F(ContractionDerivatives, AddendsOfProducts) {
  EXPECT_EQ(derive("aten.addmm.default", "self = $0, mat1 = $1, mat2 = $2, beta = 2, alpha = 0.5",
                   "6xf32, 4x8xf32, 8x6xf32 -> 4x6xf32"),
            "%0 = aten.mul.Scalar(other 2, self g): 4x6xf32\n"
            "%1 = aten.sum.dim_IntList(dim [0], keepdim false, self %0): 6xf32\n"
            "%2 = aten.mul.Scalar(other 0.5, self g): 4x6xf32\n"
            "%3 = aten.permute.default(dims [1, 0], self c): 6x8xf32\n"
            "%4 = aten.matmul.default(other %3, self %2): 4x8xf32\n"
            "%5 = meshplan.weight_gradient(left b, right %2): 8x6xf32\na: %1\nb: %4\nc: %5");
  EXPECT_EQ(deriveOnly({0, 2}, "aten.baddbmm.default", "self = $0, batch1 = $1, batch2 = $2",
                       "2x1x6xf32, 2x4x8xf32, 2x8x6xf32 -> 2x4x6xf32"),
            "%0 = aten.sum.dim_IntList(dim [1], keepdim true, self g): 2x1x6xf32\n"
            "%1 = aten.permute.default(dims [0, 2, 1], self b): 2x8x4xf32\n"
            "%2 = aten.matmul.default(other g, self %1): 2x8x6xf32\na: %0\nc: %2");
}

TEST_F(ContractionDerivatives, EinsumsAreEinsumsOfTheRest) {
  EXPECT_EQ(derive("aten.einsum.default", "equation = \"bik, bjk -> bij\", tensors = [$0, $1]",
                   "2x4x8xf32, 2x6x8xf32 -> 2x4x6xf32"),
            "%0 = aten.einsum.default(equation 'bij,bjk->bik', tensors [g, b]): 2x4x8xf32\n"
            "%1 = aten.einsum.default(equation 'bij,bik->bjk', tensors [g, a]): 2x6x8xf32\na: %0\nb: %1");
}

TEST_F(ContractionDerivatives, ALetterOfOneOperandCountsEachElementOnce) {
  EXPECT_EQ(deriveOnly({0}, "aten.einsum.default", "equation = \"ij,k->ik\", tensors = [$0, $1]",
                       "4x6xf32, 8xf32 -> 4x8xf32"),
            "%0 = aten.einsum.default(equation 'ik,k->i', tensors [g, b]): 4xf32\n"
            "%1 = aten.reshape.default(self %0, shape [4, 1]): 4x1xf32\n"
            "%2 = aten.expand.default(self %1, size [4, 6]): 4x6xf32\na: %2");
}

/// A dim of size 1 is broadcast along the letter.
TEST_F(ContractionDerivatives, EinsumsBroadcast) {
  constexpr char types[] = "4x1xf32, 6x8xf32 -> 4x8xf32";
  EXPECT_EQ(deriveOnly({0}, "aten.einsum.default", "equation = \"ij,jk->ik\", tensors = [$0, $1]", types),
            "%0 = aten.einsum.default(equation 'ik,jk->ij', tensors [g, b]): 4x6xf32\n"
            "%1 = aten.sum.dim_IntList(dim [1], keepdim true, self %0): 4x1xf32\na: %1");
  EXPECT_EQ(deriveOnly({1}, "aten.einsum.default", "equation = \"ij,jk->ik\", tensors = [$0, $1]", types),
            "%0 = aten.einsum.default(equation 'ik,ij->jk', tensors [g, a]): 1x8xf32\n"
            "%1 = aten.expand.default(self %0, size [6, 8]): 6x8xf32\nb: %1");
}

TEST_F(ContractionDerivatives, OtherEinsumsAreLeftToTheRuntime) {
  auto derived = [&](const std::string &equation) {
    return derive("aten.einsum.default", "equation = \"" + equation + "\", tensors = [$0, $1]",
                  "4x4xf32, 4x4xf32 -> 4x4xf32");
  };
  EXPECT_EQ(derived("ij,jk"),
            "%0 = vjp.aten.einsum.default(equation 'ij,jk', gradients [g], of 'tensors.0', tensors [a, b]): 4x4xf32\n"
            "%1 = vjp.aten.einsum.default(equation 'ij,jk', gradients [g], of 'tensors.1', tensors [a, b]): 4x4xf32\n"
            "a: %0\nb: %1");
  for (const char *equation : {"...j,jk->...k", "ii,jk->ik"})
    EXPECT_EQ(derived(equation), "%0, %1 = vjp.aten.einsum.default(equation '" + std::string(equation) +
                                     "', gradients [g], of 'tensors.0, tensors.1', tensors [a, b]): 4x4xf32, 4x4xf32\n"
                                     "a: %0\nb: %1")
        << "nothing is divided";
}

TEST_F(ContractionDerivatives, ProductsOfGroups) {
  constexpr char types[] = "10x8xf32, 3x8x6xf32, 3xi32 -> 10x6xf32";
  constexpr char expected[] = "%0 = aten.permute.default(dims [0, 2, 1], self b): 3x6x8xf32\n"
                              "%1 = meshplan.grouped_mm(input g, offs c, weight %0): 10x8xf32\n"
                              "%2 = meshplan.grouped_weight_gradient(left a, offs c, right g): 3x8x6xf32\na: %1\nb: %2";
  EXPECT_EQ(derive("meshplan.grouped_mm", "input = $0, weight = $1, offs = $2", types), expected);
  EXPECT_EQ(derive("aten._grouped_mm.default", "self = $0, mat2 = $1, offs = $2", types), expected);
  EXPECT_EQ(derive("aten._grouped_mm.default", "self = $0, mat2 = $1", "3x4x8xf32, 3x8x6xf32 -> 3x4x6xf32"),
            "refused: products of groups have a derivative only in the form [rows, k] x [groups, k, m]");
}

} // namespace
