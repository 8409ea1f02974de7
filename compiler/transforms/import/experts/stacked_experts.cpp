//===- stacked_experts.cpp - stacked experts that see all tokens ----------===//
//
// Experts with stacked weights may compute all tokens, with the experts as a dim of their own: [experts, *tokens,
// features], or [*tokens, experts, features]. Gates multiply what the experts read or what they make. A gate is 0 where
// the token has not chosen the expert, and so is all that is computed from zeros without an addend. If zeros are summed
// there over the experts, only rows of chosen experts are needed.
//
// Example, read backwards from the sum, with 8 experts, 64 tokens and 2 slots
//
//   sum over dim 0     [64, 32]      combine
//   bmm with v         [8, 64, 32]   product; 0 where its operand is
//   silu               [8, 64, 96]   compute; silu(0) is 0
//   bmm with w         [8, 64, 96]   product
//   mul                [8, 64, 32]   compute; 0 where the gate is
//     cat x 8 times                  dispatch of x [64, 32]
//     gates            [8, 64, 1]    sigmoid(scatter(full -inf [64, 8], indices, values)) transposed:
//                                    dispatch of sigmoid(values)
//
// An einsum over the experts, `te,ted->td`, is such a sum of products with gates.

#include "compiler/transforms/import/experts/stacked_experts.h"
#include "compiler/support/layer_names.h"
#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/transforms/import/experts/expert_gates.h"
#include "compiler/transforms/import/index_functions/call_reader.h"
#include "compiler/transforms/import/movement_chain.h"
#include "dialect/plan/call_builder.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

namespace {

/// What is known of rows where the token has not chosen the expert.
enum class Elsewhere { anything, zero };

/// The dims of rows: [experts, *tokens, features], [*tokens, experts, features] or [experts * tokens, features].
enum class Form { first, last, merged };

class StackedExpertsReader {
public:
  StackedExpertsReader(SparseGatesReader &gates, plan::CallOp sum)
      : gates(gates), functions(gates.functions), builder(functions.builder), sum(sum) {}

  std::optional<RoutedRegion> read();

private:
  std::optional<Elsewhere> readOperand(Value value, Form form, plan::CallOp reader);
  std::optional<Elsewhere> readRows(Value value, Form form);
  std::optional<Elsewhere> readCall(plan::CallOp call, const CallView &view, Form form);
  std::optional<Elsewhere> readProduct(plan::CallOp call, Value rows, Value weight, bool isTransposed, Form form);
  std::optional<Elsewhere> readMatmul(plan::CallOp call, const CallView &view, Form form);
  std::optional<Elsewhere> readEinsum(plan::CallOp call, Form form);
  std::optional<Elsewhere> readView(plan::CallOp call, Form form);
  std::optional<Elsewhere> readBias(plan::CallOp call, const CallView &view, Form form);
  std::optional<Elsewhere> readCompute(plan::CallOp call, const CallView &view, Form form);
  bool isDispatched(Value value, plan::CallOp reader);
  void dispatch(Value value, Value tokenRows, plan::CallOp reader);
  Value readTokens(Value value, Form form);
  bool readGates(plan::CallOp reader, Value value, Form form);
  bool isReadOnlyHere() const;

  /// The number of dims of `value` in front of the features if it has this form; 0 if it has not.
  unsigned leadOf(Value value, Form form) const;
  Indices leadIndices(Value value, Form form) const;
  void define(Value value, RoutedRows rows) { region.rows[value] = rows; }

  SparseGatesReader &gates;
  IndexFunctions &functions;
  ExprBuilder &builder;
  plan::CallOp sum;
  RoutedRegion region;
  int64_t experts = 0, tokens = 0;
  Expr expert = nullptr, token = nullptr;
  llvm::DenseMap<Value, Elsewhere> known;
  llvm::DenseSet<Operation *> calls;
  int budget = 256; ///< calls that may still be read
};

} // namespace

