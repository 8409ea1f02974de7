//===- policies_test.cpp - PyTorch's autocast rules for operators ---------===//

#include "compiler/transforms/import/autocast/policies.h"
#include "test/unit/sharding/parsed_call.h"

using namespace meshplan;

namespace {

class Policies : public CallTest {
protected:
  CastPolicy policy(llvm::StringRef target, AutocastDevice device, llvm::StringRef args = "{self = #base.operand<0>}") {
    return castPolicyOf(parse(target, args, "(tensor<4x6xf32>) -> tensor<4x6xf32>"), device);
  }
  void expect(llvm::StringRef target, CastPolicy cpu, CastPolicy cuda) {
    EXPECT_EQ(policy(target, AutocastDevice::cpu), cpu) << target.str();
    EXPECT_EQ(policy(target, AutocastDevice::cuda), cuda) << target.str();
  }
};

TEST_F(Policies, ProductsAreNarrow) {
  for (const char *target :
       {"aten.linear.default", "aten.mm.default", "aten.addmm.default", "aten.conv2d.padding",
        "aten.convolution.default", "aten.einsum.default", "aten._prelu_kernel.default",
        "aten.scaled_dot_product_attention.default", "aten._scaled_dot_product_flash_attention_for_cpu.default"})
    expect(target, CastPolicy::narrow, CastPolicy::narrow);
  expect("aten.lstm.input", CastPolicy::narrow, CastPolicy::narrow);
  expect("aten.gru.input", CastPolicy::widest, CastPolicy::narrow);
  expect("aten.mv.default", CastPolicy::widest, CastPolicy::narrow);
  expect("aten.tensordot.default", CastPolicy::narrow, CastPolicy::widest);
}

TEST_F(Policies, LossesAreWide) {
  for (const char *target : {"aten.mse_loss.default", "aten.cross_entropy_loss.default",
                             "aten.nll_loss_forward.default", "aten.nll_loss_nd.default", "aten.prod.dim_int"})
    expect(target, CastPolicy::wide, CastPolicy::wide);
  expect("aten.binary_cross_entropy.default", CastPolicy::wide, CastPolicy::banned);
}

TEST_F(Policies, PaddingOnCpusGoesByItsMode) {
  for (const char *mode : {"reflect", "replicate", "constant"}) {
    std::string args = "{self = #base.operand<0>, pad = [0, 0], mode = \"" + std::string(mode) + "\"}";
    EXPECT_EQ(policy("aten.pad.default", AutocastDevice::cpu, args),
              mode == llvm::StringRef("constant") ? CastPolicy::widest : CastPolicy::wide);
    EXPECT_EQ(policy("aten.pad.default", AutocastDevice::cuda, args), CastPolicy::widest);
  }
  expect("aten.pad.default", CastPolicy::widest, CastPolicy::widest);
}

TEST_F(Policies, CpusKeepNormsAndSoftmax) {
  for (const char *target :
       {"aten.softmax.int", "aten._log_softmax.default", "aten.rsqrt.default", "aten.sum.dim_IntList"})
    expect(target, CastPolicy::widest, CastPolicy::wide);
  expect("aten.pow.Tensor_Scalar", CastPolicy::none, CastPolicy::wide);
  expect("aten.layer_norm.default", CastPolicy::ofSelf, CastPolicy::wide);
  expect("aten.rms_norm.default", CastPolicy::ofSelf, CastPolicy::ofSelf);
  expect("aten.cat.default", CastPolicy::widest, CastPolicy::none);
}

TEST_F(Policies, OthersTakeOneTypeUnlessTheyPromote) {
  for (const char *target : {"aten.gelu.default", "aten.index_add.default", "meshplan.grouped_mm", "own.op.default"})
    expect(target, CastPolicy::widest, CastPolicy::widest);
  for (const char *target : {"aten.add.Tensor", "aten.where.self", "aten.masked_fill.Tensor"})
    expect(target, CastPolicy::none, CastPolicy::none);
}

TEST_F(Policies, WhatAnOperatorIsToldToComputeInStays) {
  EXPECT_EQ(policy("aten.softmax.int", AutocastDevice::cuda, "{self = #base.operand<0>, dim = -1, dtype = bf16}"),
            CastPolicy::none);
  EXPECT_EQ(policy("aten.softmax.int", AutocastDevice::cuda, "{self = #base.operand<0>, dim = -1, dtype}"),
            CastPolicy::wide)
      << "None";
}

TEST(Policy, LogarithmsOfProbabilities) {
  EXPECT_TRUE(isLogSoftmax("aten.log_softmax.int"));
  EXPECT_TRUE(isLogSoftmax("aten._log_softmax.default"));
  EXPECT_FALSE(isLogSoftmax("aten.softmax.int"));
}

} // namespace
