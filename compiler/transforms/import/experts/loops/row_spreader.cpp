//===- row_spreader.cpp - computes chosen rows for all tokens -------------===//
//
// A loop over experts takes the tokens that have chosen an expert, and adds its results where they came from:
//
//   slot, token = where(mask)                 mask [2, 64]: ids[token, slot] == e
//   rows        = linear(x[token], w)         [n, 32], n known only when the step runs
//   gates       = values[token, slot]         [n]
//   out         = index_add(out, 0, token, rows * gates)
//
// Every operator here computes each row alone. The same operators on all tokens give the same rows, among others:
//
//   rows        = linear(x, w)                [64, 32]
//   gates       = sum(values * (ids == e))    [64], 0 for tokens that have not chosen the expert
//   out         = out + rows * gates
//
// That is the form of modules that compute all tokens, which plan-recognize-experts replaces by routed tensors. Values
// of the loop are followed from the numbers of tokens and slots on, in program order, each with what it is for tokens
// that have not chosen the expert: only what is 0 there may be added to all of them, and only what is the old value
// there may be written. Where a token has two numbers, as in x[sample, position], these operators get tokens that are
// flattened.

#include "compiler/transforms/import/experts/loops/row_spreader.h"
#include "compiler/archive/data_extents.h"
#include "compiler/transforms/import/erase_unread.h"
#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/transforms/import/experts/expert_gates.h"
#include "compiler/transforms/import/experts/loops/token_rows.h"
#include "compiler/transforms/import/index_functions/call_reader.h"
#include "compiler/transforms/import/movement_chain.h"
#include "dialect/plan/call_builder.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

namespace {

/// The experts whose rows have been added to zeros, where each token chooses one expert.
struct Written {
  Value ids;
  SmallVector<int64_t, 8> experts;
};

/// Every function named `read...` returns false for what it does not know.
class RowSpreader {
public:
  explicit RowSpreader(Block &block) : block(block) {}

  bool read(plan::CallOp call);

private:
  bool readPositions(plan::CallOp call, const CallView &view);
  bool readList(plan::CallOp call, const CallView &view);
  bool readColumns(plan::CallOp call);
  bool readWide(plan::CallOp call);
  bool readLookup(plan::CallOp call, const CallView &view);
  bool readRowsOf(plan::CallOp call, Value self, int64_t dim, const ExpertChoice &choice);
  bool readGates(plan::CallOp call, Value self, const ExpertChoice &choice);
  bool readAdded(plan::CallOp call, const CallView &view);
  bool readWritten(plan::CallOp call, const CallView &view);
  bool readEachRow(plan::CallOp call, const CallView &view);

  void spreadGates(plan::CallOp call, Value values, const ExpertChoice &choice);
  bool replaceBySum(plan::CallOp call, Value self, const TokenRows &rows);
  bool isEmpty(Value tensor, const ExpertChoice &choice);
  bool define(Value index, const std::optional<RowNumber> &number);
  std::optional<ExpertChoice> tokensAt(ArrayRef<Value> indices);
  std::optional<ExpertChoice> pairsAt(ArrayRef<Value> indices);
  const TokenRows *rowsOf(Value value) const;
  std::optional<TokenRows> rowsAt(Value value, ArrayRef<Value> indices);
  Value narrowed(Value index) const;
  Value viewOf(Value value, ArrayRef<int64_t> shape);
  Value pairsOf(Value value, const ExpertChoice &choice);

  Block &block;
  IndexFunctions functions;
  SparseGatesReader gates{functions};
  llvm::DenseMap<Value, RowNumber> numbers;
  llvm::DenseMap<Value, Value> wide; ///< tensors [n, ..] that have one number [n] in all elements of a row
  llvm::DenseMap<Value, TokenRows> spread;
  llvm::DenseMap<std::pair<Value, Type>, Value> views;
  llvm::DenseMap<Value, Written> sums; ///< of rows that are added to zeros
};

} // namespace

//===----------------------------------------------------------------------===//
// Numbers of tokens and slots
//===----------------------------------------------------------------------===//

bool RowSpreader::define(Value index, const std::optional<RowNumber> &number) {
  if (number)
    numbers[index] = *number;
  return number.has_value();
}

