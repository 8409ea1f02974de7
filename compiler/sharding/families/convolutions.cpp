//===- convolutions.cpp - weights and groups of convolutions --------------===//

#include "compiler/sharding/families/convolutions.h"

using namespace mlir;
using namespace meshplan;

bool meshplan::isTransposedConvolution(const CallView &call) {
  return call.target.starts_with("aten.conv_transpose") || call.getBool("transposed", false);
}

int64_t meshplan::groupCount(const CallView &call) {
  std::optional<unsigned> input = call.getOperand("input"), weight = call.getOperand("weight");
  if (call.target != groupedConvolution)
    return call.getInt("groups", 1);
  if (!input || !weight || call.operands[*weight].getRank() < 2)
    return 0;
  RankedTensorType inputType = call.operands[*input], weightType = call.operands[*weight];
  int64_t features = inputType.getRank() + 1 - weightType.getRank();
  int64_t ofGroup = isTransposedConvolution(call) ? call.getInt("group_inputs", 0) : weightType.getDimSize(1);
  bool fits = features >= 0 && features < inputType.getRank() && ofGroup > 0;
  return fits ? inputType.getDimSize(features) / ofGroup : 0;
}

std::optional<ConvolutionForm> meshplan::convolutionForm(const CallView &call) {
  bool isConvolution = llvm::any_of(ArrayRef<StringRef>{"aten.conv1d.", "aten.conv2d.", "aten.conv3d.",
                                                        "aten.conv_transpose", "aten.convolution.", groupedConvolution},
                                    [&](StringRef target) { return call.target.starts_with(target); });
  std::optional<unsigned> weight = call.getOperand("weight");
  if (!isConvolution || !weight || call.operands[*weight].getRank() < 3)
    return std::nullopt;
  ConvolutionForm form{*weight, groupCount(call), isTransposedConvolution(call)};
  bool fits = form.groups >= 1 && call.operands[*weight].getDimSize(0) % form.groups == 0;
  return fits ? std::optional(form) : std::nullopt;
}
