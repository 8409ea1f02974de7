//===- convolutions.cpp - how convolutions read their weight --------------===//

#include "compiler/sharding/calls/convolutions.h"

using namespace mlir;
using namespace meshplan;

bool meshplan::isTransposedConvolution(const CallView &call) {
  return call.target.starts_with("aten.conv_transpose") || call.getBool("transposed", false);
}

std::optional<ConvolutionForm> meshplan::convolutionForm(const CallView &call) {
  bool isConvolution = llvm::any_of(
      ArrayRef<StringRef>{"aten.conv1d.", "aten.conv2d.", "aten.conv3d.", "aten.conv_transpose", "aten.convolution."},
      [&](StringRef target) { return call.target.starts_with(target); });
  std::optional<unsigned> weight = call.getOperand("weight");
  if (!isConvolution || !weight || call.operands[*weight].getRank() < 3)
    return std::nullopt;
  ConvolutionForm form{*weight, call.getInt("groups", 1), isTransposedConvolution(call)};
  bool fits = form.groups >= 1 && call.operands[*weight].getDimSize(0) % form.groups == 0;
  return fits ? std::optional(form) : std::nullopt;
}