unsigned StackedExpertsReader::leadOf(Value value, Form form) const {
  ArrayRef<int64_t> shape = shapeOf(value);
  if (form == Form::merged)
    return shape.size() == 2 && shape[0] == experts * tokens ? 1 : 0;
  if (shape.size() < 3)
    return 0;
  ArrayRef<int64_t> lead = shape.drop_back();
  bool isFirst = form == Form::first;
  int64_t others = llvm::product_of(isFirst ? lead.drop_front() : lead.drop_back());
  return (isFirst ? lead.front() : lead.back()) == experts && others == tokens ? lead.size() : 0;
}

/// The indices of the leading dims for an expert and a token. A dim of experts of size 1 is the same for all of them.
Indices StackedExpertsReader::leadIndices(Value value, Form form) const {
  if (form == Form::merged)
    return {builder.add(builder.multiply(expert, tokens), token)};
  ArrayRef<int64_t> lead = shapeOf(value).drop_back();
  bool isFirst = form == Form::first;
  ArrayRef<int64_t> others = isFirst ? lead.drop_front() : lead.drop_back();
  if (llvm::product_of(others) != tokens)
    return {};
  Indices indices = digitsOf(builder, token, tokens, others);
  indices.insert(isFirst ? indices.begin() : indices.end(),
                 lead[isFirst ? 0 : lead.size() - 1] == 1 ? builder.integer(0) : expert);
  return indices;
}

std::optional<Elsewhere> StackedExpertsReader::readRows(Value value, Form form) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  auto call = value.getDefiningOp<plan::CallOp>();
  unsigned lead = leadOf(value, form);
  if (!call || lead == 0 || --budget < 0 ||
      llvm::any_of(call.getResults(), [&](Value result) { return leadOf(result, form) != lead; }))
    return std::nullopt;
  std::optional<Elsewhere> elsewhere = readCall(call, CallView::of(call), form);
  if (!elsewhere) {
    // Calls are read from the last one on: what one reads has been refused first.
    if (!region.obstacle) {
      region.obstacle = call;
      region.why =
          operatorText(call.getTarget(), call.getModule()) + " computes in a form that is not known for experts";
    }
    return std::nullopt;
  }
  calls.insert(call);
  for (Value result : call.getResults()) {
    known[result] = *elsewhere;
    define(result, {{}, lead});
  }
  return elsewhere;
}

std::optional<Elsewhere> StackedExpertsReader::readCall(plan::CallOp call, const CallView &view, Form form) {
  if (view.target == "aten.bmm.default" || view.target == "aten.matmul.default")
    return readMatmul(call, view, form);
  if (view.target == "aten.einsum.default")
    return readEinsum(call, form);
  if (keepsOrder(call))
    return readView(call, form);
  if (view.target == "aten.add.Tensor" && call.getNumOperands() == 2)
    if (std::optional<Elsewhere> biased = readBias(call, view, form))
      return biased;
  return readCompute(call, view, form);
}

/// What a call reads as rows: gates, tokens that are the same for all experts, or what experts compute.
std::optional<Elsewhere> StackedExpertsReader::readOperand(Value value, Form form, plan::CallOp reader) {
  if (rankOf(value) < 2)
    return std::nullopt;
  if (shapeOf(value).back() == 1 && readGates(reader, value, form))
    return Elsewhere::zero;
  if (Value tokenRows = readTokens(value, form)) {
    dispatch(value, tokenRows, reader);
    return Elsewhere::anything;
  }
  return readRows(value, form);
}

/// True if a step makes `value` from what no expert computes, then before `reader`.
bool StackedExpertsReader::isDispatched(Value value, plan::CallOp reader) {
  auto isMaker = [&](const RoutedStep &step) {
    return step.made == value && (step.kind == RoutedStep::dispatch || step.kind == RoutedStep::dispatchGates);
  };
  auto *step = llvm::find_if(region.steps, isMaker);
  if (step == region.steps.end())
    return false;
  // Calls are read from the last one on: an earlier reader needs the rows earlier.
  if (reader->isBeforeInBlock(step->place))
    step->place = reader;
  return true;
}

