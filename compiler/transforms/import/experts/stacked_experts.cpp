//===- stacked_experts.cpp - stacked experts that see all tokens ----------===//
//
// Experts with stacked weights may compute a copy of the tokens for each expert, [experts, tokens, features], which is
// multiplied by gates first. A gate is 0 where the token has not chosen the expert, and so is all that is computed from
// that row without an addend. The sum over the experts then needs only rows of chosen experts.
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
//                                    dispatch of the values, compute

#include "compiler/transforms/import/experts/stacked_experts.h"
#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/transforms/import/index_functions/call_reader.h"
#include "llvm/ADT/StringSwitch.h"
#include <limits>

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

namespace {

/// What is known of rows where the token has not chosen the expert.
enum class Elsewhere { anything, zero };

class StackedExpertsReader {
public:
  StackedExpertsReader(IndexFunctions &functions, plan::CallOp sum)
      : functions(functions), builder(functions.builder), sum(sum) {}

  std::optional<RoutedRegion> read();

private:
  std::optional<Elsewhere> readRows(Value value);
  std::optional<Elsewhere> readCall(plan::CallOp call, const CallView &view);
  std::optional<Elsewhere> readProduct(plan::CallOp call, const CallView &view);
  std::optional<Elsewhere> readView(plan::CallOp call);
  std::optional<Elsewhere> readCompute(plan::CallOp call, const CallView &view);
  bool readGatedTokens(plan::CallOp call);
  Value readTokens(Value value);
  bool readGates(plan::CallOp reader, Value value);
  bool readGateFunction(Value gates);
  bool isReadOnlyHere() const;

