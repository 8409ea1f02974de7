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
// there may be written.

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
  bool readColumn(plan::CallOp call, const CallView &view);
  bool readLookup(plan::CallOp call, const CallView &view);
  bool readRowsOf(plan::CallOp call, Value self, int64_t dim, Value index);
  bool readGates(plan::CallOp call, Value self, const ExpertChoice &choice);
  bool readAdded(plan::CallOp call, const CallView &view);
  bool readWritten(plan::CallOp call, const CallView &view);
  bool readEachRow(plan::CallOp call, const CallView &view);

  void spreadGates(plan::CallOp call, Value values, const ExpertChoice &choice);
  bool replaceBySum(plan::CallOp call, Value self, const TokenRows &rows);
  bool isEmpty(Value tensor, const ExpertChoice &choice);
  bool define(Value index, const std::optional<RowNumber> &number);
  std::optional<RowNumber> numberOf(Value index);
  const TokenRows *rowsOf(Value value) const;
  Value flatIds(const ExpertChoice &choice);

  Block &block;
  IndexFunctions functions;
  SparseGatesReader gates{functions};
  llvm::DenseMap<Value, RowNumber> numbers;
  llvm::DenseMap<Value, TokenRows> spread;
  llvm::DenseMap<Value, Value> flat;   ///< ids as [tokens, slots]
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

/// What an index tensor or a mask chooses.
std::optional<RowNumber> RowSpreader::numberOf(Value index) {
  auto found = numbers.find(index);
  if (found != numbers.end())
    return found->second;
  bool isMask = elementOf(index).isInteger(1) && rankOf(index) == 1;
  return isMask ? positionsIn(functions, index, 0) : std::nullopt;
}

/// The positions where a mask is true: a tensor of numbers for each of its dims.
bool RowSpreader::readPositions(plan::CallOp call, const CallView &view) {
  Value mask = tensorArgument(call, view, view.getOperand("condition") ? "condition" : "self");
  return mask && static_cast<int64_t>(call.getNumResults()) == rankOf(mask) &&
         llvm::all_of(llvm::enumerate(call.getResults()), [&](auto result) {
           return define(result.value(), positionsIn(functions, mask, result.index()));
         });
}

/// The same as one tensor [n, dims of the mask].
bool RowSpreader::readList(plan::CallOp call, const CallView &view) {
  Value mask = tensorArgument(call, view, "self");
  return mask && positionsIn(functions, mask, 0);
}

/// A column of that tensor.
bool RowSpreader::readColumn(plan::CallOp call, const CallView &view) {
  plan::CallOp places = callOf(tensorArgument(call, view, "self"), "aten.nonzero.default");
  if (!places || !isAlong(call, 1))
    return readEachRow(call, view);
  Value mask = places.getOperand(0);
  std::optional<int64_t> dim = countedDim(view.getInt("index", 0), rankOf(mask));
  return dim && define(call.getResult(0), positionsIn(functions, mask, *dim));
}

Value RowSpreader::flatIds(const ExpertChoice &choice) {
  Value &ids = flat[choice.ids];
  if (!ids) {
    // All experts read the same view, which comes after the ids.
    Operation *maker = choice.ids.getDefiningOp(), *next = maker ? maker->getNextNode() : &block.front();
    while (!isa<plan::CallOp>(next))
      next = next->getNextNode();
    ids = reshaped(choice.ids, {choice.tokens, choice.slots}, cast<plan::CallOp>(next));
  }
  return ids;
}

//===----------------------------------------------------------------------===//
// Rows of tokens and gates
//===----------------------------------------------------------------------===//

const TokenRows *RowSpreader::rowsOf(Value value) const {
  auto found = spread.find(value);
  return found == spread.end() ? nullptr : &found->second;
}

/// Rows of tokens: all of them.
bool RowSpreader::readRowsOf(plan::CallOp call, Value self, int64_t dim, Value index) {
  std::optional<RowNumber> number = numberOf(index);
  Value result = call.getResult(0);
  if (!number || !number->isToken || hasChosenRows(self) || rankOf(result) != rankOf(self) ||
      !archive::isDataExtent(shapeOf(result)[dim]) ||
      withTokens(typeOf(result), number->choice.tokens) != self.getType())
    return false;
  const ExpertChoice &choice = number->choice;
  // One number for each token.
  bool isColumn = rankOf(self) == 1 || (rankOf(self) == 2 && shapeOf(self)[1] == 1);
  std::optional<ExpertGate> gate = isColumn ? readExpertGate(gates, self) : std::nullopt;
  if (isColumn && !gate && choice.slots == 1 && isa<FloatType>(elementOf(self))) {
    spreadGates(call, reshaped(self, {choice.tokens, 1}, call), choice);
    return true;
  }
  bool isOwnGate = gate && gate->expert == choice.expert && gate->indices == choice.ids;
  spread[result] = {self, {isOwnGate, isOwnGate ? Value() : self}, choice};
  return true;
}

