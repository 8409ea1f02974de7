//===- fold_lookups.cpp - lookups that leave dims in place ----------------===//
//
// See FoldLookups in passes.td.
//
//===----------------------------------------------------------------------===//
//
// aten.index with several index tensors may read any element, so its operand is needed whole. Often all but one of the
// tensors only count a dim: they read each of its elements in order. Then the lookup is a gather along one dim, and the
// others may stay divided.
//
// Example: x [4, 6, 8] read at [arange(4), last], last [4], as a model takes the last token of each sample.
//
//   index 0 counts dim 0   dim 0 of the result
//   index 1 chooses        gather along dim 1 with last as [4, 1, 8]
//   dim 2 is not indexed   dim 1 of the result
//
// The gather gives [4, 1, 8], the reshape [4, 8]. The batch may be divided over dp, and the features over tp.

#include "compiler/derivatives/arithmetic.h"
#include "compiler/sharding/op_record.h"
#include "compiler/transforms/import/erase_unread.h"
#include "compiler/transforms/import/index_functions/index_functions.h"
#include "compiler/transforms/import/index_functions/lookup.h"
#include "compiler/transforms/import/passes.h"
#include <numeric>

namespace meshplan {
#define GEN_PASS_DEF_FOLDLOOKUPS
#include "compiler/transforms/import/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

namespace {

/// A tensor, and for each of its dims the corresponding dim of the lookup's result; none for a dim of one element that
/// the result does not have.
struct MappedValue {
  Value value;
  SmallVector<std::optional<int64_t>> dims;
};

class LookupFolder {
public:
  LookupFolder(plan::CallOp call, IndexFunctions &functions)
      : call(call), view(CallView::of(call)), functions(functions) {}

  /// Replaces the call if at most one of its index tensors chooses elements, or if its only index tensor takes a
  /// contiguous range.
  void fold();

private:
  bool readOperands();

  /// Separates index tensors that only count a dim from the one that chooses. False if several choose, or if none
  /// counts.
  bool readIndices();

  /// A slice of one dim, if the indices are consecutive numbers; or null.
  Value takeRun();

  /// True if the index is the coordinate of a dim of the result that has the size of dim `dim` of self and that no
  /// other index counts.
  bool counts(int64_t dim, Expr index, ArrayRef<Expr> ownCoordinates);

  /// Dims of the result that come from index tensors and count nothing.
  SmallVector<int64_t> freeDims() const;

  /// The positions of the dims of self in the result, with `freeDims` in place of `expanded`.
  SmallVector<std::optional<int64_t>> resultDimsOf(std::optional<int64_t> expanded) const;
  MappedValue gather();

  /// The choosing index tensor, expanded to the dims of self. All elements of dims that are not indexed have the same
  /// indices.
  Value chosenIndices(ArrayRef<int64_t> indexShape);

  /// The extents of the dims at these positions of the result.
  SmallVector<int64_t> extentsOf(ArrayRef<std::optional<int64_t>> dims) const;

  /// Puts the dims into the order of the result, and adds those that only the result has.
  Value arrange(const MappedValue &mapped);
  Value permute(Value value, ArrayRef<int64_t> order);
  Value reshape(Value value, ArrayRef<int64_t> extents);
  Value expand(Value value, ArrayRef<int64_t> extents);
  Value make(StringRef target, StringRef name, Value value, ArrayRef<int64_t> extents);

