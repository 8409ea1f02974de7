//===- convolution.cpp - records of convolutions --------------------------===//
//
// input [batch, in, positions..], weight [out, in / groups, window..], bias
// [out], result [batch, out, positions..]; transposed convolutions have the
// weight [in, out / groups, window..]. Without the batch dim the input is a
// single sample.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/families/convolutions.h"
#include "compiler/sharding/record_support/convolution_memory.h"
#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/grouped_features.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/windows.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

namespace {
/// The tensors of a call that fits its schema.
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
  conv.groups = groupCount(call);
  bool fits = conv.windowDims >= 1 && conv.groups >= 1 && conv.input.getRank() == conv.result.getRank() &&
              (conv.input.getRank() == conv.windowDims + 1 || conv.input.getRank() == conv.windowDims + 2);
  return fits ? std::optional(conv) : std::nullopt;
}

/// The window of the window dim `index`; nullopt if the arguments do not give it in numbers ("same").
static std::optional<Window> windowOf(const CallView &call, const ConvolutionDims &conv, unsigned index) {
  std::optional<int64_t> stride = windowArgument(call, "stride", index, conv.windowDims, 1),
                         padding = windowArgument(call, "padding", index, conv.windowDims, 0),
                         dilation = windowArgument(call, "dilation", index, conv.windowDims, 1);
  if (!stride || !padding || !dilation || isa_and_present<StringAttr>(call.get("padding")) || call.get("mode"))
    return std::nullopt;
  return Window{conv.weight[2 + index].size, *stride, *padding, *dilation};
}

/// Every group reads and computes its own features. The number of groups of a rank follows from the input features of a
/// group. In a transposed convolution the weight does not give this number, so it is whole.
static void tieFeatures(RuleBuilder &builder, const ConvolutionDims &conv, bool transposed) {
  bool fits = conv.groups > 0 && conv.in().size % conv.groups == 0 && conv.out().size % conv.groups == 0;
  if (!fits)
    return;
  GroupedFeatures features(builder, conv.groups);
  SmallVector<DimRef> made{conv.out()};
  if (conv.bias)
    made.push_back(conv.bias[0]);
  if (!transposed) {
    features.tie({conv.in()}, {conv.weight[1]}, FactorKind::sum);
    made.push_back(conv.weight[0]);
    return features.tie(made, {}, FactorKind::parallel);
  }
  features.tie({conv.in(), conv.weight[0]}, {}, conv.groups == 1 ? FactorKind::sum : FactorKind::whole);
  features.tie(made, {conv.weight[1]}, FactorKind::parallel);
}

static FactorRule convolutionRule(const CallView &call) {
  RuleBuilder builder(call);
  std::optional<ConvolutionDims> conv = readConvolution(builder, call);
  if (!conv)
    return builder.finish();
  bool transposed = isTransposedConvolution(call);
  if (conv->input.getRank() == conv->windowDims + 2)
    builder.tie({conv->input[0], conv->result[0]});
  tieFeatures(builder, *conv, transposed);
  for (int64_t index = 0; index < conv->windowDims && !transposed; ++index)
    if (std::optional<Window> window = windowOf(call, *conv, index))
      tieWindows(builder, conv->input[index - conv->windowDims], conv->result[index - conv->windowDims], *window);
  return builder.finish();
}

static Linearity convolutionLinearity(const CallView &call) {
  return call.getOperand("bias") ? linearIn(call, {{"input", "bias"}, {"weight", "bias"}})
                                 : linearIn(call, {{"input"}, {"weight"}});
}

/// Number of elements of an operand, divided by the size of its dim `dim`.
static int64_t elementsBut(const CallView &call, StringRef name, int64_t dim) {
  std::optional<unsigned> operand = call.getOperand(name);
  if (!operand || call.operands[*operand].getRank() <= dim)
    return 0;
  RankedTensorType type = call.operands[*operand];
  return type.getNumElements() / std::max<int64_t>(1, type.getDimSize(dim));
}

/// The type with a batch of one if it is a single sample.
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

int64_t transposedGradientBytes(const CallView &call, ArrayRef<unsigned> wanted) {
  std::optional<Convolution> forward = isTransposedConvolution(call) ? convolutionOf(call) : std::nullopt;
  if (!forward)
    return 0;
  Convolution backward = *forward;
  backward.kind = ConvolutionKind::direct;
  std::swap(backward.source, backward.result);
  backward.isSourceChannelsLast = false;
  // The gradient of the input is a direct convolution of that of the result; that of the weight has a kernel of its own.
  auto wants = [&](StringRef name) {
    std::optional<unsigned> operand = call.getOperand(name);
    return operand && llvm::is_contained(wanted, *operand);
  };
  return std::max(wants("input") ? convolutionBytes(backward) : 0, wants("weight") ? weightGradientBytes(backward) : 0);
}

