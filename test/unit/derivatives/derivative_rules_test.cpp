//===- derivative_rules_test.cpp - every operator has a derivative --------===//

#include "compiler/derivatives/derivative_rules.h"
#include "llvm/ADT/StringSet.h"
#include <gtest/gtest.h>

using namespace meshplan;

namespace {

/// Kernels without a derivative: gradients, and local forms of sharded operators, which calls get only after
/// `differentiate`. A new kernel comes with its derivative, or with the reason here why it needs none.
const llvm::StringSet<> withoutDerivative = {
    // gradients
    "meshplan.attention_backward",
    "meshplan.attention_mask_gradient",
    "meshplan.convolution_input_gradient",
    "meshplan.convolution_weight_gradient",
    "meshplan.embedding_gradient",
    "meshplan.grouped_bias_gradient",
    "meshplan.grouped_linear_weight_gradient",
    "meshplan.grouped_linear_weight_gradient_f32",
    "meshplan.grouped_weight_gradient",
    "meshplan.index_sum",
    "meshplan.layer_norm_input_gradient",
    "meshplan.layer_norm_weight_gradient",
    "meshplan.rms_norm_input_gradient",
    "meshplan.rms_norm_weight_gradient",
    "meshplan.row_loss_gradient",
    "meshplan.scatter_sum",
    "meshplan.sum_shared_heads",
    "meshplan.weight_gradient",
    "meshplan.weight_gradient_f32",
    // local forms
    "meshplan.embedding",
    "meshplan.extreme_position",
    "meshplan.gather_part",
    "meshplan.group_norm",
    "meshplan.grouped_convolution",
    "meshplan.grouped_linear_f32",
    "meshplan.index_part",
    "meshplan.index_sum_part",
    "meshplan.linear",
    "meshplan.linear_f32",
    "meshplan.matmul_f32",
    "meshplan.mean_addend",
    "meshplan.scatter_part",
    "meshplan.scatter_sum_part",
    "meshplan.topk_part",
    // steps of optimizers, and of microbatches
    "meshplan.accumulate",
    "meshplan.adam",
    "meshplan.assign",
    "meshplan.clip_factor",
    "meshplan.nonfinite_count",
    "meshplan.note_nonfinite",
    "meshplan.round_addends",
    "meshplan.round_gradient",
    "meshplan.sgd",
    "meshplan.sgd_momentum",
    "meshplan.square_sum",
    "meshplan.take_microbatch",
    // copies of tensors that a step keeps on the host
    "meshplan.to_device",
    "meshplan.to_host",
    // around exchanges of rows, which are made after the derivatives
    "meshplan.counts_of_experts",
    "meshplan.counts_on_host",
    "meshplan.counts_to_gather",
    "meshplan.order_by_expert",
    "meshplan.order_by_rank",
    // class weights, which are not trained
    "meshplan.class_weight",
};

TEST(DerivativeRules, EveryKernelHasADerivativeOrNeedsNone) {
  for (llvm::StringRef target : OpRegistry::get().targets()) {
    bool isKnown = hasDerivative(target) || target.starts_with("aten.") || withoutDerivative.contains(target);
    EXPECT_TRUE(isKnown) << target.str() << ": docs/adding-an-op.md says where its derivative is written";
  }
}

TEST(DerivativeRules, WhatNeedsNoneExistsAndHasNone) {
  for (const auto &entry : withoutDerivative) {
    EXPECT_TRUE(OpRegistry::get().lookup(entry.getKey())) << entry.getKey().str();
    EXPECT_FALSE(hasDerivative(entry.getKey())) << entry.getKey().str();
  }
}

TEST(DerivativeRules, AnOperatorWithoutARuleIsLeftToTheRuntime) {
  EXPECT_FALSE(hasDerivative("aten.prelu.default"));
  EXPECT_EQ(derivativeOf("aten.prelu.default"), differentiateAtRunTime);
  EXPECT_TRUE(hasDerivative("aten.mul.Tensor"));
  EXPECT_NE(derivativeOf("aten.mul.Tensor"), differentiateAtRunTime);
}

/// Rounding and comparing floats has no gradient, and the runtime is not asked for one.
TEST(DerivativeRules, OperatorsWithoutGradientHaveARuleThatGivesNothing) {
  for (llvm::StringRef target : {"aten.floor.default", "aten.detach.default", "aten.argmax.default"})
    EXPECT_TRUE(hasDerivative(target)) << target.str();
}

} // namespace