/// The value of a pair, of `self` [tokens, slots] or with further dims of size 1: of the slot in which a token has
/// chosen the expert.
bool RowSpreader::readGates(plan::CallOp call, Value self, const ExpertChoice &choice) {
  Value result = call.getResult(0);
  ArrayRef<int64_t> shape = shapeOf(self);
  bool isGate = shape.size() >= 2 && shape.take_front(2) == ArrayRef({choice.tokens, choice.slots}) &&
                llvm::all_of(shape.drop_front(2), [](int64_t size) { return size == 1; }) &&
                rankOf(result) + 1 == rankOf(self) && rankOf(result) <= 2 && isa<FloatType>(elementOf(self));
  if (!isGate)
    return false;
  Value values = beforeViews(self, RankedTensorType::get(shape.take_front(2), elementOf(self)));
  spreadGates(call, values ? values : reshaped(self, shape.take_front(2), call), choice);
  return true;
}

/// In place of one value for each row of `call`: `values` [tokens, slots] of the slot in which a token has chosen the
/// expert, and 0 for other tokens.
void RowSpreader::spreadGates(plan::CallOp call, Value values, const ExpertChoice &choice) {
  Value result = call.getResult(0);
  Type type = elementOf(values);
  Value mask = CallBuilder("aten.eq.Scalar", call)
                   .tensor("self", flatIds(choice))
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

bool RowSpreader::readLookup(plan::CallOp call, const CallView &view) {
  Value self = tensorArgument(call, view, "self");
  if (!self)
    return false;
  if (view.target == "aten.index_select.default") {
    std::optional<int64_t> dim = countedDim(view.getInt("dim", 0), rankOf(self));
    return dim && readRowsOf(call, self, *dim, tensorArgument(call, view, "index"));
  }
  SmallVector<std::pair<int64_t, Value>, 2> indexed;
  for (auto [dim, operand] : llvm::enumerate(view.getOperands("indices")))
    if (operand)
      indexed.push_back({dim, call.getOperand(*operand)});
  if (indexed.size() == 1)
    return indexed[0].first < rankOf(self) && readRowsOf(call, self, indexed[0].first, indexed[0].second);
  if (indexed.size() != 2 || indexed[0].first != 0 || indexed[1].first != 1)
    return false;
  auto token = numbers.find(indexed[0].second), slot = numbers.find(indexed[1].second);
  bool areOfOne = token != numbers.end() && slot != numbers.end() && token->second.isToken && !slot->second.isToken &&
                  indexed[0].second.getType() == indexed[1].second.getType();
  return areOfOne && readGates(call, self, token->second.choice);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// The sum of `self` and what all tokens have.
bool RowSpreader::replaceBySum(plan::CallOp call, Value self, const TokenRows &rows) {
  Value result = call.getResult(0);
  if (self.getType() != rows.all.getType() || self.getType() != result.getType() || hasChosenRows(self))
    return false;
  Value sum = CallBuilder("aten.add.Tensor", call)
                  .tensor("self", self)
                  .tensor("other", rows.all)
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

/// True if the index numbers the tokens of these rows.
static bool areOf(const std::optional<RowNumber> &number, const TokenRows &rows) {
  return number && number->isToken && number->choice.isSame(rows.choice);
}

/// Rows that are added at the numbers of their tokens.
bool RowSpreader::readAdded(plan::CallOp call, const CallView &view) {
  Value self = tensorArgument(call, view, "self"), source = tensorArgument(call, view, "source"),
        index = tensorArgument(call, view, "index");
  const TokenRows *rows = rowsOf(source);
  return self && rows && index && rows->others.areZero && areOf(numberOf(index), *rows) &&
         view.getFloat("alpha", 1) == 1 && isAlong(call, 0) && replaceBySum(call, self, *rows);
}

/// Rows that are written, or added, at the numbers of their tokens.
bool RowSpreader::readWritten(plan::CallOp call, const CallView &view) {
  Value self = tensorArgument(call, view, "self");
  SmallVector<std::optional<unsigned>> indices = view.getOperands("indices");
  const TokenRows *rows = rowsOf(tensorArgument(call, view, "values"));
  if (!self || !rows || indices.size() != 1 || !indices.front() ||
      !areOf(numberOf(call.getOperand(*indices.front())), *rows))
    return false;
  const OtherRows &others = rows->others;
  if (view.getBool("accumulate", false))
    return others.areZero && replaceBySum(call, self, *rows);
  // A token that has an expert in two slots would be written twice.
  if (!rows->choice.isDistinct)
    return false;
  if (others.areZero && isEmpty(self, rows->choice))
    return replaceBySum(call, self, *rows);
  bool isKept = others.are == self && rows->all.getType() == self.getType();
  if (isKept)
    call.getResult(0).replaceAllUsesWith(rows->all);
  return isKept;
}

/// An operator on each row alone.
bool RowSpreader::readEachRow(plan::CallOp call, const CallView &) {
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
  Reader reader = llvm::StringSwitch<Reader>(call.getTarget())
                      .Cases({"aten.where.default", "aten.nonzero_numpy.default"}, &RowSpreader::readPositions)
                      .Case("aten.nonzero.default", &RowSpreader::readList)
                      .Case("aten.select.int", &RowSpreader::readColumn)
                      .Cases({"aten.index.Tensor", "aten.index_select.default"}, &RowSpreader::readLookup)
                      .Case("aten.index_add.default", &RowSpreader::readAdded)
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