/// Gives `value` the rows of tokens.
void StackedExpertsReader::dispatch(Value value, Value tokenRows, plan::CallOp reader) {
  if (isDispatched(value, reader))
    return;
  region.steps.push_back({RoutedStep::dispatch, reader, value, tokenRows, {}});
  define(value, {{}, static_cast<unsigned>(rankOf(value) - 1)});
}

std::optional<Elsewhere> StackedExpertsReader::readProduct(plan::CallOp call, Value rows, Value weight,
                                                           bool isTransposed, Form form) {
  Value result = call.getResult(0);
  int64_t in = shapeOf(rows).back(), out = shapeOf(result).back();
  if (exchangesLastDims(builder, weight)) {
    weight = weight.getDefiningOp()->getOperand(0);
    isTransposed = !isTransposed;
  }
  if (elementOf(rows) != elementOf(result) || elementOf(weight) != elementOf(result) ||
      shapeOf(weight) != (isTransposed ? ArrayRef({experts, in, out}) : ArrayRef({experts, out, in})))
    return std::nullopt;
  region.multiplies = true;
  std::optional<Elsewhere> elsewhere = readOperand(rows, form, call);
  if (elsewhere)
    region.steps.push_back({RoutedStep::product, call, result, rows, weight, isTransposed});
  return elsewhere;
}

std::optional<Elsewhere> StackedExpertsReader::readMatmul(plan::CallOp call, const CallView &view, Form form) {
  Value rows = tensorArgument(call, view, "self");
  Value weight = tensorArgument(call, view, view.get("mat2") ? "mat2" : "other");
  if (!rows || !weight || form != Form::first || rankOf(rows) != 3 || rankOf(call.getResult(0)) != 3)
    return std::nullopt;
  return readProduct(call, rows, weight, /*isTransposed=*/true, form);
}

/// `td,edf->tef`, `tef,efd->ted` and the like: the features of rows are last.
std::optional<Elsewhere> StackedExpertsReader::readEinsum(plan::CallOp call, Form form) {
  std::optional<PairEinsum> pair = pairEinsumOf(call);
  if (!pair || form == Form::merged || pair->result.size() < 3)
    return std::nullopt;
  char feature = pair->result.back(), expertDim = form == Form::first ? pair->result.front() : pair->result.end()[-2];
  if (!StringRef(pair->right).contains(feature)) {
    std::swap(pair->left, pair->right);
    std::swap(pair->leftValue, pair->rightValue);
  }
  StringRef rows = pair->left, weight = pair->right, result = pair->result;
  if (rows.size() < 2 || weight.size() != 3 || weight.front() != expertDim)
    return std::nullopt;
  char contracted = rows.back();
  std::string tokenDims = result.drop_back().str();
  std::erase(tokenDims, expertDim);
  // Rows are those of all experts, or of tokens.
  bool isTokens = rows.drop_back() == tokenDims;
  bool isTransposed = weight[1] == contracted && weight[2] == feature;
  if ((!isTokens && rows.drop_back() != result.drop_back()) ||
      (!isTransposed && (weight[1] != feature || weight[2] != contracted)) || result.contains(contracted))
    return std::nullopt;
  if (!isTokens)
    return readProduct(call, pair->leftValue, pair->rightValue, isTransposed, form);
  Value tokenRows = findTokenRows(functions, pair->leftValue);
  if (!tokenRows || typeOf(pair->leftValue).getNumElements() != tokens * shapeOf(pair->leftValue).back() ||
      elementOf(pair->leftValue) != elementOf(call.getResult(0)) ||
      elementOf(pair->rightValue) != elementOf(call.getResult(0)) || shapeOf(pair->rightValue)[0] != experts)
    return std::nullopt;
  region.multiplies = true;
  dispatch(pair->leftValue, tokenRows, call);
  region.steps.push_back(
      {RoutedStep::product, call, call.getResult(0), pair->leftValue, pair->rightValue, isTransposed});
  return Elsewhere::anything;
}

