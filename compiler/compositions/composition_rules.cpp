//===- composition_rules.cpp - the composition of each operator -----------===//

#include "compiler/compositions/composition_rules.h"
#include "compiler/sharding/record_support/rule_builder.h"

using namespace mlir;
using namespace meshplan;

const CompositionRule *meshplan::compositionOf(StringRef target) {
  static const CompositionTable table = [] {
    CompositionTable all;
    addExtremeCompositions(all);
    addNormCompositions(all);
    addIndexingCompositions(all);
    addSelectionCompositions(all);
    addSoftmaxCompositions(all);
    addSpreadCompositions(all);
    return all;
  }();
  auto found = table.find(target);
  return found == table.end() ? nullptr : &found->second;
}

std::optional<SmallVector<int64_t>> meshplan::dimsOf(const CallView &call, int64_t rank) {
  SmallVector<int64_t> listed = call.getInts("dim").value_or(SmallVector<int64_t>()), dims;
  if (isa_and_present<IntegerAttr>(call.get("dim")))
    listed.push_back(call.getInt("dim", 0));
  for (int64_t dim = 0; listed.empty() && dim < rank; ++dim)
    dims.push_back(dim);
  for (int64_t dim : listed) {
    dims.push_back(normalizeDim(dim, rank));
    if (dims.back() < 0 || dims.back() >= rank)
      return std::nullopt;
  }
  llvm::sort(dims);
  return dims;
}

std::optional<ComposedDims> meshplan::oneDim(const CallView &call, StringRef name, int64_t dim, int64_t exchanged) {
  std::optional<unsigned> operand = call.getOperand(name);
  int64_t rank = operand ? call.operands[*operand].getRank() : 0;
  int64_t own = normalizeDim(dim, rank);
  return own < 0 || own >= rank ? std::nullopt : severalDims(call, name, SmallVector<int64_t>{own}, exchanged);
}

std::optional<ComposedDims> meshplan::severalDims(const CallView &call, StringRef name,
                                                  std::optional<SmallVector<int64_t>> dims, int64_t exchanged) {
  std::optional<unsigned> operand = call.getOperand(name);
  if (!operand || !dims || dims->empty())
    return std::nullopt;
  ComposedDims composed;
  composed.operands = {*operand};
  composed.dims.assign(dims->begin(), dims->end());
  composed.exchanged = exchanged;
  return composed;
}

int64_t meshplan::elementsAlong(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  int64_t elements = 1;
  for (int64_t dim : dims)
    elements *= shape[dim];
  return elements;
}
