//===- spread_chosen_rows.cpp - rows that are chosen by data --------------===//
//
// See SpreadChosenRows in passes.td.
//
//===----------------------------------------------------------------------===//
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

#include "compiler/archive/data_extents.h"
#include "compiler/sharding/op_record.h"
#include "compiler/support/layer_names.h"
#include "compiler/transforms/import/erase_unread.h"
#include "compiler/transforms/import/experts/chosen_experts.h"
#include "compiler/transforms/import/experts/expert_gates.h"
#include "compiler/transforms/import/experts/region_reader.h"
#include "compiler/transforms/import/index_functions/call_reader.h"
#include "compiler/transforms/import/movement_chain.h"
#include "compiler/transforms/import/passes.h"
#include "dialect/plan/call_builder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSwitch.h"

namespace meshplan {
#define GEN_PASS_DEF_SPREADCHOSENROWS
#include "compiler/transforms/import/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

namespace {

/// The pairs of a token and a slot in which one expert is chosen. Several masks may choose the same pairs; the rows of
/// each have an extent of their own.
struct ExpertChoice {
  Value ids; ///< [*token dims, slots], or [*token dims] of one slot
  int64_t tokens = 0, slots = 0, expert = 0;
  bool isDistinct = false; ///< a token has each expert in one slot at most
};

/// A number for each row.
struct RowNumber {
  ExpertChoice choice;
  bool isToken = true; ///< of its token; else of its slot
};

/// What all tokens have instead of the chosen rows.
struct SpreadRows {
  Value all;           ///< with the tokens instead of the rows
  bool isZero = false; ///< 0 for tokens that have not chosen the expert
  Value elsewhere;     ///< the value for these tokens, [tokens, ..]; null if it is unknown or 0
  ExpertChoice choice;
};

/// The experts whose rows have been added to zeros, where each token chooses one expert.
struct Written {
  Value ids;
  SmallVector<int64_t, 8> experts;
};

class RowSpreader {
public:
  explicit RowSpreader(Block &block) : block(block) {}

  LogicalResult run();

private:
  bool visit(plan::CallOp call);
  bool readPositions(plan::CallOp call, const CallView &view);
  bool readList(plan::CallOp call, const CallView &view);
  bool readColumn(plan::CallOp call, const CallView &view);
  bool readLookup(plan::CallOp call, const CallView &view);
  bool readRowsOf(plan::CallOp call, Value self, int64_t dim, Value index);
  bool readGates(plan::CallOp call, Value self, const RowNumber &number);
  bool buildGates(plan::CallOp call, Value values, const ExpertChoice &choice);
  bool readAdded(plan::CallOp call, const CallView &view);
  bool readWritten(plan::CallOp call, const CallView &view);
  bool readEachRow(plan::CallOp call, const CallView &view);

  std::optional<RowNumber> numberOf(Value index);
  std::optional<RowNumber> positionOf(Value mask, int64_t dim);
  std::optional<ExpertChoice> choiceOf(Value mask, int64_t tokenDim);
  std::optional<ExpertChoice> choiceAt(MovedRead read, int64_t expert, Expr token, int64_t tokens, Expr slot,
                                       int64_t slots);
  Value flatIds(const ExpertChoice &choice);
  const SpreadRows *spreadOf(Value value) const {
    auto found = spread.find(value);
    return found == spread.end() ? nullptr : &found->second;
  }
  bool replaceBySum(plan::CallOp call, Value self, const SpreadRows &rows);
  bool isEmpty(Value tensor, const ExpertChoice &choice);