std::optional<Elsewhere> StackedExpertsReader::readView(plan::CallOp call, Form form) {
  Value self = call.getOperand(0), result = call.getResult(0);
  if (rankOf(self) < 2 || shapeOf(self).back() != shapeOf(result).back())
    return std::nullopt;
  Form other = form == Form::first ? Form::merged : form == Form::merged ? Form::first : form;
  std::optional<Elsewhere> elsewhere = readRows(self, leadOf(self, form) != 0 ? form : other);
  if (elsewhere)
    region.steps.push_back({RoutedStep::same, call, result, self, {}});
  return elsewhere;
}

/// Rows plus a vector for each expert.
std::optional<Elsewhere> StackedExpertsReader::readBias(plan::CallOp call, const CallView &view, Form form) {
  Value result = call.getResult(0);
  if (form == Form::merged || view.getFloat("alpha", 1) != 1)
    return std::nullopt;
  SmallVector<int64_t> broadcast(rankOf(result), 1);
  broadcast[form == Form::first ? 0 : rankOf(result) - 2] = experts;
  broadcast.back() = shapeOf(result).back();
  auto vectors = RankedTensorType::get({experts, broadcast.back()}, elementOf(result));
  for (unsigned side : {0, 1}) {
    Value rows = call.getOperand(side), bias = call.getOperand(1 - side);
    // Dims of size 1 in front may be left out.
    if (shapeOf(rows) != shapeOf(result) || !isExactIn(elementOf(rows), elementOf(result)) || rankOf(bias) < 2 ||
        shapeOf(bias) != ArrayRef(broadcast).take_back(rankOf(bias)))
      continue;
    Value each = beforeViews(bias, vectors);
    if (!each || !readOperand(rows, form, call))
      continue;
    region.steps.push_back({RoutedStep::bias, call, result, rows, each});
    return Elsewhere::anything;
  }
  return std::nullopt;
}

/// An operator on each row alone.
std::optional<Elsewhere> StackedExpertsReader::readCompute(plan::CallOp call, const CallView &view, Form form) {
  if (!computesEachRow(call, leadOf(call.getResult(0), form)))
    return std::nullopt;
  bool isAnyZero = false, areAllZero = true, areKnown = true;
  for (Value operand : call.getOperands()) {
    if (isSameForRows(operand)) {
      areAllZero = false;
      continue;
    }
    std::optional<Elsewhere> elsewhere = readOperand(operand, form, call);
    // Gates may come last. Without them, there is nothing to be explained.
    areKnown &= elsewhere.has_value();
    isAnyZero |= elsewhere == Elsewhere::zero;
    areAllZero &= elsewhere == Elsewhere::zero;
  }
  if (!areKnown)
    return std::nullopt;
  region.steps.push_back({RoutedStep::compute, call, {}, {}, {}});
  bool isZero = view.target == "aten.mul.Tensor"                                 ? isAnyZero
                : takesParts(view.target) || keepsZeros(call)                    ? areAllZero
                : view.target == "aten.add.Tensor" && call.getNumOperands() == 2 ? areAllZero
                                                                                 : false;
  return isZero ? Elsewhere::zero : Elsewhere::anything;
}

