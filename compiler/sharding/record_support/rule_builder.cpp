//===- rule_builder.cpp - builds a factor rule ----------------------------===//

#include "compiler/sharding/record_support/rule_builder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace meshplan {

int64_t normalizeDim(int64_t dim, int64_t rank) {
  int64_t dims = std::max<int64_t>(rank, 1);
  int64_t index = dim < 0 ? dim + dims : dim;
  return index >= 0 && index < dims ? index : -1;
}

DimRef TensorRef::operator[](int64_t dim) const {
  int64_t index = dim < 0 ? dim + getRank() : dim;
  if (!factors || index < 0 || index >= getRank())
    return {};
  return {factors, static_cast<unsigned>(index), shape[index], ofResult};
}

RuleBuilder::RuleBuilder(const CallView &call) : call(call) {
  for (RankedTensorType type : call.operands)
    rule.operands.emplace_back().dims.resize(type.getRank());
  for (RankedTensorType type : call.results)
    rule.results.emplace_back().dims.resize(type.getRank());
}

TensorRef RuleBuilder::operand(std::optional<unsigned> index) {
  if (!index || *index >= call.operands.size())
    return {};
  return {rule.operands[*index], call.operands[*index].getShape(), false};
}

TensorRef RuleBuilder::result(unsigned index) {
  if (index >= call.results.size())
    return {};
  return {rule.results[index], call.results[index].getShape(), true};
}

void RuleBuilder::tie(ArrayRef<DimRef> dims, FactorKind kind) {
  int64_t size = 1;
  bool inResult = false;
  for (const DimRef &dim : dims) {
    // An absent argument, or a dim that is broadcast: any sharding of the other dims fits it.
    if (!dim.tensor || dim.size == 1)
      continue;
    // The call does not fit its schema. Its dims get no factor in common and stay whole.
    if (size != 1 && dim.size != size)
      return;
    size = dim.size;
    inResult |= dim.ofResult;
  }
  // A parallel factor that no result has would divide the operands while every rank has the whole result, which then
  // would be wrong on all of them. `finish` makes these dims whole.
  if (size == 1 || (kind == FactorKind::parallel && !inResult))
    return;
  unsigned factor = add(size, kind);
  // One operand may be the value of several arguments, as for both states of a cell.
  for (const DimRef &dim : dims)
    if (dim.size == size && dim.tensor && !llvm::is_contained(dim.tensor->dims[dim.dim], factor))
      append(dim, factor);
}

void RuleBuilder::tieAligned(ArrayRef<int64_t> except) {
  int64_t rank = result().getRank();
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (llvm::is_contained(except, dim))
      continue;
    SmallVector<DimRef> dims;
    for (unsigned index = 0; index < call.operands.size(); ++index)
      dims.push_back(operand(index)[dim - rank]);
    for (unsigned index = 0; index < call.results.size(); ++index)
      dims.push_back(result(index)[dim - rank]);
    tie(dims);
  }
}

void RuleBuilder::append(DimRef dim, unsigned factor) {
  if (dim.tensor)
    dim.tensor->dims[dim.dim].push_back(factor);
}

void RuleBuilder::count(DimRef dim) {
  if (dim.tensor)
    for (unsigned factor : dim.tensor->dims[dim.dim])
      rule.factors[factor].isCounted = true;
}

void RuleBuilder::share(DimRef dim, unsigned factor, int64_t count) {
  append(dim, factor);
  if (dim.tensor && count > 1)
    // With one user for each index the dim is an ordinary one. Else indices are fewer than the factor: 2 key heads that
    // 6 query heads share (count 3) on tp=3 give each rank 2 query heads, and the key heads that these read.
    dim.tensor->shared.push_back({dim.dim, count});
}

void RuleBuilder::join(DimRef whole, ArrayRef<DimRef> pieces) {
  int64_t size = 0;
  for (const DimRef &piece : pieces)
    size += piece.tensor ? piece.size : 0;
  bool fits = whole.tensor && size == whole.size &&
              llvm::all_of(pieces, [](const DimRef &piece) { return piece.tensor != nullptr; });
  if (!fits)
    return;
  // A piece without elements gets no factor (a rotary embedding over all features leaves one). A single piece is the
  // whole.
  SmallVector<DimRef> filled(llvm::make_filter_range(pieces, [](const DimRef &piece) { return piece.size != 0; }));
  if (filled.size() == 1)
    return tie({whole, filled.front()});
  // The factors of a joined dim are next to each other and not nested: 10 = 6 + 4, and a rank has a share of each
  // piece.
  whole.tensor->joined.push_back(whole.dim);
  for (const DimRef &piece : filled) {
    unsigned factor = add(piece.size);
    append(whole, factor);
    append(piece, factor);
  }
}

FactorRule RuleBuilder::finish() {
  auto fill = [&](MutableArrayRef<TensorFactors> tensors, ArrayRef<RankedTensorType> types) {
    for (auto [tensor, type] : llvm::zip_equal(tensors, types))
      for (auto [factors, size] : llvm::zip_equal(tensor.dims, type.getShape()))
        // No function has tied the dim, so the operator needs or produces it whole.
        if (factors.empty() && size != 1)
          factors.push_back(rule.add(size, FactorKind::whole));
  };
  fill(rule.operands, call.operands);
  fill(rule.results, call.results);
  return std::move(rule);
}

FactorRule alignedRule(const CallView &call) {
  RuleBuilder builder(call);
  builder.tieAligned();
  return builder.finish();
}

FactorRule undividedRule(const CallView &call) { return RuleBuilder(call).finish(); }

FactorRule wholeDimRule(const CallView &call, int64_t defaultDim) {
  RuleBuilder builder(call);
  builder.tieAligned({normalizeDim(call.getInt("dim", defaultDim), builder.result().getRank())});
  return builder.finish();
}

} // namespace meshplan
