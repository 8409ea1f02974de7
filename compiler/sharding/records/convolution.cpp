//===- convolution.cpp - records of convolutions --------------------------===//
//
// input [batch, in, places..], weight [out, in / groups, window..], bias [out],
// result [batch, out, places..]; transposed ones have weight [in, out / groups,
// window..]. Without the batch dim the input is one sample.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/calls/convolutions.h"
#include "compiler/sharding/record_support/convolution_memory.h"
#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/windows.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

namespace {
/// A call that fits its schema.
struct ConvolutionDims {
  TensorRef input, weight, bias, result;
  int64_t windowDims = 0;
  int64_t groups = 1;

  DimRef in() const { return input[-1 - windowDims]; }
  DimRef out() const { return result[-1 - windowDims]; }
};
} // namespace

static std::optional<ConvolutionDims> readConvolution(RuleBuilder &builder, const CallView &call) {
  ConvolutionDims conv{builder.operand("input"), builder.operand("weight"), builder.operand("bias"), builder.result()};
  conv.windowDims = conv.weight.getRank() - 2;
  conv.groups = call.getInt("groups", 1);
  bool fits = conv.windowDims >= 1 && conv.groups >= 1 && conv.input.getRank() == conv.result.getRank() &&
              (conv.input.getRank() == conv.windowDims + 1 || conv.input.getRank() == conv.windowDims + 2);
  return fits ? std::optional(conv) : std::nullopt;
}

/// Window of dim `index` of those that have one, or nullopt if the arguments do not say it in numbers ("same").
static std::optional<Window> windowOf(const CallView &call, const ConvolutionDims &conv, unsigned index) {
  std::optional<int64_t> stride = windowArgument(call, "stride", index, conv.windowDims, 1),
                         padding = windowArgument(call, "padding", index, conv.windowDims, 0),
                         dilation = windowArgument(call, "dilation", index, conv.windowDims, 1);
  if (!stride || !padding || !dilation || isa_and_present<StringAttr>(call.get("padding")))
    return std::nullopt;
  return Window{conv.weight[2 + index].size, *stride, *padding, *dilation};
}

/// Every group reads its own features and makes its own. Ranks with some of the groups need their number, which is an
/// extent only if a group has one feature on either side.
static void tieGroups(RuleBuilder &builder, const ConvolutionDims &conv) {
  int64_t in = conv.in().size, out = conv.out().size;
  if ((in != conv.groups && out != conv.groups) || in % conv.groups != 0 || out % conv.groups != 0)
    return;
  unsigned group = builder.add(conv.groups);
  unsigned inRest = builder.add(in / conv.groups, FactorKind::whole);
  unsigned outRest = builder.add(out / conv.groups, FactorKind::whole);
  auto append = [&](DimRef dim, unsigned rest) {
    builder.append(dim, group);
    if (dim.size > conv.groups)
      builder.append(dim, rest);
  };
  append(conv.in(), inRest);
  append(conv.out(), outRest);
  append(conv.weight[0], outRest);
  if (conv.bias)
    append(conv.bias[0], outRest);
  if (in > conv.groups)
    builder.append(conv.weight[1], inRest);
}

static FactorRule convolutionRule(const CallView &call) {
  RuleBuilder builder(call);
  std::optional<ConvolutionDims> conv = readConvolution(builder, call);
  if (!conv)
    return builder.finish();
  bool transposed = isTransposedConvolution(call);
  if (conv->input.getRank() == conv->windowDims + 2)
    builder.tie({conv->input[0], conv->result[0]});
  if (conv->groups == 1) {
    builder.tie({conv->in(), conv->weight[transposed ? 0 : 1]}, FactorKind::sum);
    SmallVector<DimRef> made{conv->out(), conv->weight[transposed ? 1 : 0]};
    if (conv->bias)
      made.push_back(conv->bias[0]);
    builder.tie(made);
  } else if (!transposed) {
    tieGroups(builder, *conv);
  }
  for (int64_t index = 0; index < conv->windowDims && !transposed; ++index)
    if (std::optional<Window> window = windowOf(call, *conv, index))
      tieWindows(builder, conv->input[index - conv->windowDims], conv->result[index - conv->windowDims], *window);
  return builder.finish();
}

static Linearity convolutionLinearity(const CallView &call) {
  return call.getOperand("bias") ? linearIn(call, {{"input", "bias"}, {"weight", "bias"}})
                                 : linearIn(call, {{"input"}, {"weight"}});
}

/// Elements of an operand, without those of its dim `dim`.
static int64_t elementsBut(const CallView &call, StringRef name, int64_t dim) {
  std::optional<unsigned> operand = call.getOperand(name);
  if (!operand || call.operands[*operand].getRank() <= dim)
    return 0;
  RankedTensorType type = call.operands[*operand];
  return type.getNumElements() / std::max<int64_t>(1, type.getDimSize(dim));
}

