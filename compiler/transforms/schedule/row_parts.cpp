//===- row_parts.cpp - parts of an operation by rows ----------------------===//

#include "compiler/transforms/schedule/row_parts.h"

using namespace mlir;

namespace meshplan {

RankedTensorType partType(Type whole, unsigned dim, unsigned count) {
  auto type = cast<RankedTensorType>(whole);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= count;
  return RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
}

Strides stridesOnRank(Value value, unsigned rankClass, LayoutTable &layouts, const StrideTable &strides) {
  auto entry = strides.find(value);
  return entry == strides.end() ? contiguousStrides(layouts.get(value.getType()).local[rankClass].getShape())
                                : entry->second[rankClass];
}

CallView viewOnRank(plan::CallOp call, unsigned rankClass, LayoutTable &layouts, const StrideTable &strides,
                    const Part *part) {
  auto local = [&](Type whole, std::optional<unsigned> rows) {
    return layouts.get(part && rows ? partType(whole, *rows, part->count) : whole).local[rankClass];
  };
  CallView view{call.getTarget(), call.getArgs(), {}, {}, {}};
  for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
    view.operands.push_back(local(operand.getType(), part ? part->dims.operands[index] : std::nullopt));
    // A range of rows has the strides of the whole.
    view.strides.push_back(stridesOnRank(operand, rankClass, layouts, strides));
  }
  for (Type type : call.getResultTypes())
    view.results.push_back(local(type, part ? std::optional(part->dims.result) : std::nullopt));
  return view;
}

} // namespace meshplan