/// The tensor [*token dims, features] that `value` repeats for each expert, or null.
Value StackedExpertsReader::readTokens(Value value, Form form) {
  if (!isa<FloatType>(elementOf(value)))
    return {};
  Expr feature = builder.coordinate(2, shapeOf(value).back());
  std::optional<MovedRead> at = MovedRead{value, leadIndices(value, form)};
  if (at->indices.empty())
    return {};
  at->indices.push_back(feature);
  while (at && !llvm::is_contained(at->indices, nullptr)) {
    if (Value tensor = findTokenSource(functions, {*at, token, tokens, {feature}, {shapeOf(value).back()}}))
      return tensor;
    auto call = at->operand.getDefiningOp<plan::CallOp>();
    if (call && call.getTarget() == "aten.cat.default" && llvm::all_equal(call.getOperands())) {
      Value part = call.getOperand(0);
      std::optional<int64_t> dim = countedDim(CallView::of(call).getInt("dim", 0), rankOf(part));
      if (!dim || rankOf(part) != rankOf(at->operand) ||
          shapeOf(part)[*dim] * static_cast<int64_t>(call.getNumOperands()) != shapeOf(at->operand)[*dim])
        return {};
      at->indices[*dim] = builder.modulo(at->indices[*dim], shapeOf(part)[*dim]);
      at->operand = part;
      continue;
    }
    at = readThroughMovement(builder, at->operand, at->indices);
  }
  return {};
}

/// Gates that are moved from [*token dims, experts].
bool StackedExpertsReader::readGates(plan::CallOp reader, Value value, Form form) {
  if (leadOf(value, form) == 0)
    return false;
  std::optional<ExpertGate> all =
      readMovedGates(gates, value, leadIndices(value, form), {expert, token, experts, tokens});
  std::optional<ChosenExperts> chosen = all ? findChosenExperts(functions, all->indices) : std::nullopt;
  if (!chosen || chosen->experts != experts || chosen->tokens != tokens ||
      (region.chosen.indices && region.chosen.indices != chosen->indices))
    return false;
  region.chosen = *chosen;
  if (isDispatched(value, reader))
    return true;
  Value pairs = findPairValues(functions, all->values, *chosen);
  region.steps.push_back({RoutedStep::dispatchGates, reader, value, pairs ? pairs : all->values, {}});
  define(value, {{}, leadOf(value, form), -1});
  return true;
}

/// True if no other call reads rows, but for calls that are not read themselves.
bool StackedExpertsReader::isReadOnlyHere() const {
  return llvm::all_of(known, [&](const auto &rows) {
    return llvm::all_of(Value(rows.first).getUsers(),
                        [&](Operation *user) { return calls.contains(user) || isOpTriviallyDead(user); });
  });
}

std::optional<RoutedRegion> StackedExpertsReader::read() {
  CallView view = CallView::of(sum);
  Value self = tensorArgument(sum, view, "self"), result = sum.getResult(0);
  int64_t rank = self ? rankOf(self) : 0;
  if (rank < 3 || view.getBool("keepdim", false) || typeOf(self).getNumElements() == 0 ||
      elementOf(result) != elementOf(self))
    return std::nullopt;
  bool isFirst = isAlong(sum, 0);
  if (!isFirst && !isAlong(sum, rank - 2))
    return std::nullopt;
  experts = shapeOf(self)[isFirst ? 0 : rank - 2];
  tokens = llvm::product_of(shapeOf(result).drop_back());
  expert = builder.coordinate(0, experts);
  token = builder.coordinate(1, tokens);
  calls.insert(sum);
  std::optional<Elsewhere> elsewhere = experts < 2 ? std::nullopt : readRows(self, isFirst ? Form::first : Form::last);
  if (!region.chosen.indices)
    return std::nullopt;
  if (elsewhere != Elsewhere::zero || !isReadOnlyHere()) {
    if (!region.obstacle) {
      region.obstacle = sum;
      region.why = elsewhere == Elsewhere::zero ? "what one expert makes is also read elsewhere"
                                                : "what they make for tokens that have not chosen them is not 0";
    }
    return region;
  }
  region.steps.push_back({RoutedStep::combine, sum, result, self, {}});
  region.setTokenDims();
  return region;
}

std::optional<RoutedRegion> meshplan::readStackedExperts(SparseGatesReader &gates, plan::CallOp sum) {
  return StackedExpertsReader(gates, sum).read();
}