  Block &block;
  IndexFunctions functions;
  llvm::DenseMap<Value, RowNumber> numbers;
  llvm::DenseMap<Value, SpreadRows> spread;
  llvm::DenseMap<Value, Value> flat;   ///< ids as [tokens, slots]
  llvm::DenseMap<Value, Written> sums; ///< of rows that are added to zeros
};

} // namespace

static bool isRowExtent(int64_t size) { return archive::isDataExtent(size); }

/// True if a dim of the value is known only when the step runs.
static bool hasRows(Value value) { return llvm::any_of(shapeOf(value), isRowExtent); }

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// The choice of an expert whose number `read` gives at a token and a slot; nullopt if views do not lead from there to
/// a tensor [*token dims, slots], or [*token dims] of one slot.
std::optional<ExpertChoice> RowSpreader::choiceAt(MovedRead read, int64_t expert, Expr token, int64_t tokens, Expr slot,
                                                  int64_t slots) {
  ExprBuilder &builder = functions.builder;
  for (std::optional<MovedRead> at = read; at && !llvm::is_contained(at->indices, nullptr);
       at = readThroughMovement(builder, at->operand, at->indices)) {
    ArrayRef<int64_t> shape = shapeOf(at->operand);
    if (!isa<IntegerType>(elementOf(at->operand)))
      return std::nullopt;
    if (typeOf(at->operand).getNumElements() != tokens * slots)
      continue;
    // The number of a single expert may have no dim for its slot.
    if (slots == 1 && at->indices == digitsOf(builder, token, tokens, shape))
      return ExpertChoice{at->operand, tokens, slots, expert, true};
    if (shape.size() < 2 || shape.back() != slots || at->indices.back() != slot ||
        ArrayRef(at->indices).drop_back() != ArrayRef(digitsOf(builder, token, tokens, shape.drop_back())))
      continue;
    std::optional<ChosenExperts> chosen = findChosenExperts(functions, at->operand);
    return ExpertChoice{at->operand, tokens, slots, expert, chosen && chosen->experts > 0};
  }
  return std::nullopt;
}

/// The choice of which `mask` says whether a token has made it: [tokens, slots] or the reverse, or [tokens] if it is
/// one for any slot. `tokenDim` is the dim of tokens.
std::optional<ExpertChoice> RowSpreader::choiceOf(Value mask, int64_t tokenDim) {
  ExprBuilder &builder = functions.builder;
  int64_t rank = rankOf(mask);
  if (rank < 1 || rank > 2 || llvm::is_contained(shapeOf(mask), 0))
    return std::nullopt;
  int64_t tokens = shapeOf(mask)[tokenDim], slots = rank == 2 ? shapeOf(mask)[1 - tokenDim] : 1;
  std::optional<MovedRead> at = MovedRead{mask, coordinatesOf(builder, shapeOf(mask))};
  Expr token = at->indices[tokenDim], slot = rank == 2 ? at->indices[1 - tokenDim] : builder.integer(0);
  for (int budget = 16; at && budget > 0 && !llvm::is_contained(at->indices, nullptr); --budget) {
    auto call = at->operand.getDefiningOp<plan::CallOp>();
    if (!call)
      return std::nullopt;
    CallView view = CallView::of(call);
    Value self = tensorArgument(call, view, "self");
    if (view.target == "aten.one_hot.default" && self) {
      Expr expert = at->indices.pop_back_val();
      return expert->isConstant() ? choiceAt({self, at->indices}, expert->value, token, tokens, slot, slots)
                                  : std::nullopt;
    }
    if (view.target == "aten.eq.Scalar" && self && isa_and_present<IntegerAttr>(view.get("other")))
      return choiceAt({self, at->indices}, view.getInt("other", 0), token, tokens, slot, slots);
    bool isAny = view.target == "aten.any.dim" && !view.getBool("keepdim", false);
    if (isAny && self && rank == 1 && rankOf(self) == 2) {
      std::optional<int64_t> dim = countedDim(view.getInt("dim", 0), 2);
      return dim && at->indices == Indices{token} ? choiceOf(self, 1 - *dim) : std::nullopt;
    }
    bool isTruth = llvm::is_contained({"aten.ne.Scalar", "aten.gt.Scalar"}, view.target) && self &&
                   view.getFloat("other", 1) == 0 && isa<IntegerType>(elementOf(self));
    at = isTruth ? MovedRead{self, at->indices} : readThroughMovement(builder, at->operand, at->indices);
  }
  return std::nullopt;
}

/// What an index tensor or a mask chooses.
std::optional<RowNumber> RowSpreader::numberOf(Value index) {
  auto found = numbers.find(index);
  if (found != numbers.end())
    return found->second;
  if (!elementOf(index).isInteger(1) || rankOf(index) != 1)
    return std::nullopt;
  std::optional<ExpertChoice> choice = choiceOf(index, 0);
  return choice ? std::optional(RowNumber{*choice}) : std::nullopt;
}

Value RowSpreader::flatIds(const ExpertChoice &choice) {
  Value &ids = flat[choice.ids];
  if (!ids) {
    Operation *maker = choice.ids.getDefiningOp();
    auto next = maker ? maker->getNextNode() : &block.front();
    while (!isa<plan::CallOp>(next))
      next = next->getNextNode();
    ids = reshaped(choice.ids, {choice.tokens, choice.slots}, cast<plan::CallOp>(next));
  }
  return ids;
}

/// The positions where a mask is true: a tensor of numbers for each of its dims.
bool RowSpreader::readPositions(plan::CallOp call, const CallView &view) {
  Value mask = tensorArgument(call, view, view.getOperand("condition") ? "condition" : "self");
  if (!mask || static_cast<int64_t>(call.getNumResults()) != rankOf(mask))
    return false;
  for (auto [dim, result] : llvm::enumerate(call.getResults()))
    if (std::optional<RowNumber> number = positionOf(mask, dim))
      numbers[result] = *number;
    else
      return false;
  return true;
}

/// The positions in one dim of a mask.
std::optional<RowNumber> RowSpreader::positionOf(Value mask, int64_t dim) {
  for (int64_t tokenDim = 0; tokenDim < std::min<int64_t>(rankOf(mask), 2); ++tokenDim)
    if (std::optional<ExpertChoice> choice = choiceOf(mask, tokenDim))
      return RowNumber{*choice, dim == tokenDim};
  return std::nullopt;
}

/// The positions where a mask is true, as one tensor [n, dims of the mask].
bool RowSpreader::readList(plan::CallOp call, const CallView &view) {
  Value mask = tensorArgument(call, view, "self");
  return mask && positionOf(mask, 0);
}

/// A column of the positions where a mask is true, [n, dims of the mask].
bool RowSpreader::readColumn(plan::CallOp call, const CallView &view) {
  Value self = tensorArgument(call, view, "self");
  auto places = self ? self.getDefiningOp<plan::CallOp>() : plan::CallOp();
  if (!places || places.getTarget() != "aten.nonzero.default" || countedDim(view.getInt("dim", 0), 2) != 1)
    return readEachRow(call, view);
  Value mask = places.getOperand(0);
  std::optional<int64_t> dim = countedDim(view.getInt("index", 0), rankOf(mask));
  std::optional<RowNumber> number = dim ? positionOf(mask, *dim) : std::nullopt;
  if (number)
    numbers[call.getResult(0)] = *number;
  return number.has_value();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Rows of tokens: all of them.
bool RowSpreader::readRowsOf(plan::CallOp call, Value self, int64_t dim, Value index) {
  std::optional<RowNumber> number = numberOf(index);
  SmallVector<int64_t> shape(shapeOf(call.getResult(0)));
  if (!number || !number->isToken || hasRows(self) || static_cast<int64_t>(shape.size()) != rankOf(self) ||
      shapeOf(self)[dim] != number->choice.tokens || !isRowExtent(shape[dim]))
    return false;
  shape[dim] = number->choice.tokens;
  if (ArrayRef<int64_t>(shape) != shapeOf(self))
    return false;
  // One number for each token.
  bool isColumn = shape.size() == 1 || (shape.size() == 2 && shape[1] == 1);
  std::optional<ExpertGate> gate = isColumn ? readExpertGate(functions, self) : std::nullopt;
  if (isColumn && !gate && number->choice.slots == 1 && isa<FloatType>(elementOf(self)))
    return buildGates(call, reshaped(self, {number->choice.tokens, 1}, call), number->choice);
  bool isOwnGate = gate && gate->expert == number->choice.expert && gate->indices == number->choice.ids;
  spread[call.getResult(0)] = {self, isOwnGate, isOwnGate ? Value() : self, number->choice};
  return true;
}

/// The value of a pair, of `self` [tokens, slots] or with further dims of size 1: of the slot in which a token has
/// chosen the expert.
bool RowSpreader::readGates(plan::CallOp call, Value self, const RowNumber &number) {
  const ExpertChoice &choice = number.choice;
  Value result = call.getResult(0);
  ArrayRef<int64_t> shape = shapeOf(self);
  bool isGate = shape.size() >= 2 && shape.take_front(2) == ArrayRef({choice.tokens, choice.slots}) &&
                llvm::all_of(shape.drop_front(2), [](int64_t size) { return size == 1; }) &&
                rankOf(result) + 1 == rankOf(self) && rankOf(result) <= 2 && isa<FloatType>(elementOf(self));
  if (!isGate)
    return false;
  auto column = self.getDefiningOp<plan::CallOp>();
  bool isColumn =
      column && shape.size() == 3 && keepsOrder(column) && shapeOf(column.getOperand(0)) == shape.drop_back();
  Value values = isColumn ? column.getOperand(0) : reshaped(self, shape.take_front(2), call);
  return buildGates(call, values, choice);
}

/// In place of one value for each row of `call`: `values` [tokens, slots] of the slot in which a token has chosen the
/// expert, and 0 for other tokens.
bool RowSpreader::buildGates(plan::CallOp call, Value values, const ExpertChoice &choice) {
  Value result = call.getResult(0);
  Type type = elementOf(values);
  Value mask = CallBuilder("aten.eq.Scalar", call)
                   .tensor("self", flatIds(choice))
                   .integer("other", choice.expert)
                   .build(shapeOf(values), IntegerType::get(call.getContext(), 1));
  Value masked =
      CallBuilder("aten.mul.Tensor", call).tensor("self", values).tensor("other", mask).build(shapeOf(values), type);
  bool keepsDim = rankOf(result) == 2;
  SmallVector<int64_t> summed{choice.tokens};
  if (keepsDim)
    summed.push_back(1);
  Value gates = CallBuilder("aten.sum.dim_IntList", call)
                    .tensor("self", masked)
                    .integers("dim", {-1})
                    .flag("keepdim", keepsDim)
                    .build(summed, type);
  spread[result] = {gates, /*isZero=*/true, {}, choice};
  return true;
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
                  shapeOf(indexed[0].second) == shapeOf(indexed[1].second);
  return areOfOne && readGates(call, self, token->second);
}

/// The sum of `self` and what all tokens have.
bool RowSpreader::replaceBySum(plan::CallOp call, Value self, const SpreadRows &rows) {
  Value result = call.getResult(0);
  if (self.getType() != rows.all.getType() || self.getType() != result.getType() || hasRows(self))
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
  if (found != sums.end())
    return choice.slots == 1 && found->second.ids == choice.ids &&
           !llvm::is_contained(found->second.experts, choice.expert);
  return functions.of(tensor) == functions.builder.number(0);
}

/// True if the index numbers the tokens of these rows.
static bool areOf(const std::optional<RowNumber> &number, const SpreadRows &rows) {
  return number && number->isToken && number->choice.ids == rows.choice.ids &&
         number->choice.expert == rows.choice.expert;
}

/// Rows that are added at the numbers of their tokens.
bool RowSpreader::readAdded(plan::CallOp call, const CallView &view) {
  Value self = tensorArgument(call, view, "self"), source = tensorArgument(call, view, "source"),
        index = tensorArgument(call, view, "index");
  const SpreadRows *rows = source ? spreadOf(source) : nullptr;
  return self && rows && index && rows->isZero && areOf(numberOf(index), *rows) && view.getFloat("alpha", 1) == 1 &&
         countedDim(view.getInt("dim", 0), rankOf(self)) == 0 && replaceBySum(call, self, *rows);
}

/// Rows that are written, or added, at the numbers of their tokens.
bool RowSpreader::readWritten(plan::CallOp call, const CallView &view) {
  Value self = tensorArgument(call, view, "self"), values = tensorArgument(call, view, "values");
  SmallVector<std::optional<unsigned>> indices = view.getOperands("indices");
  const SpreadRows *rows = values ? spreadOf(values) : nullptr;
  if (!self || !rows || indices.size() != 1 || !indices.front() ||
      !areOf(numberOf(call.getOperand(*indices.front())), *rows))
    return false;
  if (view.getBool("accumulate", false))
    return rows->isZero && replaceBySum(call, self, *rows);
  // A token that has an expert in two slots would be written twice.
  if (rows->isZero && rows->choice.isDistinct && isEmpty(self, rows->choice))
    return replaceBySum(call, self, *rows);
  bool isKept = rows->choice.isDistinct && rows->elsewhere == self && rows->all.getType() == self.getType();
  if (isKept)
    call.getResult(0).replaceAllUsesWith(rows->all);
  return isKept;
}

/// Sizes in which the rows are all tokens.
static Attribute withTokens(Attribute argument, int64_t tokens) {
  Builder builder(argument.getContext());
  if (auto list = dyn_cast<ArrayAttr>(argument))
    return builder.getArrayAttr(llvm::map_to_vector(list, [&](Attribute item) { return withTokens(item, tokens); }));
  auto number = dyn_cast<IntegerAttr>(argument);
  return number && number.getType().isInteger(64) && isRowExtent(number.getInt()) ? builder.getI64IntegerAttr(tokens)
                                                                                  : argument;
}

static RankedTensorType withTokens(RankedTensorType type, int64_t tokens) {
  SmallVector<int64_t> shape =
      llvm::map_to_vector(type.getShape(), [&](int64_t size) { return isRowExtent(size) ? tokens : size; });
  return RankedTensorType::get(shape, type.getElementType());
}

/// True if the dims of rows are one factor of the call, which it does not combine, and no other tensor has it.
static bool computesRows(const CallView &view) {
  FactorRule rule = factorRuleOf(view, OpRegistry::get().lookup(view.target));
  std::optional<unsigned> row;
  auto isRow = [&](const TensorFactors &tensor, RankedTensorType type) {
    for (auto [factors, size] : llvm::zip_equal(tensor.dims, type.getShape())) {
      if (isRowExtent(size)) {
        if (factors.size() != 1 || (row && factors.front() != *row))
          return false;
        row = factors.front();
      }
    }
    return true;
  };
  for (auto [tensor, type] : llvm::zip_equal(rule.results, view.results))
    if (!isRow(tensor, type) || !llvm::any_of(type.getShape(), isRowExtent))
      return false;
  for (auto [tensor, type] : llvm::zip_equal(rule.operands, view.operands))
    if (!isRow(tensor, type))
      return false;
  return row && rule.factors[*row].kind == FactorKind::parallel;
}

/// What a pointwise operator on rows gives for tokens that have not chosen the expert.
static std::pair<bool, Value> elsewhereOf(plan::CallOp call, ArrayRef<const SpreadRows *> rows) {
  StringRef target = call.getTarget();
  auto isZero = [](const SpreadRows *each) { return each && each->isZero; };
  bool moves =
      keepsOrder(call) || llvm::is_contained({"aten.to.dtype", "aten.neg.default", "aten.clone.default"}, target);
  if (target == "aten.mul.Tensor")
    return {llvm::any_of(rows, isZero), {}};
  if (moves)
    return {isZero(rows.front()), {}};
  if (target != "aten.add.Tensor" || rows.size() != 2 || CallView::of(call).getFloat("alpha", 1) != 1)
    return {false, {}};
  if (isZero(rows[0]) && isZero(rows[1]))
    return {true, {}};
  for (unsigned side : {0, 1})
    if (isZero(rows[side]) && rows[1 - side])
      return {false, rows[1 - side]->elsewhere};
  return {false, {}};
}

/// The value of this type from which only views lead to `value`, or null.
static Value sameBeforeViews(Value value, Type type) {
  while (value.getType() != type) {
    auto call = value.getDefiningOp<plan::CallOp>();
    if (!call || !keepsOrder(call))
      return {};
    value = call.getOperand(0);
  }
  return value;
}

/// An operator on each row alone.
bool RowSpreader::readEachRow(plan::CallOp call, const CallView &view) {
  SmallVector<const SpreadRows *> rows;
  const SpreadRows *first = nullptr;
  for (Value operand : call.getOperands()) {
    rows.push_back(spreadOf(operand));
    if (!rows.back() && hasRows(operand))
      return false;
    if (first && rows.back() &&
        (rows.back()->choice.ids != first->choice.ids || rows.back()->choice.expert != first->choice.expert))
      return false;
    first = first ? first : rows.back();
  }
  if (!first || !computesRows(view))
    return false;
  ExpertChoice choice = first->choice;
  auto [isZero, elsewhere] = elsewhereOf(call, rows);
  // Views of rows that give back the tokens themselves.
  Value same =
      keepsOrder(call) ? sameBeforeViews(first->all, withTokens(typeOf(call.getResult(0)), choice.tokens)) : Value();
  if (same) {
    spread[call.getResult(0)] = {same, isZero, elsewhere, choice};
    return true;
  }
  SmallVector<Value> operands;
  for (auto [operand, own] : llvm::zip_equal(call.getOperands(), rows))
    operands.push_back(own ? own->all : operand);
  auto own = cast<plan::CallOp>(OpBuilder(call).clone(*call));
  own->setOperands(operands);
  own.setArgsAttr(cast<DictionaryAttr>(
      DictionaryAttr::get(call.getContext(), llvm::map_to_vector(call.getArgs(), [&](NamedAttribute argument) {
                            return NamedAttribute(argument.getName(), withTokens(argument.getValue(), choice.tokens));
                          }))));
  for (auto [old, result] : llvm::zip_equal(call.getResults(), own.getResults())) {
    result.setType(withTokens(typeOf(old), choice.tokens));
    spread[old] = {result, isZero, elsewhere, choice};
  }
  return true;
}

bool RowSpreader::visit(plan::CallOp call) {
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

static InFlightDiagnostic refuse(plan::CallOp call) {
  bool isOwn = llvm::any_of(call.getResults(), hasRows);
  auto name = dyn_cast<NameLoc>(call.getLoc());
  auto error = call.emitError() << "the shape of " << (isOwn ? "'" : "an operand of '")
                                << (name ? name.getName().getValue() : call.getTarget())
                                << "' depends on data, in a form "
                                << "that is not known for experts";
  error.attachNote(call.getLoc()) << "it is " << operatorText(call.getTarget(), call.getModule());
  error.attachNote(call.getLoc())
      << "help: use operations whose result shape follows from the shapes of the inputs; in a "
         "loop over experts, take their tokens with torch.where(ids == e) and add the results "
         "times the gates with index_add";
  return error;
}

LogicalResult RowSpreader::run() {
  auto isOfRows = [](plan::CallOp call) {
    return llvm::any_of(call.getOperands(), hasRows) || llvm::any_of(call.getResults(), hasRows);
  };
  if (llvm::none_of(block.getOps<plan::CallOp>(), isOfRows))
    return success();
  eraseUnread(block);
  for (plan::CallOp call : llvm::make_early_inc_range(block.getOps<plan::CallOp>()))
    if (isOfRows(call) && !visit(call))
      return refuse(call);
  eraseUnread(block);
  // What is read after all, such as the rows as a result of the model.
  for (plan::CallOp call : block.getOps<plan::CallOp>())
    if (isOfRows(call))
      return refuse(call);
  return success();
}

namespace {

struct SpreadChosenRowsPass : meshplan::impl::SpreadChosenRowsBase<SpreadChosenRowsPass> {
  void runOnOperation() final {
    for (Block &block : getOperation().getBody())
      if (failed(RowSpreader(block).run()))
        return signalPassFailure();
  }
};

} // namespace