/// The choice whose tokens these indices number: one for each token dim, or a mask.
std::optional<ExpertChoice> RowSpreader::tokensAt(ArrayRef<Value> indices) {
  if (indices.size() == 1 && elementOf(indices.front()).isInteger(1)) {
    std::optional<RowNumber> number = positionsIn(gates, indices.front(), 0);
    // What a mask with slots takes are pairs.
    bool areTokens = number && ArrayRef<int64_t>(number->choice.tokenDims) == shapeOf(indices.front());
    return areTokens ? std::optional(number->choice) : std::nullopt;
  }
  std::optional<ExpertChoice> choice;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    auto found = numbers.find(index);
    if (found == numbers.end() || found->second.dim != static_cast<int64_t>(dim) ||
        (choice && !choice->isSame(found->second.choice)))
      return std::nullopt;
    choice = found->second.choice;
  }
  return choice && choice->tokenDims.size() == indices.size() ? choice : std::nullopt;
}

/// The same for the pairs of tokens and slots, whose slots are numbered last.
std::optional<ExpertChoice> RowSpreader::pairsAt(ArrayRef<Value> indices) {
  auto slot = numbers.find(indices.back());
  if (indices.size() < 2 || slot == numbers.end() || slot->second.dim != RowNumber::slot)
    return std::nullopt;
  std::optional<ExpertChoice> choice = tokensAt(indices.drop_back());
  return choice && choice->isSame(slot->second.choice) ? choice : std::nullopt;
}

/// The positions where a mask is true: a tensor of numbers for each of its dims.
bool RowSpreader::readPositions(plan::CallOp call, const CallView &view) {
  Value mask = tensorArgument(call, view, view.getOperand("condition") ? "condition" : "self");
  return mask && static_cast<int64_t>(call.getNumResults()) == rankOf(mask) &&
         llvm::all_of(llvm::enumerate(call.getResults()),
                      [&](auto result) { return define(result.value(), positionsIn(gates, mask, result.index())); });
}

/// The same as one tensor [n, dims of the mask].
bool RowSpreader::readList(plan::CallOp call, const CallView &view) {
  Value mask = tensorArgument(call, view, "self");
  return mask && positionsIn(gates, mask, 0);
}

/// A column of that tensor, or a view of it.
bool RowSpreader::readColumns(plan::CallOp call) {
  ExprBuilder &builder = functions.builder;
  for (Value result : call.getResults()) {
    std::optional<MovedRead> read = readPositionList(builder, result, coordinatesOf(builder, shapeOf(result)));
    if (!read)
      return false;
    if (rankOf(result) == 1 && read->indices.back()->isConstant() &&
        read->indices.front() == builder.coordinate(0, shapeOf(result).front()) &&
        !define(result, positionsIn(gates, callOf(read->operand).getOperand(0), read->indices.back()->value)))
      return false;
  }
  return true;
}

/// Numbers of rows that get more dims, as `gather` and `scatter_add` need them.
bool RowSpreader::readWide(plan::CallOp call) {
  if (call.getNumOperands() != 1 || call.getNumResults() != 1)
    return false;
  Value self = call.getOperand(0), result = call.getResult(0), index = narrowed(self);
  if (!numbers.contains(index) || rankOf(result) < 1 || shapeOf(result).front() != shapeOf(self).front())
    return false;
  Indices coordinates = coordinatesOf(functions.builder, shapeOf(result));
  std::optional<MovedRead> read = readThroughMovement(functions.builder, result, coordinates);
  if (!read || read->operand != self || !coordinates.front() || read->indices.front() != coordinates.front())
    return false;
  wide[result] = index;
  return true;
}

/// The number of each row that `index` has in all elements of it, or `index` itself.
Value RowSpreader::narrowed(Value index) const {
  auto found = wide.find(index);
  return found == wide.end() ? index : found->second;
}

/// The view of this shape that all experts read. It comes right after the value.
Value RowSpreader::viewOf(Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return value;
  Value &view = views[{value, RankedTensorType::get(shape, elementOf(value))}];
  if (!view) {
    Operation *maker = value.getDefiningOp(), *next = maker ? maker->getNextNode() : &block.front();
    while (!isa<plan::CallOp>(next))
      next = next->getNextNode();
    view = reshaped(value, shape, cast<plan::CallOp>(next));
  }
  return view;
}

/// Something of each pair as [tokens, slots]. Token dims are merged in a view of their own, so that
/// plan-unmerge-dims finds what was merged.
Value RowSpreader::pairsOf(Value value, const ExpertChoice &choice) {
  SmallVector<int64_t> shape(choice.tokenDims.begin(), choice.tokenDims.end());
  shape.push_back(choice.slots);
  return viewOf(viewOf(value, shape), {choice.tokens, choice.slots});
}