  /// The number of dims of `value` [experts, tokens, features] or [experts * tokens, features] in front of the
  /// features; 0 for anything else.
  unsigned leadOf(Value value) const {
    ArrayRef<int64_t> shape = shapeOf(value);
    if (shape.size() == 3 && shape[0] == experts && shape[1] == tokens)
      return 2;
    return shape.size() == 2 && shape[0] == experts * tokens ? 1 : 0;
  }
  /// The indices of the leading dims for an expert and a token.
  Indices leadIndices(Value value) const {
    if (leadOf(value) == 2)
      return {expert, token};
    return {builder.add(builder.multiply(expert, tokens), token)};
  }
  void define(Value value, RoutedRows rows) { region.rows[value] = rows; }

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

std::optional<Elsewhere> StackedExpertsReader::readRows(Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  auto call = value.getDefiningOp<plan::CallOp>();
  if (!call || leadOf(value) == 0 || --budget < 0)
    return std::nullopt;
  std::optional<Elsewhere> elsewhere = readCall(call, CallView::of(call));
  if (!elsewhere)
    return std::nullopt;
  calls.insert(call);
  for (Value result : call.getResults()) {
    known[result] = *elsewhere;
    define(result, {{}, leadOf(result)});
  }
  return elsewhere;
}

std::optional<Elsewhere> StackedExpertsReader::readCall(plan::CallOp call, const CallView &view) {
  for (Value result : call.getResults())
    if (leadOf(result) != leadOf(call.getResult(0)))
      return std::nullopt;
  if (view.target == "aten.bmm.default" || view.target == "aten.matmul.default")
    return readProduct(call, view);
  if (keepsOrder(call))
    return readView(call);
  if (view.target == "aten.mul.Tensor" && call.getNumOperands() == 2 && readGatedTokens(call))
    return Elsewhere::zero;
  return readCompute(call, view);
}

std::optional<Elsewhere> StackedExpertsReader::readProduct(plan::CallOp call, const CallView &view) {
  Value rows = tensorArgument(call, view, "self"), result = call.getResult(0);
  Value weight = tensorArgument(call, view, view.get("mat2") ? "mat2" : "other");
  if (!rows || !weight || leadOf(rows) != 2 || leadOf(result) != 2 || elementOf(rows) != elementOf(result) ||
      elementOf(weight) != elementOf(result) ||
      shapeOf(weight) != ArrayRef({experts, shapeOf(rows).back(), shapeOf(result).back()}))
    return std::nullopt;
  std::optional<Elsewhere> elsewhere = readRows(rows);
  if (elsewhere)
    region.steps.push_back({RoutedStep::product, call, result, rows, weight, /*transposed=*/true});
  return elsewhere;
}

std::optional<Elsewhere> StackedExpertsReader::readView(plan::CallOp call) {
  Value self = call.getOperand(0), result = call.getResult(0);
  if (leadOf(self) == 0 || shapeOf(self).back() != shapeOf(result).back())
    return std::nullopt;
  std::optional<Elsewhere> elsewhere = readRows(self);
  if (elsewhere)
    region.steps.push_back({RoutedStep::same, call, result, self, {}});
  return elsewhere;
}

/// True for functions of one number that are 0 at 0.
static bool keepsZero(StringRef target) {
  return llvm::StringSwitch<bool>(target)
      .Cases({"aten.silu.default", "aten.relu.default", "aten.gelu.default", "aten.tanh.default", "aten.neg.default",
              "aten.abs.default", "aten.to.dtype", "aten.clone.default", "aten.dropout.default",
              "aten.native_dropout.default"},
             true)
      .Default(false);
}

/// An operator on each row alone.
std::optional<Elsewhere> StackedExpertsReader::readCompute(plan::CallOp call, const CallView &view) {
  unsigned lead = leadOf(call.getResult(0));
  if (!computesEachRow(call, lead))
    return std::nullopt;
  bool isAnyZero = false, areAllZero = true;
  for (Value operand : call.getOperands()) {
    if (isSameForRows(operand)) {
      areAllZero = false;
      continue;
    }
    if (leadOf(operand) != lead)
      return std::nullopt;
    std::optional<Elsewhere> elsewhere = readRows(operand);
    if (!elsewhere)
      return std::nullopt;
    isAnyZero |= *elsewhere == Elsewhere::zero;
    areAllZero &= *elsewhere == Elsewhere::zero;
  }
  region.steps.push_back({RoutedStep::compute, call, {}, {}, {}});
  bool isZero = view.target == "aten.mul.Tensor"                                 ? isAnyZero
                : takesParts(view.target) || keepsZero(view.target)              ? areAllZero
                : view.target == "aten.add.Tensor" && call.getNumOperands() == 2 ? areAllZero
                                                                                 : false;
  return isZero ? Elsewhere::zero : Elsewhere::anything;
}

/// Tokens, repeated for each expert, times the gates of all experts.
bool StackedExpertsReader::readGatedTokens(plan::CallOp call) {
  for (unsigned side : {0, 1}) {
    Value rows = call.getOperand(side), gates = call.getOperand(1 - side);
    unsigned lead = leadOf(call.getResult(0));
    if (leadOf(rows) != lead || leadOf(gates) != lead || shapeOf(gates).back() != 1)
      continue;
    Value tensor = readTokens(rows);
    if (!tensor || !readGates(call, gates))
      continue;
    region.steps.push_back({RoutedStep::dispatch, call, rows, tensor, {}});
    define(rows, {{}, lead});
    region.steps.push_back({RoutedStep::compute, call, {}, {}, {}});
    return true;
  }
  return false;
}

/// The tensor [*token dims, features] that `value` repeats for each expert, or null.
Value StackedExpertsReader::readTokens(Value value) {
  if (!isa<FloatType>(elementOf(value)))
    return {};
  Expr feature = builder.coordinate(2, shapeOf(value).back());
  std::optional<MovedRead> at = MovedRead{value, leadIndices(value)};
  at->indices.push_back(feature);
  while (at && !llvm::is_contained(at->indices, nullptr)) {
    if (Value tensor = findTokenTensor(functions, {*at, token, tokens, {feature}, {shapeOf(value).back()}}))
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
bool StackedExpertsReader::readGates(plan::CallOp reader, Value value) {
  std::optional<MovedRead> at = MovedRead{value, leadIndices(value)};
  at->indices.push_back(builder.integer(0));
  for (; at && !llvm::is_contained(at->indices, nullptr); at = readThroughMovement(builder, at->operand, at->indices)) {
    ArrayRef<int64_t> shape = shapeOf(at->operand);
    if (shape.size() < 2 || shape.back() != experts || at->indices.back() != expert ||
        typeOf(at->operand).getNumElements() != experts * tokens ||
        ArrayRef(at->indices).drop_back() != ArrayRef(digitsOf(builder, token, tokens, shape.drop_back())))
      continue;
    if (!readGateFunction(at->operand))
      continue;
    region.steps.push_back({RoutedStep::same, reader, value, at->operand, {}});
    define(value, {{}, leadOf(value), -1});
    return true;
  }
  return false;
}

/// f(scatter(full c, indices, values)), with f(c) = 0.
bool StackedExpertsReader::readGateFunction(Value gates) {
  SmallVector<plan::CallOp> chain; // the last call first
  Value value = gates;
  auto call = value.getDefiningOp<plan::CallOp>();
  while (call && call.getNumOperands() == 1 &&
         llvm::is_contained({"aten.to.dtype", "aten.sigmoid.default", "aten.exp.default", "aten.relu.default"},
                            call.getTarget())) {
    chain.push_back(call);
    value = call.getOperand(0);
    call = value.getDefiningOp<plan::CallOp>();
  }
  if (!call || call.getTarget() != "aten.scatter.src")
    return false;
  CallView view = CallView::of(call);
  Value self = tensorArgument(call, view, "self"), indices = tensorArgument(call, view, "index"),
        values = tensorArgument(call, view, "src");
  int64_t rank = rankOf(value);
  Expr filled = self ? functions.of(self) : nullptr;
  if (!filled || filled->kind != ExprKind::Number || !indices || !values || shapeOf(indices) != shapeOf(values) ||
      elementOf(values) != elementOf(value) || rankOf(indices) != rank ||
      shapeOf(indices).drop_back() != shapeOf(value).drop_back() || countedDim(view.getInt("dim", 0), rank) != rank - 1)
    return false;
  double number = filled->number;
  for (plan::CallOp function : llvm::reverse(chain)) {
    bool isLowest = number == -std::numeric_limits<double>::infinity();
    if (function.getTarget() == "aten.relu.default")
      number = std::max(number, 0.0);
    else if (function.getTarget() != "aten.to.dtype" && isLowest)
      number = 0;
    else if (function.getTarget() != "aten.to.dtype" || (number != 0 && !isLowest) ||
             !isa<FloatType>(elementOf(function.getResult(0))))
      return false;
  }
  std::optional<ChosenExperts> chosen = findChosenExperts(functions, indices);
  if (number != 0 || !chosen || chosen->experts != experts || chosen->tokens != tokens ||
      (region.chosen.indices && region.chosen.indices != chosen->indices))
    return false;
  region.chosen = *chosen;
  Value tensor = findPairValues(functions, values, *chosen);
  region.steps.push_back({RoutedStep::dispatchGates, call, value, tensor ? tensor : values, {}});
  define(value, {{}, static_cast<unsigned>(rank)});
  for (plan::CallOp function : llvm::reverse(chain)) {
    region.steps.push_back({RoutedStep::compute, function, {}, {}, {}});
    define(function.getResult(0), {{}, static_cast<unsigned>(rank)});
  }
  return true;
}

/// True if no other call reads rows.
bool StackedExpertsReader::isReadOnlyHere() const {
  return llvm::all_of(known, [&](const auto &rows) {
    return llvm::all_of(Value(rows.first).getUsers(), [&](Operation *user) { return calls.contains(user); });
  });
}

std::optional<RoutedRegion> StackedExpertsReader::read() {
  CallView view = CallView::of(sum);
  Value self = tensorArgument(sum, view, "self"), result = sum.getResult(0);
  if (!self || rankOf(self) != 3 || !isAlong(sum, 0) || view.getBool("keepdim", false) ||
      shapeOf(result) != shapeOf(self).drop_front() || typeOf(self).getNumElements() == 0)
    return std::nullopt;
  experts = shapeOf(self)[0];
  tokens = shapeOf(self)[1];
  expert = builder.coordinate(0, experts);
  token = builder.coordinate(1, tokens);
  calls.insert(sum);
  if (experts < 2 || readRows(self) != Elsewhere::zero || !isReadOnlyHere())
    return std::nullopt;
  region.multiplies = true;
  region.steps.push_back({RoutedStep::combine, sum, result, self, {}});
  region.setTokenDims();
  return region;
}

std::optional<RoutedRegion> meshplan::readStackedExperts(IndexFunctions &functions, plan::CallOp sum) {
  return StackedExpertsReader(functions, sum).read();
}