/// Each element of the result is a sum over the window and the features of its group. In a transposed convolution each
/// element of the input contributes to as many elements.
static OpCost convolutionCost(const CallView &call) {
  OpCost cost = copyCost(call);
  int64_t terms = elementsBut(call, "weight", 0);
  int64_t sums =
      isTransposedConvolution(call) ? call.operands.front().getNumElements() : call.results.front().getNumElements();
  cost.flops = 2 * sums * terms;
  // The kernels multiply the patches of all windows, group by group, with the weight.
  std::optional<unsigned> weight = call.getOperand("weight");
  bool hasFeatures = weight && call.operands[*weight].getRank() > 0;
  int64_t groups = groupCount(call), features = hasFeatures ? call.operands[*weight].getShape().front() : 0;
  if (groups > 0 && features >= groups)
    cost.product = ProductExtents{sums / features, features / groups, terms, groups};
  cost.workspaceBytes = imageBytes(call, "input") + kernelBytes(call);
  return cost;
}

/// One integer for each window dim.
static Attribute windowList(const CallView &call, StringRef name, int64_t dims, int64_t otherwise) {
  SmallVector<Attribute> numbers;
  for (int64_t index = 0; index < dims; ++index)
    numbers.push_back(
        intLiteral(call.args.getContext(), windowArgument(call, name, index, dims, otherwise).value_or(otherwise)));
  return ArrayAttr::get(call.args.getContext(), numbers);
}

/// A rank has some of the groups.
static LocalCall localizeGroups(const CallView &call, plan::MeshOp) {
  std::optional<unsigned> input = call.getOperand("input"), weight = call.getOperand("weight");
  int64_t groups = groupCount(call);
  if (groups == 1 || !input || !weight || call.target == groupedConvolution)
    return unchanged(call);
  RankedTensorType inputType = call.operands[*input];
  int64_t dims = call.operands[*weight].getRank() - 2, features = inputType.getRank() - 1 - dims;
  if (!isDivided(inputType, features) && !isDivided(call.results.front(), features))
    return unchanged(call);
  NamedAttrList args;
  for (StringRef name : {"input", "weight", "bias"})
    if (call.getOperand(name))
      args.set(name, call.get(name));
  args.set("stride", windowList(call, "stride", dims, 1));
  args.set("dilation", windowList(call, "dilation", dims, 1));
  if (isa_and_present<StringAttr>(call.get("padding")))
    args.set("mode", call.get("padding"));
  else
    args.set("padding", windowList(call, "padding", dims, 0));
  if (isTransposedConvolution(call)) {
    args.set("transposed", BoolAttr::get(call.args.getContext(), true));
    args.set("output_padding", windowList(call, "output_padding", dims, 0));
    args.set("group_inputs", intLiteral(call.args.getContext(), inputType.getDimSize(features) / groups));
  }
  return {groupedConvolution.str(), args.getDictionary(call.args.getContext())};
}

/// The bias [out] is added after the convolution, viewed as [out, 1..] to align with its dim.
static std::optional<AddendSplit> splitChannelBias(const CallView &call) {
  std::optional<unsigned> bias = call.getOperand("bias"), weight = call.getOperand("weight");
  if (!bias || !weight || call.operands[*weight].getRank() < 2)
    return std::nullopt;
  SmallVector<int64_t, 4> shape(call.operands[*weight].getRank() - 1, 1);
  shape.front() = call.operands[*bias].getNumElements();
  return AddendSplit{withoutOperand(call, call.target, "bias"), *bias, shape};
}

void addConvolutionRecords(OpRegistry &registry) {
  for (StringRef target : std::initializer_list<StringRef>{
           "aten.conv1d.default", "aten.conv2d.default", "aten.conv3d.default", "aten.conv1d.padding",
           "aten.conv2d.padding", "aten.conv3d.padding", "aten.convolution.default", "aten.conv_transpose1d.default",
           "aten.conv_transpose2d.input", "aten.conv_transpose3d.input", groupedConvolution})
    registry.add({.target = target,
                  .rule = convolutionRule,
                  .linearity = convolutionLinearity,
                  .cost = convolutionCost,
                  .strides = likeImage,
                  .localize = localizeGroups,
                  .localizesArguments = true,
                  .splitAddend = splitChannelBias});
}

} // namespace meshplan