//===----------------------------------------------------------------------===//
// Rows of tokens and gates
//===----------------------------------------------------------------------===//

const TokenRows *RowSpreader::rowsOf(Value value) const {
  auto found = spread.find(value);
  return found == spread.end() ? nullptr : &found->second;
}

/// Rows of tokens, whose dims in `self` begin at `dim`: all of them.
bool RowSpreader::readRowsOf(plan::CallOp call, Value self, int64_t dim, const ExpertChoice &choice) {
  Value result = call.getResult(0);
  ArrayRef<int64_t> shape = shapeOf(self), tokenDims = choice.tokenDims;
  int64_t rank = tokenDims.size();
  if (hasChosenRows(self) || rankOf(self) < dim + rank || shape.slice(dim, rank) != tokenDims)
    return false;
  SmallVector<int64_t> flatShape(shape);
  flatShape.erase(flatShape.begin() + dim, flatShape.begin() + dim + rank);
  flatShape.insert(flatShape.begin() + dim, choice.tokens);
  RankedTensorType type = withTokens(typeOf(result), choice.tokens);
  if (type != RankedTensorType::get(flatShape, elementOf(self)) || !archive::isDataExtent(shapeOf(result)[dim]))
    return false;
  // One number for each token.
  bool isColumn = flatShape.size() == 1 || (flatShape.size() == 2 && dim == 0 && flatShape[1] == 1);
  std::optional<ExpertGate> gate = isColumn ? readExpertGate(gates, self) : std::nullopt;
  if (isColumn && !gate && choice.slots == 1 && isa<FloatType>(elementOf(self))) {
    spreadGates(call, pairsOf(self, choice), choice);
    return true;
  }
  bool isOwnGate = gate && gate->expert == choice.expert && gate->indices == choice.ids;
  spread[result] = {viewOf(self, flatShape), {isOwnGate, isOwnGate ? Value() : self}, choice};
  return true;
}

/// The value of a pair, of `self` [*token dims, slots] or with further dims of size 1: of the slot in which a token has
/// chosen the expert.
bool RowSpreader::readGates(plan::CallOp call, Value self, const ExpertChoice &choice) {
  Value result = call.getResult(0);
  ArrayRef<int64_t> shape = shapeOf(self);
  SmallVector<int64_t> pairs(choice.tokenDims.begin(), choice.tokenDims.end());
  pairs.push_back(choice.slots);
  bool isGate = shape.size() >= pairs.size() && shape.take_front(pairs.size()) == ArrayRef<int64_t>(pairs) &&
                llvm::all_of(shape.drop_front(pairs.size()), [](int64_t size) { return size == 1; }) &&
                rankOf(result) + pairs.size() == shape.size() + 1 && rankOf(result) <= 2 &&
                isa<FloatType>(elementOf(self));
  if (!isGate)
    return false;
  Value values = beforeViews(self, RankedTensorType::get({choice.tokens, choice.slots}, elementOf(self)));
  spreadGates(call, values ? values : pairsOf(self, choice), choice);
  return true;
}

/// In place of one value for each row of `call`: `values` [tokens, slots] of the slot in which a token has chosen the
/// expert, and 0 for other tokens.
void RowSpreader::spreadGates(plan::CallOp call, Value values, const ExpertChoice &choice) {
  Value result = call.getResult(0);
  Type type = elementOf(values);
  Value mask = CallBuilder("aten.eq.Scalar", call)
                   .tensor("self", pairsOf(choice.ids, choice))
                   .integer("other", choice.expert)
                   .build(shapeOf(values), IntegerType::get(call.getContext(), 1));
  Value masked =
      CallBuilder("aten.mul.Tensor", call).tensor("self", values).tensor("other", mask).build(shapeOf(values), type);
  Value gates = CallBuilder("aten.sum.dim_IntList", call)
                    .tensor("self", masked)
                    .integers("dim", {-1})
                    .flag("keepdim", rankOf(result) == 2)
                    .build(withTokens(typeOf(result), choice.tokens).getShape(), type);
  spread[result] = {gates, {.areZero = true}, choice};
}

namespace {

/// The indices of a call with a list of them, of dims one after the other.
struct IndexedDims {
  int64_t first = 0;
  SmallVector<Value, 3> indices;
};

} // namespace