  plan::CallOp call;
  CallView view;
  IndexFunctions &functions;
  Value self;
  ArrayRef<int64_t> shape, result; ///< of self and of the result
  Lookup lookup;
  SmallVector<std::optional<int64_t>> counted; ///< for each dim of self, the dim of the result that counts it
  std::optional<int64_t> chosen;               ///< dim of self
  bool countsFromEnd = false;                  ///< some choosing indices may be negative
};

} // namespace

void LookupFolder::fold() {
  if (!readOperands())
    return;
  if (!readIndices()) {
    if (Value run = takeRun())
      call.getResult(0).replaceAllUsesWith(run);
    return;
  }
  MappedValue mapped = chosen ? gather() : MappedValue{self, resultDimsOf(std::nullopt)};
  call.getResult(0).replaceAllUsesWith(arrange(mapped));
}

bool LookupFolder::readOperands() {
  std::optional<unsigned> operand = view.getOperand("self");
  if (!operand || view.results.size() != 1)
    return false;
  self = call.getOperand(*operand);
  shape = typeOf(self).getShape();
  result = view.results.front().getShape();
  std::optional<Lookup> described = describeLookup(view, shape.size());
  if (!described || described->position + described->indexRank > static_cast<int64_t>(result.size()))
    return false;
  lookup = *described;
  return true;
}

bool LookupFolder::readIndices() {
  counted.assign(shape.size(), std::nullopt);
  Indices coordinates = coordinatesOf(functions.builder, result);
  ArrayRef<Expr> ownCoordinates = ArrayRef(coordinates).slice(lookup.position, lookup.indexRank);
  bool countsAny = false;
  for (auto [dim, operand] : llvm::enumerate(lookup.operands)) {
    if (!operand)
      continue;
    Value tensor = call.getOperand(*operand);
    Expr read = functions.at(tensor, readExpanded(functions.builder, typeOf(tensor).getShape(), ownCoordinates));
    Expr index = withinDim(functions.builder, read, shape[dim]);
    if (index && counts(dim, index, ownCoordinates)) {
      countsAny = true;
      continue;
    }
    if (chosen || !typeOf(tensor).getElementType().isInteger(64))
      return false;
    chosen = dim;
    // Unknown indices may be negative.
    countsFromEnd = !read || read->low < 0;
  }
  return countsAny;
}

bool LookupFolder::counts(int64_t dim, Expr index, ArrayRef<Expr> ownCoordinates) {
  if (shape[dim] == 1)
    return true;
  // Each dim of the result counts one dim only: x[i, i] reads a diagonal, which no gather of one dim gives.
  for (auto [offset, coordinate] : llvm::enumerate(ownCoordinates)) {
    int64_t resultDim = lookup.position + static_cast<int64_t>(offset);
    if (index != coordinate || result[resultDim] != shape[dim] || llvm::is_contained(counted, resultDim))
      continue;
    counted[dim] = resultDim;
    return true;
  }
  return false;
}

Value LookupFolder::takeRun() {
  auto isIndexed = [](std::optional<unsigned> operand) { return operand.has_value(); };
  if (lookup.indexRank != 1 || llvm::count_if(lookup.operands, isIndexed) != 1)
    return {};
  int64_t dim = llvm::find_if(lookup.operands, isIndexed) - lookup.operands.begin();
  Expr coordinate = coordinatesOf(functions.builder, result)[lookup.position];
  Expr index =
      withinDim(functions.builder, functions.at(call.getOperand(*lookup.operands[dim]), {coordinate}), shape[dim]);
  Expr first = index ? functions.builder.subtract(index, coordinate) : nullptr;
  if (!first || first->low != first->high)
    return {};
  return CallBuilder("aten.slice.Tensor", call)
      .tensor("self", self)
      .integer("dim", dim)
      .integer("start", first->low)
      .integer("end", first->low + result[lookup.position])
      .build(result, typeOf(self).getElementType());
}

SmallVector<int64_t> LookupFolder::freeDims() const {
  SmallVector<int64_t> dims;
  for (int64_t dim = lookup.position; dim < lookup.position + lookup.indexRank; ++dim)
    if (!llvm::is_contained(counted, dim))
      dims.push_back(dim);
  return dims;
}

SmallVector<std::optional<int64_t>> LookupFolder::resultDimsOf(std::optional<int64_t> expanded) const {
  SmallVector<std::optional<int64_t>> dims;
  int64_t rest = 0;
  for (auto [dim, operand] : llvm::enumerate(lookup.operands)) {
    if (expanded == static_cast<int64_t>(dim))
      llvm::append_range(dims, freeDims());
    else if (operand)
      dims.push_back(counted[dim]);
    else
      dims.push_back(rest < lookup.position ? rest : rest + lookup.indexRank);
    rest += !operand;
  }
  return dims;
}

MappedValue LookupFolder::gather() {
  SmallVector<int64_t> indexShape(shape);
  indexShape[*chosen] = 1;
  for (int64_t dim : freeDims())
    indexShape[*chosen] *= result[dim];
  Value gathered = CallBuilder("aten.gather.default", call)
                       .tensor("self", self)
                       .integer("dim", *chosen)
                       .tensor("index", chosenIndices(indexShape))
                       .build(indexShape, typeOf(self).getElementType());
  MappedValue mapped{gathered, resultDimsOf(chosen)};
  mapped.value = reshape(gathered, extentsOf(mapped.dims));
  return mapped;
}

Value LookupFolder::chosenIndices(ArrayRef<int64_t> indexShape) {
  ArrayRef<int64_t> ownShape = result.slice(lookup.position, lookup.indexRank);
  Value indices = call.getOperand(*lookup.operands[*chosen]);
  if (countsFromEnd)
    indices =
        Arithmetic([this](StringRef target) { return CallBuilder(target, call); }).fromFront(indices, shape[*chosen]);
  indices = expand(indices, ownShape);
  SmallVector<int64_t> order;
  SmallVector<int64_t> narrow(indexShape);
  for (auto [dim, operand] : llvm::enumerate(lookup.operands)) {
    if (chosen == static_cast<int64_t>(dim))
      for (int64_t freeDim : freeDims())
        order.push_back(freeDim - lookup.position);
    else if (counted[dim])
      order.push_back(*counted[dim] - lookup.position);
    else
      narrow[dim] = 1;
  }
  return expand(reshape(permute(indices, order), narrow), indexShape);
}

SmallVector<int64_t> LookupFolder::extentsOf(ArrayRef<std::optional<int64_t>> dims) const {
  return llvm::map_to_vector(dims, [&](std::optional<int64_t> dim) { return dim ? result[*dim] : 1; });
}

Value LookupFolder::arrange(const MappedValue &mapped) {
  SmallVector<int64_t> order(mapped.dims.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order, [&](int64_t left, int64_t right) {
    return mapped.dims[left].value_or(result.size()) < mapped.dims[right].value_or(result.size());
  });
  SmallVector<int64_t> narrow(result.size(), 1);
  for (std::optional<int64_t> dim : mapped.dims)
    if (dim)
      narrow[*dim] = result[*dim];
  return expand(reshape(permute(mapped.value, order), narrow), result);
}

Value LookupFolder::permute(Value value, ArrayRef<int64_t> order) {
  if (llvm::is_sorted(order))
    return value;
  SmallVector<int64_t> extents = llvm::map_to_vector(order, [&](int64_t dim) { return typeOf(value).getDimSize(dim); });
  return CallBuilder("aten.permute.default", call)
      .tensor("self", value)
      .integers("dims", order)
      .build(extents, typeOf(value).getElementType());
}

Value LookupFolder::reshape(Value value, ArrayRef<int64_t> extents) {
  return typeOf(value).getShape() == extents ? value : make("aten.reshape.default", "shape", value, extents);
}

Value LookupFolder::expand(Value value, ArrayRef<int64_t> extents) {
  return typeOf(value).getShape() == extents ? value : make("aten.expand.default", "size", value, extents);
}

Value LookupFolder::make(StringRef target, StringRef name, Value value, ArrayRef<int64_t> extents) {
  return CallBuilder(target, call)
      .tensor("self", value)
      .integers(name, extents)
      .build(extents, typeOf(value).getElementType());
}

namespace {

struct FoldLookupsPass : meshplan::impl::FoldLookupsBase<FoldLookupsPass> {
  void runOnOperation() final {
    for (Block &block : getOperation().getBody()) {
      IndexFunctions functions;
      for (auto call : llvm::make_early_inc_range(block.getOps<plan::CallOp>()))
        if (call.getTarget() == "aten.index.Tensor")
          LookupFolder(call, functions).fold();
      eraseUnread(block);
    }
  }
};

} // namespace