/// The type with a batch of one where it is a sample.
static RankedTensorType inBatch(RankedTensorType type, int64_t rank) {
  if (type.getRank() == rank)
    return type;
  SmallVector<int64_t> shape{1};
  llvm::append_range(shape, type.getShape());
  return RankedTensorType::get(shape, type.getElementType());
}

/// nullopt for calls that do not fit their schema.
static std::optional<Convolution> convolutionOf(const CallView &call) {
  std::optional<unsigned> inputIndex = call.getOperand("input"), weightIndex = call.getOperand("weight");
  if (!inputIndex || !weightIndex)
    return std::nullopt;
  RankedTensorType input = call.operands[*inputIndex], weight = call.operands[*weightIndex];
  int64_t rank = weight.getRank();
  bool fits = rank >= 3 && (input.getRank() == rank || input.getRank() == rank - 1) &&
              call.results.front().getRank() == input.getRank();
  if (!fits)
    return std::nullopt;
  Strides strides = call.getStrides(*inputIndex);
  Convolution convolution{
      .source = inBatch(input, rank), .weight = weight, .result = inBatch(call.results.front(), rank)};
  convolution.kind = isTransposedConvolution(call) ? ConvolutionKind::transposed : ConvolutionKind::direct;
  convolution.isSourceChannelsLast = StridedShape{input.getShape(), strides}.isChannelsLast();
  convolution.overlaps = false;
  for (unsigned index = 0; index < rank - 2; ++index) {
    int64_t stride = windowArgument(call, "stride", index, rank - 2, 1).value_or(1);
    convolution.isDense &= stride == 1;
    convolution.overlaps |= weight.getDimSize(2 + index) > stride;
  }
  return convolution;
}

static int64_t kernelBytes(const CallView &call) {
  std::optional<Convolution> convolution = convolutionOf(call);
  return convolution ? convolutionBytes(*convolution) : 0;
}

int64_t transposedGradientBytes(const CallView &call) {
  std::optional<Convolution> forward = isTransposedConvolution(call) ? convolutionOf(call) : std::nullopt;
  if (!forward)
    return 0;
  Convolution backward = *forward;
  backward.kind = ConvolutionKind::direct;
  std::swap(backward.source, backward.result);
  backward.isSourceChannelsLast = false;
  return std::max(convolutionBytes(backward), weightGradientBytes(backward));
}

/// Each element of the result is a sum over the window and the features of its group; of a transposed convolution each
/// element of the input goes into as many.
static OpCost convolutionCost(const CallView &call) {
  OpCost cost = copyCost(call);
  int64_t terms = elementsBut(call, "weight", 0);
  int64_t sums =
      isTransposedConvolution(call) ? call.operands.front().getNumElements() : call.results.front().getNumElements();
  cost.flops = 2 * sums * terms;
  cost.workspaceBytes = imageBytes(call, "input") + kernelBytes(call);
  return cost;
}

/// A rank has as many groups as features, on the side where a group has one.
static LocalCall localizeGroups(const CallView &call, plan::MeshOp) {
  std::optional<unsigned> input = call.getOperand("input"), weight = call.getOperand("weight");
  int64_t groups = call.getInt("groups", 1);
  if (groups == 1 || !input || !weight)
    return unchanged(call);
  int64_t features = call.operands[*input].getRank() + 1 - call.operands[*weight].getRank();
  if (!isDivided(call.operands[*input], features))
    return unchanged(call);
  bool ofResult = call.operands[*input].getDimSize(features) != groups;
  Attribute local = plan::LocalIntAttr::get(call.args.getContext(), 0, ofResult, ofResult ? 0 : *input, features, 0, 1);
  return {call.target.str(), withArg(call.args, "groups", local)};
}

/// The bias [out] is added behind, as [out, 1..] so that it meets its dim.
static std::optional<AddendSplit> splitBias(const CallView &call) {
  std::optional<unsigned> bias = call.getOperand("bias"), weight = call.getOperand("weight");
  if (!bias || !weight || call.operands[*weight].getRank() < 2)
    return std::nullopt;
  SmallVector<int64_t, 4> shape(call.operands[*weight].getRank() - 1, 1);
  shape.front() = call.operands[*bias].getNumElements();
  return AddendSplit{withoutOperand(call, call.target, "bias"), *bias, shape};
}

void addConvolutionRecords(OpRegistry &registry) {
  for (StringRef target :
       {"aten.conv1d.default", "aten.conv2d.default", "aten.conv3d.default", "aten.conv1d.padding",
        "aten.conv2d.padding", "aten.conv3d.padding", "aten.convolution.default", "aten.conv_transpose1d.default",
        "aten.conv_transpose2d.input", "aten.conv_transpose3d.input"})
    registry.add({.target = target,
                  .rule = convolutionRule,
                  .linearity = convolutionLinearity,
                  .cost = convolutionCost,
                  .strides = likeImage,
                  .localize = localizeGroups,
                  .localizesArguments = true,
                  .splitAddend = splitBias});
}

} // namespace meshplan