/// nullopt if there are none, or dims without one between them.
static std::optional<IndexedDims> indexedDims(plan::CallOp call, const CallView &view) {
  IndexedDims found;
  for (auto [dim, operand] : llvm::enumerate(view.getOperands("indices"))) {
    if (!operand)
      continue;
    if (found.indices.empty())
      found.first = dim;
    else if (found.first + found.indices.size() != dim)
      return std::nullopt;
    found.indices.push_back(call.getOperand(*operand));
  }
  return found.indices.empty() ? std::nullopt : std::optional(found);
}

bool RowSpreader::readLookup(plan::CallOp call, const CallView &view) {
  Value self = tensorArgument(call, view, "self");
  if (!self)
    return false;
  if (view.target == "aten.index_select.default" || view.target == "aten.gather.default") {
    std::optional<int64_t> dim = countedDim(view.getInt("dim", 0), rankOf(self));
    Value index = tensorArgument(call, view, "index");
    if (index && view.target == "aten.gather.default") {
      if (dim != 0)
        return false;
      index = narrowed(index);
    }
    std::optional<ExpertChoice> choice = dim && index ? tokensAt(index) : std::nullopt;
    return choice && readRowsOf(call, self, *dim, *choice);
  }
  std::optional<IndexedDims> indexed = indexedDims(call, view);
  if (!indexed)
    return false;
  if (std::optional<ExpertChoice> choice = tokensAt(indexed->indices))
    return readRowsOf(call, self, indexed->first, *choice);
  std::optional<ExpertChoice> pairs = indexed->first == 0 ? pairsAt(indexed->indices) : std::nullopt;
  return pairs && readGates(call, self, *pairs);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// True if the tensor is [*token dims, ..], with what these rows have of each token.
static bool isOfTokens(Value tensor, const TokenRows &rows) {
  SmallVector<int64_t> shape(rows.choice.tokenDims.begin(), rows.choice.tokenDims.end());
  llvm::append_range(shape, shapeOf(rows.all).drop_front());
  return shapeOf(rows.all).front() == rows.choice.tokens &&
         tensor.getType() == RankedTensorType::get(shape, elementOf(rows.all));
}

/// The sum of `self` and what all tokens have.
bool RowSpreader::replaceBySum(plan::CallOp call, Value self, const TokenRows &rows) {
  Value result = call.getResult(0);
  if (!isOfTokens(self, rows) || self.getType() != result.getType())
    return false;
  Value sum = CallBuilder("aten.add.Tensor", call)
                  .tensor("self", self)
                  .tensor("other", reshaped(rows.all, shapeOf(self), call))
                  .build(shapeOf(result), elementOf(result));
  result.replaceAllUsesWith(sum);
  if (rows.choice.slots == 1 && isEmpty(self, rows.choice)) {
    Written written = sums.lookup(self);
    written.ids = rows.choice.ids;
    written.experts.push_back(rows.choice.expert);
    sums[sum] = std::move(written);
  }
  return true;
}

/// True if a tensor [tokens, ..] is 0 for tokens that have chosen this expert: nothing is added to it, or only rows of
/// tokens that have chosen other experts, where each chooses one.
bool RowSpreader::isEmpty(Value tensor, const ExpertChoice &choice) {
  auto found = sums.find(tensor);
  if (found == sums.end())
    return isZero(functions, tensor);
  return choice.slots == 1 && found->second.ids == choice.ids &&
         !llvm::is_contained(found->second.experts, choice.expert);
}

/// What all tokens have instead of `value`, if its rows are those of the tokens at the indices.
std::optional<TokenRows> RowSpreader::rowsAt(Value value, ArrayRef<Value> indices) {
  const TokenRows *rows = rowsOf(value);
  std::optional<ExpertChoice> choice = rows ? tokensAt(indices) : std::nullopt;
  if (!choice || !choice->isSame(rows->choice))
    return std::nullopt;
  return TokenRows{rows->all, rows->others, *choice};
}

/// Rows that are added at the numbers of their tokens.
bool RowSpreader::readAdded(plan::CallOp call, const CallView &view) {
  bool isScatter = view.target == "aten.scatter_add.default";
  Value self = tensorArgument(call, view, "self"), source = tensorArgument(call, view, isScatter ? "src" : "source"),
        index = tensorArgument(call, view, "index");
  if (isScatter && (!index || !source || shapeOf(index).size() != shapeOf(source).size() ||
                    shapeOf(index).drop_front() != shapeOf(source).drop_front()))
    return false;
  std::optional<TokenRows> rows = index ? rowsAt(source, isScatter ? narrowed(index) : index) : std::nullopt;
  return self && rows && rows->others.areZero && view.getFloat("alpha", 1) == 1 && isAlong(call, 0) &&
         replaceBySum(call, self, *rows);
}

/// Rows that are written, or added, at the numbers of their tokens.
bool RowSpreader::readWritten(plan::CallOp call, const CallView &view) {
  Value self = tensorArgument(call, view, "self");
  std::optional<IndexedDims> indexed = indexedDims(call, view);
  std::optional<TokenRows> rows =
      indexed && indexed->first == 0 ? rowsAt(tensorArgument(call, view, "values"), indexed->indices) : std::nullopt;
  if (!self || !rows)
    return false;
  const OtherRows &others = rows->others;
  if (view.getBool("accumulate", false))
    return others.areZero && replaceBySum(call, self, *rows);
  // A token that has an expert in two slots would be written twice.
  if (!rows->choice.isDistinct)
    return false;
  if (others.areZero && isEmpty(self, rows->choice))
    return replaceBySum(call, self, *rows);
  bool isKept = others.are == self && isOfTokens(self, *rows);
  if (isKept)
    call.getResult(0).replaceAllUsesWith(reshaped(rows->all, shapeOf(self), call));
  return isKept;
}

/// An operator on each row alone.
bool RowSpreader::readEachRow(plan::CallOp call, const CallView &) {
  if (readWide(call) || readColumns(call))
    return true;
  SmallVector<const TokenRows *> rows;
  SmallVector<Value> operands;
  const TokenRows *first = nullptr;
  for (Value operand : call.getOperands()) {
    const TokenRows *own = rowsOf(operand);
    if ((!own && hasChosenRows(operand)) || (own && first && !own->choice.isSame(first->choice)))
      return false;
    rows.push_back(own);
    operands.push_back(own ? own->all : operand);
    first = first ? first : own;
  }
  if (!first || !computesChosenRows(call))
    return false;
  ExpertChoice choice = first->choice;
  OtherRows others = otherRowsOf(call, rows);
  // Views of rows may give back the tokens themselves.
  Value same =
      keepsOrder(call) ? beforeViews(first->all, withTokens(typeOf(call.getResult(0)), choice.tokens)) : Value();
  SmallVector<Value> results{same};
  if (!same)
    results = SmallVector<Value>(cloneForTokens(call, operands, choice.tokens).getResults());
  for (auto [old, result] : llvm::zip_equal(call.getResults(), results))
    spread[old] = {result, others, choice};
  return true;
}

bool RowSpreader::read(plan::CallOp call) {
  using Reader = bool (RowSpreader::*)(plan::CallOp, const CallView &);
  Reader reader =
      llvm::StringSwitch<Reader>(call.getTarget())
          .Cases({"aten.where.default", "aten.nonzero_numpy.default"}, &RowSpreader::readPositions)
          .Cases({"aten.nonzero.default", "aten.argwhere.default"}, &RowSpreader::readList)
          .Cases({"aten.index.Tensor", "aten.index_select.default", "aten.gather.default"}, &RowSpreader::readLookup)
          .Cases({"aten.index_add.default", "aten.scatter_add.default"}, &RowSpreader::readAdded)
          .Case("aten.index_put.default", &RowSpreader::readWritten)
          .Default(&RowSpreader::readEachRow);
  return (this->*reader)(call, CallView::of(call));
}

plan::CallOp meshplan::spreadRows(Block &block) {
  auto hasRows = [](plan::CallOp call) {
    return llvm::any_of(call.getOperands(), hasChosenRows) || llvm::any_of(call.getResults(), hasChosenRows);
  };
  if (llvm::none_of(block.getOps<plan::CallOp>(), hasRows))
    return {};
  eraseUnread(block);
  RowSpreader spreader(block);
  for (plan::CallOp call : llvm::make_early_inc_range(block.getOps<plan::CallOp>()))
    if (hasRows(call) && !spreader.read(call))
      return call;
  eraseUnread(block);
  // What is read after all, such as the rows as a result of the model.
  for (plan::CallOp call : block.getOps<plan::CallOp>())
    if (hasRows(call))
      return call;
  return {};
}
