//===- gradients_test.cpp - records of gradients --------------------------===//
//
// Every expected rule is derived by hand from what the operator computes.
//
//===----------------------------------------------------------------------===//

#include "test/unit/sharding/parsed_call.h"

using namespace meshplan;

namespace {

class GradientRecords : public CallTest {
protected:
  std::string linearity(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types) {
    return describe(record(target).linearity(parse(target, args, types)));
  }
  std::string local(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types) {
    return text(record(target).localize(parse(target, args, types), plan::MeshOp()));
  }
  OpCost cost(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types) {
    return record(target).cost(parse(target, args, types));
  }
};

//===----------------------------------------------------------------------===//
// Functions of elements
//===----------------------------------------------------------------------===//

TEST_F(GradientRecords, FunctionsOfElementsDivideEveryDim) {
  constexpr char args[] = "{grad_output = #base.operand<0>, self = #base.operand<1>}";
  constexpr char types[] = "(tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>";
  for (llvm::StringRef target : {"aten.silu_backward.default", "aten.gelu_backward.default",
                                 "aten.threshold_backward.default", "aten.hardtanh_backward.default"}) {
    EXPECT_EQ(rule(target, args, types), "[a, b], [a, b] -> [a, b]; a=4 b=6") << target.str();
    EXPECT_EQ(linearity(target, args, types), "{0}") << "in the gradient, not in what the slope is taken at";
  }
  EXPECT_EQ(linearity("aten.sigmoid_backward.default", "{grad_output = #base.operand<0>, output = #base.operand<0>}",
                      "(tensor<4xf32>) -> tensor<4xf32>"),
            "")
      << "a gradient that is the result too";
}

TEST_F(GradientRecords, SoftmaxHoldsItsDim) {
  for (llvm::StringRef target : {"aten._softmax_backward_data.default", "aten._log_softmax_backward_data.default"}) {
    constexpr char args[] = "{grad_output = #base.operand<0>, output = #base.operand<1>, dim = -2, input_dtype = f32}";
    constexpr char types[] = "(tensor<4x6x2xf32>, tensor<4x6x2xf32>) -> tensor<4x6x2xf32>";
    EXPECT_EQ(rule(target, args, types), "[a, b, c], [a, d, c] -> [a, e, c]; a=4 b=6:whole c=2 d=6:whole e=6:whole");
    EXPECT_EQ(linearity(target, args, types), "{0}");
  }
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

constexpr char sides[] = "{left = #base.operand<0>, right = #base.operand<1>}";

TEST_F(GradientRecords, AMatrixIsSummedOverAllRows) {
  EXPECT_EQ(rule("meshplan.weight_gradient", sides, "(tensor<2x4x6xf32>, tensor<2x4x8xf32>) -> tensor<6x8xf32>"),
            "[a, b, c], [a, b, d] -> [c, d]; a=2:sum b=4:sum c=6 d=8");
  EXPECT_EQ(rule("meshplan.weight_gradient", sides, "(tensor<6xf32>, tensor<8xf32>) -> tensor<6x8xf32>"),
            "[a], [b] -> [a, b]; a=6 b=8")
      << "one sample has no rows to sum";
  EXPECT_EQ(rule("meshplan.weight_gradient", sides, "(tensor<4x1xf32>, tensor<4x8xf32>) -> tensor<1x8xf32>"),
            "[a, 1], [a, b] -> [1, b]; a=4:sum b=8");
  EXPECT_EQ(linearity("meshplan.weight_gradient", sides, "(tensor<4x6xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>"),
            "{0} {1}");
}

TEST_F(GradientRecords, SumsOfHalfTypesAreWrittenInFloat) {
  CallView call = parse("meshplan.weight_gradient", sides, "(tensor<4x6xbf16>, tensor<4x8xbf16>) -> tensor<6x8xbf16>");
  std::optional<LocalCall> wide = record(call.target).widen(call);
  ASSERT_TRUE(wide);
  EXPECT_EQ(text(*wide), "meshplan.weight_gradient_f32 {left = #base.operand<0>, right = #base.operand<1>}");
  EXPECT_EQ(rule("meshplan.weight_gradient_f32", sides, "(tensor<4x6xbf16>, tensor<4x8xbf16>) -> tensor<6x8xf32>"),
            "[a, b], [a, c] -> [b, c]; a=4:sum b=6 c=8");
}

TEST_F(GradientRecords, MatricesOfGroupsHoldTheirRows) {
  EXPECT_EQ(rule("meshplan.grouped_weight_gradient",
                 "{left = #base.operand<0>, right = #base.operand<1>, offs = #base.operand<2>}",
                 "(tensor<10x8xf32>, tensor<10x6xf32>, tensor<3xi32>) -> tensor<3x8x6xf32>"),
            "[a, b], [c, d], [e] -> [f, b, d]; a=10:whole b=8 c=10:whole d=6 e=3:whole f=3:whole");
}

TEST_F(GradientRecords, AMatrixCostsAsTheProductThatItIsOf) {
  OpCost plain = cost("meshplan.weight_gradient", sides, "(tensor<2x4x6xf32>, tensor<2x4x8xf32>) -> tensor<6x8xf32>");
  EXPECT_EQ(plain.flops, 2 * (2 * 4) * 6 * 8);
  EXPECT_EQ(plain.bytes, 4 * (2 * 4 * 6 + 2 * 4 * 8 + 6 * 8));
  EXPECT_EQ(plain.workspaceBytes, 0) << "rows that are contiguous are one matrix";
  OpCost wide =
      cost("meshplan.weight_gradient_f32", sides, "(tensor<2x4x6xbf16>, tensor<2x4x8xbf16>) -> tensor<6x8xf32>");
  EXPECT_EQ(wide.flops, plain.flops);
  EXPECT_GE(wide.workspaceBytes, 4 * 2 * 4 * 6) << "the left side is converted";
  EXPECT_EQ(cost("meshplan.grouped_weight_gradient", sides, "(tensor<10x8xf32>, tensor<10x6xf32>) -> tensor<3x8x6xf32>")
                .flops,
            2 * 10 * 8 * 6);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

constexpr char convolution[] = "{gradient = #base.operand<0>, input = #base.operand<1>, weight = #base.operand<2>, "
                               "stride = [1], padding = [0], dilation = [1]}";
constexpr char ofInput[] = "(tensor<2x6x8xf32>, tensor<2x4x10xf32>, tensor<6x4x3xf32>) -> tensor<2x4x10xf32>";
constexpr char ofWeight[] = "(tensor<2x6x8xf32>, tensor<2x4x10xf32>, tensor<6x4x3xf32>) -> tensor<6x4x3xf32>";

TEST_F(GradientRecords, TheInputOfAConvolutionIsSummedOverWhatItMade) {
  EXPECT_EQ(rule("meshplan.convolution_input_gradient", convolution, ofInput),
            "[a, b, c], [a, d, e], [b, d, f] -> [a, d, g]; "
            "a=2 b=6:sum c=8:whole d=4 e=10:whole f=3:whole g=10:whole");
  EXPECT_EQ(linearity("meshplan.convolution_input_gradient", convolution, ofInput), "{0}");
}

TEST_F(GradientRecords, TheWeightOfAConvolutionIsSummedOverTheBatch) {
  EXPECT_EQ(rule("meshplan.convolution_weight_gradient", convolution, ofWeight),
            "[a, b, c], [a, d, e], [b, d, f] -> [b, d, g]; "
            "a=2:sum b=6 c=8:whole d=4 e=10:whole f=3:whole g=3:whole");
}

TEST_F(GradientRecords, GroupsOfAConvolutionFollowFromTheWeight) {
  EXPECT_EQ(rule("meshplan.convolution_input_gradient", convolution,
                 "(tensor<2x6x8xf32>, tensor<2x4x10xf32>, tensor<6x2x3xf32>) -> tensor<2x4x10xf32>"),
            "[a, bc, d], [a, be, f], [bc, e, g] -> [a, be, h]; a=2 b=2 c=3:sum d=8:whole e=2 f=10:whole g=3:whole "
            "h=10:whole");
  EXPECT_EQ(rule("meshplan.convolution_weight_gradient", convolution,
                 "(tensor<2x6x8xf32>, tensor<2x4x10xf32>, tensor<6x2x3xf32>) -> tensor<6x2x3xf32>"),
            "[a, bc, d], [a, be, f], [bc, e, g] -> [bc, e, h]; a=2:sum b=2 c=3 d=8:whole e=2 f=10:whole g=3:whole "
            "h=3:whole");
}

TEST_F(GradientRecords, AConvolutionCostsAsItsForwardCall) {
  constexpr int64_t products = 2 * 6 * 8 * 4 * 3;
  EXPECT_EQ(cost("meshplan.convolution_input_gradient", convolution, ofInput).flops, 2 * products);
  EXPECT_EQ(cost("meshplan.convolution_weight_gradient", convolution, ofWeight).flops, 2 * products);
}

// Bytes of the kernels beside their results, with PyTorch 2.11: 74,776 for two images and none for one.
TEST_F(GradientRecords, AConvolutionWithAStrideHasABufferForItsProducts) {
  constexpr char strided[] = "{gradient = #base.operand<0>, input = #base.operand<1>, weight = #base.operand<2>, "
                             "stride = [2, 2], padding = [1, 1], dilation = [1, 1]}";
  constexpr char two[] = "(tensor<2x32x2x2xf32>, tensor<2x32x4x4xf32>, tensor<32x32x3x3xf32>) -> tensor<2x32x4x4xf32>";
  constexpr char large[] =
      "(tensor<2x16x16x16xf32>, tensor<2x16x32x32xf32>, tensor<16x16x3x3xf32>) -> tensor<2x16x32x32xf32>";
  constexpr char one[] = "(tensor<1x16x2x2xf32>, tensor<1x16x4x4xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x4x4xf32>";
  EXPECT_NEAR(cost("meshplan.convolution_input_gradient", strided, two).workspaceBytes, 74776, 24);
  EXPECT_EQ(cost("meshplan.convolution_input_gradient", strided, large).workspaceBytes, 262144);
  EXPECT_EQ(cost("meshplan.convolution_input_gradient", strided, one).workspaceBytes, 0);
}

/// Memory of a call of a convolution with square windows.
struct SquareConvolution {
  int64_t images, in, size, out, window, stride, padding, groups = 1;
  std::string type = "f32";
};

// Values counted with PyTorch 2.11, with one thread on a processor with AVX-512.
class ConvolutionMemory : public GradientRecords {
protected:
  int64_t workspace(const char *target, const SquareConvolution &of) {
    int64_t made = (of.size + 2 * of.padding - of.window) / of.stride + 1;
    auto tensor = [&](int64_t first, int64_t second, int64_t size) {
      std::string places = std::to_string(size) + "x" + std::to_string(size) + "x";
      return "tensor<" + std::to_string(first) + "x" + std::to_string(second) + "x" + places + of.type + ">";
    };
    std::string input = tensor(of.images, of.in, of.size), weight = tensor(of.out, of.in / of.groups, of.window);
    bool isOfWeight = llvm::StringRef(target).contains("weight");
    std::string types =
        "(" + tensor(of.images, of.out, made) + ", " + input + ", " + weight + ") -> " + (isOfWeight ? weight : input);
    auto pair = [](int64_t number) { return "[" + std::to_string(number) + ", " + std::to_string(number) + "]"; };
    std::string args = "{gradient = #base.operand<0>, input = #base.operand<1>, weight = #base.operand<2>, stride = " +
                       pair(of.stride) + ", padding = " + pair(of.padding) + ", dilation = [1, 1]}";
    return cost(target, args.c_str(), types.c_str()).workspaceBytes;
  }
  int64_t ofWeight(const SquareConvolution &of) { return workspace("meshplan.convolution_weight_gradient", of); }
  int64_t ofInput(const SquareConvolution &of) { return workspace("meshplan.convolution_input_gradient", of); }
};

TEST_F(ConvolutionMemory, AWeightIsLaidOutAsItsImagesAre) {
  EXPECT_EQ(ofWeight({2, 32, 4, 32, 3, 2, 1}), 36864);
  EXPECT_EQ(ofWeight({2, 16, 32, 16, 3, 2, 1}), 131072 + 32768);
  EXPECT_EQ(ofWeight({6, 20, 32, 24, 3, 1, 1}), 1592448) << "blocks of 16 features are filled up";
  EXPECT_EQ(ofWeight({2, 9, 8, 17, 3, 1, 1}), 28796) << "of few features they are of 8";
}

TEST_F(ConvolutionMemory, PixelsAreNotCopied) {
  EXPECT_EQ(ofWeight({6, 3, 32, 64, 8, 8, 0}), 49152) << "the patches of a vision transformer";
  EXPECT_EQ(ofWeight({6, 3, 32, 20, 3, 1, 1}), 787728);
  EXPECT_EQ(ofWeight({4, 3, 64, 64, 12, 12, 0}), 110592);
  EXPECT_EQ(ofWeight({4, 3, 64, 48, 16, 16, 0}), 639232 - 256) << "wide windows are one matrix for each image";
}

TEST_F(ConvolutionMemory, AWeightOfOneImageIsAProductWithItsWindows) {
  EXPECT_EQ(ofWeight({1, 16, 4, 16, 3, 2, 1}), 2304);
  EXPECT_EQ(ofWeight({1, 3, 32, 16, 3, 1, 1}), 110592);
  EXPECT_EQ(ofWeight({1, 32, 32, 64, 3, 1, 1}), 393216) << "a large image is laid out in blocks";
}

TEST_F(ConvolutionMemory, WindowsOfOneElementAreProducts) {
  EXPECT_EQ(ofWeight({6, 16, 32, 16, 1, 1, 0}), 0);
  EXPECT_EQ(ofInput({6, 16, 32, 16, 1, 1, 0}), 0);
  EXPECT_EQ(ofWeight({6, 16, 32, 16, 1, 2, 0}), 508032 - 128) << "with a stride what they read is drawn together";
  EXPECT_EQ(ofWeight({2, 32, 16, 64, 1, 1, 0, 2}), 98304) << "groups one after the other";
}

TEST_F(ConvolutionMemory, GroupsThatFillNoBlocksAreMultipliedOneByOne) {
  EXPECT_EQ(ofWeight({2, 12, 16, 12, 3, 1, 1, 12}), 65680) << "a window for each feature is a group of its own";
  EXPECT_EQ(ofWeight({4, 48, 14, 48, 5, 1, 2, 48}), 39056 - 256);
  EXPECT_EQ(ofWeight({2, 16, 16, 16, 3, 2, 1, 2}), 40960);
  EXPECT_EQ(ofWeight({2, 6, 16, 9, 3, 1, 1, 3}), 21280 - 256);
  EXPECT_EQ(ofInput({2, 32, 16, 64, 3, 1, 1, 2}), 167936);
}

TEST_F(ConvolutionMemory, AnInputIsMadeInBlocks) {
  EXPECT_EQ(ofInput({6, 3, 32, 20, 3, 1, 1}), 1124352);
  EXPECT_EQ(ofInput({6, 16, 32, 3, 3, 1, 1}), 402432);
  EXPECT_EQ(ofInput({6, 3, 32, 16, 3, 2, 1}), 160792 - 24) << "the gradient of one image is padded";
  EXPECT_EQ(ofInput({6, 1, 32, 16, 4, 4, 0}), 77848 - 24);
}

TEST_F(ConvolutionMemory, HalfTypesAreAddedUpInFloat) {
  EXPECT_NEAR(ofWeight({2, 16, 16, 16, 3, 1, 1, 1, "bf16"}), 67972, 2048);
  EXPECT_NEAR(ofWeight({4, 3, 64, 64, 12, 12, 0, 1, "bf16"}), 135812, 2048);
  EXPECT_NEAR(ofWeight({4, 64, 14, 64, 3, 1, 1, 4, "bf16"}), 299908, 4096);
  EXPECT_EQ(ofInput({2, 20, 16, 24, 1, 1, 0, 1, "bf16"}), 80000 - 128);
}

//===----------------------------------------------------------------------===//
// Rows: losses, tables, norms
//===----------------------------------------------------------------------===//

constexpr char loss[] = "{gradient = #base.operand<0>, input = #base.operand<1>, target = #base.operand<2>, "
                        "max = #base.operand<3>, sum_exp = #base.operand<4>, ignore_index = -100, classes = 12}";

TEST_F(GradientRecords, ALossDividesRowsAndClasses) {
  constexpr char types[] = "(tensor<6xf32>, tensor<6x12xf32>, tensor<6xi64>, tensor<6xf32>, tensor<6xf32>) "
                           "-> tensor<6x12xf32>";
  EXPECT_EQ(rule("meshplan.row_loss_gradient", loss, types), "[a], [a, b], [a], [a], [a] -> [a, b]; a=6 b=12");
  EXPECT_EQ(linearity("meshplan.row_loss_gradient", loss, types), "{0}");
  FactorRule known = record("meshplan.row_loss_gradient").rule(parse("meshplan.row_loss_gradient", loss, types));
  EXPECT_TRUE(known.factors[known.results[0].dims[1].front()].isCounted) << "a target names its class by number";
}

TEST_F(GradientRecords, ALossKnowsTheFirstClassOfTheRank) {
  constexpr char types[] = R"((tensor<6xf32>, tensor<6x12xf32, #plan.sharding<[{}, {"tp"}]>>, tensor<6xi64>,
                               tensor<6xf32>, tensor<6xf32>) -> tensor<6x12xf32, #plan.sharding<[{}, {"tp"}]>>)";
  EXPECT_EQ(local("meshplan.row_loss_gradient", loss, types),
            "meshplan.row_loss_gradient {classes = 12 : i64, gradient = #base.operand<0>, ignore_index = -100 : i64, "
            "input = #base.operand<1>, max = #base.operand<3>, "
            "offset = #base.local<0, operand 1, dim 1, offset 1>, sum_exp = #base.operand<4>, "
            "target = #base.operand<2>}");
  constexpr char whole[] = R"((tensor<6xf32>, tensor<6x12xf32, #plan.sharding<[{"tp"}, {}]>>, tensor<6xi64>,
                               tensor<6xf32>, tensor<6xf32>) -> tensor<6x12xf32, #plan.sharding<[{"tp"}, {}]>>)";
  EXPECT_EQ(local("meshplan.row_loss_gradient", loss, whole).find("offset"), std::string::npos);
}

/// For 512 rows, as metered by PyTorch's allocator: 23 bytes per row, and blocks of 131 rows of 500 columns if the
/// result has a half type.
TEST_F(GradientRecords, ALossIsComputedInItsResult) {
  auto workspace = [this](llvm::StringRef type, llvm::StringRef more) {
    std::string types =
        ("(tensor<512x" + type + ">, tensor<512x500x" + type + ">, tensor<512xi64>, tensor<512x" + type +
         ">, tensor<512x" + type + ">, tensor<500x" + type + ">) -> tensor<512x500x" + type + ">")
            .str();
    std::string args = (llvm::StringRef(loss).drop_back() + more + "}").str();
    return cost("meshplan.row_loss_gradient", args, types).workspaceBytes;
  };
  EXPECT_EQ(workspace("f32", ""), 512 * 23);
  EXPECT_EQ(workspace("bf16", ""), 512 * 23 + 65536 * 4);
  EXPECT_EQ(workspace("f64", ""), 512 * 35);
  EXPECT_EQ(workspace("f32", ", label_smoothing = 0.1"), 512 * 39);
  EXPECT_EQ(workspace("f32", ", label_smoothing = 0.1, class_weight = #base.operand<5>"), 512 * 39 + 65536 * 4);
}

constexpr char table[] = "{gradient = #base.operand<0>, indices = #base.operand<1>, weight = #base.operand<2>, "
                         "padding_idx = -1}";

TEST_F(GradientRecords, ATableIsSummedOverAllIndices) {
  constexpr char types[] = "(tensor<2x4x8xf32>, tensor<2x4xi64>, tensor<24x8xf32>) -> tensor<24x8xf32>";
  EXPECT_EQ(rule("meshplan.embedding_gradient", table, types),
            "[a, b, c], [a, b], [d, c] -> [d, c]; a=2:sum b=4:sum c=8 d=24");
  EXPECT_EQ(linearity("meshplan.embedding_gradient", table, types), "{0}");
  EXPECT_EQ(
      rule("meshplan.embedding_gradient", table, "(tensor<8xf32>, tensor<i64>, tensor<24x8xf32>) -> tensor<24x8xf32>"),
      "[a], [], [b, a] -> [b, a]; a=8 b=24");
}

/// The frequency of an index depends on all indices.
TEST_F(GradientRecords, FrequenciesHoldAllIndices) {
  EXPECT_EQ(rule("meshplan.embedding_gradient",
                 "{gradient = #base.operand<0>, indices = #base.operand<1>, weight = #base.operand<2>, "
                 "padding_idx = -1, scale_grad_by_freq = true}",
                 "(tensor<4x8xf32>, tensor<4xi64>, tensor<24x8xf32>) -> tensor<24x8xf32>"),
            "[a, b], [c], [d, b] -> [d, b]; a=4:whole b=8 c=4:whole d=24");
}

TEST_F(GradientRecords, ATableKnowsTheFirstRowOfTheRank) {
  EXPECT_EQ(local("meshplan.embedding_gradient", table,
                  R"((tensor<4x8xf32>, tensor<4xi64>, tensor<24x8xf32, #plan.sharding<[{"tp"}, {}]>>)
                     -> tensor<24x8xf32, #plan.sharding<[{"tp"}, {}]>>)"),
            "meshplan.embedding_gradient {gradient = #base.operand<0>, indices = #base.operand<1>, "
            "offset = #base.local<0, operand 2, dim 0, offset 1>, padding_idx = -1 : i64, weight = #base.operand<2>}");
}

TEST_F(GradientRecords, NormsHoldWhatTheyNormalize) {
  constexpr char args[] = "{gradient = #base.operand<0>, input = #base.operand<1>, normalized_shape = [6, 8], "
                          "weight = #base.operand<2>}";
  for (llvm::StringRef kernel : {"layer_norm", "rms_norm"}) {
    std::string input = ("meshplan." + kernel + "_input_gradient").str(),
                weight = ("meshplan." + kernel + "_weight_gradient").str();
    constexpr char types[] = "(tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<6x8xf32>) -> tensor<2x4x6x8xf32>";
    EXPECT_EQ(rule(input, args, types),
              "[a, b, c, d], [a, b, e, f], [g, h] -> [a, b, i, j]; a=2 b=4 c=6:whole d=8:whole e=6:whole f=8:whole "
              "g=6:whole h=8:whole i=6:whole j=8:whole");
    EXPECT_EQ(linearity(input, args, types), "{0}");
    constexpr char sums[] = "(tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<6x8xf32>";
    constexpr char two[] = "{gradient = #base.operand<0>, input = #base.operand<1>, normalized_shape = [6, 8]}";
    EXPECT_EQ(rule(weight, two, sums), "[a, b, c, d], [a, b, e, f] -> [g, h]; a=2:sum b=4:sum c=6:whole d=8:whole "
                                       "e=6:whole f=8:whole g=6:whole h=8:whole");
    EXPECT_EQ(linearity(weight, two, sums), "{0}");
  }
}

TEST_F(GradientRecords, RowsCostTheirElements) {
  OpCost norm = cost("meshplan.rms_norm_input_gradient",
                     "{gradient = #base.operand<0>, input = #base.operand<1>, normalized_shape = [8]}",
                     "(tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>");
  EXPECT_EQ(norm.bytes, 4 * 3 * 4 * 8);
  EXPECT_GE(norm.workspaceBytes, 4 * 8) << "two statistics of each row";
  OpCost embedding = cost("meshplan.embedding_gradient", table,
                          "(tensor<4x8xf32>, tensor<4xi64>, tensor<24x8xf32>) -> tensor<24x8xf32>");
  EXPECT_EQ(embedding.flops, 4 * 8) << "each element of the gradient is added once, however long the table";
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

constexpr char attentionOperands[] = "gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, "
                                     "value = #base.operand<3>";

std::string attentionWith(llvm::StringRef more) { return ("{" + llvm::Twine(attentionOperands) + more + "}").str(); }

/// All sizes are 1 except for batch and heads.
std::string attentionGradientTypes(int64_t heads, int64_t groups, int64_t made) {
  auto tensor = [](int64_t number) { return "tensor<2x" + std::to_string(number) + "x1x1xf32>"; };
  return "(" + tensor(heads) + ", " + tensor(heads) + ", " + tensor(groups) + ", " + tensor(groups) + ") -> (" +
         tensor(heads) + ", " + tensor(made) + ", " + tensor(made) + ")";
}

TEST_F(GradientRecords, HeadsShareTheGradientsOfTheirKeys) {
  EXPECT_EQ(rule("meshplan.attention_backward", attentionWith(""), attentionGradientTypes(6, 2, 2)),
            "[a, b, 1, 1], [a, b, 1, 1], [a, b/3, 1, 1], [a, b/3, 1, 1] -> "
            "[a, b, 1, 1], [a, b/3, 1, 1], [a, b/3, 1, 1]; a=2 b=6");
}

/// With a single key head, its gradient has no dim that could state that ranks have addends.
TEST_F(GradientRecords, TheOnlyKeyHeadHoldsAllHeads) {
  EXPECT_EQ(rule("meshplan.attention_backward", attentionWith(""), attentionGradientTypes(6, 1, 1)),
            "[a, b, 1, 1], [a, c, 1, 1], [a, 1, 1, 1], [a, 1, 1, 1] -> [a, d, 1, 1], [a, 1, 1, 1], [a, 1, 1, 1]; "
            "a=2 b=6:whole c=6:whole d=6:whole");
  EXPECT_EQ(rule("meshplan.attention_backward", attentionWith(", per_head = true"), attentionGradientTypes(6, 1, 6)),
            "[a, b, 1, 1], [a, b, 1, 1], [a, 1, 1, 1], [a, 1, 1, 1] -> "
            "[a, b, 1, 1], [a, b, 1, 1], [a, b, 1, 1]; a=2 b=6");
}

/// Each query reads all keys: sequence and head size are whole.
TEST_F(GradientRecords, SequencesOfAttentionAreWhole) {
  FactorRule known = record("meshplan.attention_backward")
                         .rule(parse("meshplan.attention_backward", attentionWith(""),
                                     "(tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>, "
                                     "tensor<1x1x8x4xf32>) -> "
                                     "(tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>)"));
  EXPECT_FALSE(known.factors.empty());
  EXPECT_TRUE(llvm::all_of(known.factors, [](Factor factor) { return factor.kind == FactorKind::whole; }));
}

TEST_F(GradientRecords, ApartEveryHeadHasItsOwn) {
  EXPECT_EQ(rule("meshplan.attention_backward", attentionWith(", per_head = true"), attentionGradientTypes(6, 2, 6)),
            "[a, b, 1, 1], [a, b, 1, 1], [a, b/3, 1, 1], [a, b/3, 1, 1] -> "
            "[a, b, 1, 1], [a, b, 1, 1], [a, b, 1, 1]; a=2 b=6");
}

TEST_F(GradientRecords, AMaskOfAllHeadsIsSummed) {
  auto mask = [&](const char *type) {
    return rule(
        "meshplan.attention_mask_gradient", attentionWith(", mask = #base.operand<4>"),
        (llvm::StringRef(attentionGradientTypes(6, 2, 2)).split(") ->").first + ", " + type + ") -> " + type).str());
  };
  constexpr char others[] = "[a, b, 1, 1], [a, b, 1, 1], [a, b/3, 1, 1], [a, b/3, 1, 1], ";
  EXPECT_EQ(mask("tensor<2x6x1x1xf32>"), std::string(others) + "[a, b, 1, 1] -> [a, b, 1, 1]; a=2 b=6");
  EXPECT_EQ(mask("tensor<1x6x1x1xf32>"), std::string(others) + "[1, b, 1, 1] -> [1, b, 1, 1]; a=2:sum b=6");
  EXPECT_EQ(mask("tensor<2x1x1x1xf32>"), std::string(others) + "[a, 1, 1, 1] -> [a, 1, 1, 1]; a=2 b=6:sum");
  EXPECT_EQ(mask("tensor<1x1x1x1xf32>"), std::string(others) + "[1, 1, 1, 1] -> [1, 1, 1, 1]; a=2:sum b=6:sum");
}

TEST_F(GradientRecords, SharedHeadsAreSummed) {
  constexpr char args[] = "{input = #base.operand<0>, groups = 2, heads_per_group = 3}";
  constexpr char types[] = "(tensor<2x6x8x4xf32>) -> tensor<2x2x8x4xf32>";
  EXPECT_EQ(rule("meshplan.sum_shared_heads", args, types),
            "[a, b, c, d] -> [a, e, c, d]; a=2 b=6:sum c=8 d=4 e=2:whole");
  EXPECT_EQ(linearity("meshplan.sum_shared_heads", args, types), "{0}");
  EXPECT_EQ(local("meshplan.sum_shared_heads", args,
                  R"((tensor<2x6x8x4xf32, #plan.sharding<[{}, {"tp"}, {}, {}]>>)
                     -> tensor<2x2x8x4xf32, #plan.sharding<[{}, {}, {}, {}], partial = sum {"tp"}>>)"),
            "meshplan.sum_shared_heads {first_head = #base.local<0, operand 0, dim 1, offset 1>, groups = 2 : i64, "
            "heads_per_group = 3 : i64, input = #base.operand<0>}");
}

TEST_F(GradientRecords, AttentionGivesSharedSumsApart) {
  auto split = [&](llvm::StringRef more, int64_t groups) {
    CallView call =
        parse("meshplan.attention_backward", attentionWith(more), attentionGradientTypes(6, groups, groups));
    return record(call.target).splitSharedSums(call);
  };
  std::optional<SharedSums> sums = split("", 2);
  ASSERT_TRUE(sums);
  EXPECT_EQ(sums->results, (llvm::SmallVector<unsigned, 2>{1, 2})) << "keys and values";
  EXPECT_EQ(sums->dim, 1u);
  EXPECT_EQ(sums->sharers, 3);
  EXPECT_EQ(sums->args.get("per_head"), mlir::BoolAttr::get(&context, true));
  EXPECT_EQ(sums->counter, 1u) << "the queries have all heads";
  EXPECT_FALSE(split(", per_head = true", 2)) << "once";
  EXPECT_FALSE(split("", 6)) << "each head has its own keys";
}

/// If ranks share key heads, the kernel gets the number of the first one.
TEST_F(GradientRecords, SharedKeysAreToldByTheirFirst) {
  auto types = [](const char *repeat) {
    std::string heads = R"(tensor<2x4x1x1xf32, #plan.sharding<[{}, {"tp"}, {}, {}]>>)";
    std::string keys = std::string(R"(tensor<2x2x1x1xf32, #plan.sharding<[{}, {"tp")") + repeat + "}, {}, {}]>>";
    std::string all = "(" + heads + ", " + heads + ", " + keys + ", " + keys + ") -> (";
    return all + heads + ", " + heads + ", " + heads + ")";
  };
  EXPECT_EQ(local("meshplan.attention_backward", attentionWith(""), types(", repeat 2")),
            "meshplan.attention_backward {first_head = #base.local<0, operand 1, dim 1, offset 1>, "
            "first_key_head = #base.local<0, operand 2, dim 1, offset 1>, gradient = #base.operand<0>, "
            "heads_per_key = 2 : i64, key = #base.operand<2>, query = #base.operand<1>, value = #base.operand<3>}");
  EXPECT_EQ(local("meshplan.attention_backward", attentionWith(""), types("")).find("first_head"), std::string::npos);
}

TEST_F(GradientRecords, AttentionCostsFiveProductsOfTheScores) {
  constexpr char types[] = "(tensor<2x6x8x4xf32>, tensor<2x6x8x4xf32>, tensor<2x6x8x4xf32>, tensor<2x6x8x4xf32>) -> "
                           "(tensor<2x6x8x4xf32>, tensor<2x6x8x4xf32>, tensor<2x6x8x4xf32>)";
  int64_t scores = 2 * 6 * 8 * 8;
  EXPECT_EQ(cost("meshplan.attention_backward", attentionWith(""), types).flops, 5 * 2 * scores * 4);
  EXPECT_EQ(cost("meshplan.attention_backward", attentionWith(", causal = true"), types).flops, 5 * scores * 4);
}

} // namespace