/// gates [*tokens, 1, experts] x rows [*tokens, experts, features] as a sum of products.
static SpelledOutSum spellOutProduct(SparseGatesReader &gates, plan::CallOp product) {
  CallView view = CallView::of(product);
  Value left = tensorArgument(product, view, "self");
  Value right = tensorArgument(product, view, view.get("mat2") ? "mat2" : "other");
  plan::CallOp wide = callOf(left);
  int64_t rank = left ? rankOf(left) : 0;
  if (rank < 3 || !right || rankOf(right) != rank || shapeOf(left)[rank - 2] != 1 ||
      shapeOf(right).drop_back(2) != shapeOf(left).drop_back(2) || shapeOf(right)[rank - 2] != shapeOf(left).back() ||
      !wide || !keepsOrder(wide) || !readExpertGates(gates, wide.getOperand(0)))
    return {};
  Type type = elementOf(product.getResult(0));
  SmallVector<int64_t> column(shapeOf(right).drop_back()), summed(shapeOf(right).drop_back(2));
  column.push_back(1);
  summed.push_back(shapeOf(right).back());
  Value weighted = CallBuilder("aten.mul.Tensor", product)
                       .tensor("self", right)
                       .tensor("other", reshaped(left, column, product))
                       .build(shapeOf(right), type);
  Value sum = CallBuilder("aten.sum.dim_IntList", product)
                  .tensor("self", weighted)
                  .integers("dim", {rank - 2})
                  .flag("keepdim", false)
                  .build(summed, type);
  return {sum.getDefiningOp<plan::CallOp>(), reshaped(sum, shapeOf(product.getResult(0)), product)};
}

SpelledOutSum meshplan::spellOutExpertSum(SparseGatesReader &gates, plan::CallOp einsum) {
  if (einsum.getTarget() != "aten.einsum.default")
    return spellOutProduct(gates, einsum);
  std::optional<PairEinsum> pair = pairEinsumOf(einsum);
  if (!pair)
    return {};
  if (pair->left.size() > pair->right.size()) {
    std::swap(pair->left, pair->right);
    std::swap(pair->leftValue, pair->rightValue);
  }
  // The gates have the dims of the rows but the features, experts last.
  StringRef left = pair->left, right = pair->right;
  if (left.size() < 2 || right.size() != left.size() + 1 || left.drop_back().str() + right.back() != pair->result ||
      elementOf(pair->leftValue) != elementOf(pair->rightValue) || !readExpertGates(gates, pair->leftValue))
    return {};
  Type type = elementOf(einsum.getResult(0));
  bool isFirst = right.front() == left.back() && right.drop_front().drop_back() == left.drop_back();
  if (!isFirst && right.drop_back() != left)
    return {};
  Value factor = pair->leftValue;
  SmallVector<int64_t> shape(shapeOf(factor));
  if (isFirst) {
    SmallVector<int64_t> order{static_cast<int64_t>(shape.size()) - 1};
    llvm::append_range(order, llvm::seq<int64_t>(0, shape.size() - 1));
    std::rotate(shape.begin(), shape.end() - 1, shape.end());
    factor =
        CallBuilder("aten.permute.default", einsum).tensor("self", factor).integers("dims", order).build(shape, type);
  }
  shape.push_back(1);
  factor = CallBuilder("aten.unsqueeze.default", einsum).tensor("self", factor).integer("dim", -1).build(shape, type);
  Value product = CallBuilder("aten.mul.Tensor", einsum)
                      .tensor("self", pair->rightValue)
                      .tensor("other", factor)
                      .build(shapeOf(pair->rightValue), type);
  Value total = CallBuilder("aten.sum.dim_IntList", einsum)
                    .tensor("self", product)
                    .integers("dim", {isFirst ? 0 : static_cast<int64_t>(left.size()) - 1})
                    .flag("keepdim", false)
                    .build(shapeOf(einsum.getResult(0)), type);
  return {total.getDefiningOp<plan::CallOp>(), total};
}
