//===- equal_experts.cpp - experts that are modules of their own ----------===//
//
// A loop over a list of modules computes each of them for all tokens:
//
//   out = zeros
//   for e: out = out + gate(e) * experts[e](x)
//
// The gate is 0 where the token has not chosen the expert, so only rows of chosen experts are needed. The modules are
// compared in step: the values of all experts at the same position are a family, made by calls with the same operator
// and arguments. A family is read backwards from the results to what all experts have in common, the tokens, and to the
// parameters, which are stacked. Steps are those of the first expert:
//
//   linear(x, w[0])  linear(x, w[1])  ..     dispatch of x, product with the stack of w
//   silu(..)         silu(..)         ..     compute
//   gate(0) * ..     gate(1) * ..     ..     dispatch of gates, compute
//   their sum                                combine
//
// Parts of a stacked weight, w[0], w[1] .., are parameters of the experts, too.
//
// The results may also be stacked before they are multiplied by the gates of all experts, and summed over the experts.

#include "compiler/transforms/import/experts/equal_experts.h"
#include "compiler/support/layer_names.h"
#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/transforms/import/experts/gated_sum.h"
#include "compiler/transforms/import/index_functions/call_reader.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

namespace {

using Family = SmallVector<Value, 8>;

class EqualExpertsReader {
public:
  explicit EqualExpertsReader(IndexFunctions &functions) : functions(functions), builder(functions.builder) {}

  RoutedRegion read(plan::CallOp sum, const GatedSum &gated);

private:
  bool readRows(const Family &family);
  bool readOperand(const Family &family, plan::CallOp reader);
  bool readCalls(const Family &family);
  bool readLinear(ArrayRef<plan::CallOp> calls, const CallView &view);
  bool readBias(ArrayRef<plan::CallOp> calls, const CallView &view);
  bool readCompute(ArrayRef<plan::CallOp> calls);
  bool readView(ArrayRef<plan::CallOp> calls);
  bool readShared(Value value, plan::CallOp reader);
  bool readMatrix(ArrayRef<plan::CallOp> calls, unsigned operand, ArrayRef<int64_t> shape, RoutedStep &step);
  SmallVector<Value> readParts(ArrayRef<Value> values);
  bool isReadOnlyHere();
  bool refuse(plan::CallOp call, StringRef why);

  RoutedRows plainRows() const { return {{}, lead}; }
  bool isRows(Value value) const {
    return rankOf(value) == lead + 1 && shapeOf(value).drop_back() == ArrayRef<int64_t>(leadShape);
  }

  IndexFunctions &functions;
  ExprBuilder &builder;
  RoutedRegion region;
  unsigned lead = 0;
  SmallVector<int64_t> leadShape;         ///< the dims of the tokens in the program
  llvm::DenseMap<Value, Family> families; ///< by the value of the first expert
  llvm::DenseSet<Operation *> calls;      ///< of all experts, and from their results to the sum
};

} // namespace

bool EqualExpertsReader::refuse(plan::CallOp call, StringRef why) {
  if (!region.obstacle) {
    region.obstacle = call;
    region.why = operatorText(call.getTarget(), call.getModule()) + " " + why.str();
  }
  return false;
}

/// Replaces values by what they are conversions of, if all of them are conversions of one type. False if they are not.
static bool skipConversions(SmallVectorImpl<Value> &values) {
  SmallVector<Value> converted;
  for (Value value : values) {
    plan::CallOp conversion = callOf(value);
    if (!conversion || !convertsElements(conversion))
      return false;
    converted.push_back(conversion.getOperand(0));
  }
  if (!llvm::all_equal(llvm::map_range(converted, elementOf)))
    return false;
  values.assign(converted.begin(), converted.end());
  return true;
}

/// The same parameter of each expert; empty if they are not parameters of one type.
SmallVector<Value> EqualExpertsReader::readParts(ArrayRef<Value> values) {
  SmallVector<Value> parts;
  for (Value part : values) {
    if (!isa<BlockArgument>(part) || (!parts.empty() && part.getType() != parts.front().getType()) ||
        llvm::is_contained(parts, part))
      return {};
    parts.push_back(part);
  }
  return parts;
}

/// The weight, or bias, of this shape of each expert, as what a step multiplies by or adds. False if they are neither
/// parameters of the experts nor parts of one.
bool EqualExpertsReader::readMatrix(ArrayRef<plan::CallOp> calls, unsigned operand, ArrayRef<int64_t> shape,
                                    RoutedStep &step) {
  Type element = elementOf(step.made);
  SmallVector<Value> values;
  for (plan::CallOp call : calls) {
    values.push_back(call.getOperand(operand));
    if (shapeOf(values.back()) != shape || elementOf(values.back()) != element)
      return false;
  }
  // The stack gets one conversion. Two may round twice.
  bool isConverted = skipConversions(values);
  if (llvm::all_of(values, [&](Value value) { return exchangesLastDims(builder, value); })) {
    for (Value &value : values)
      value = value.getDefiningOp()->getOperand(0);
    step.transposed = !step.transposed;
    if (!isConverted)
      skipConversions(values);
  }
  Value stack = stackOf(builder, values, 0);
  step.with = stack && shapeOf(stack).front() == static_cast<int64_t>(values.size()) ? stack : Value();
  SmallVector<Value> parts = step.with ? SmallVector<Value>() : readParts(values);
  step.parts.assign(parts.begin(), parts.end());
  return step.with || !parts.empty();
}

/// A product of rows with a matrix of their expert, perhaps plus a bias.
bool EqualExpertsReader::readLinear(ArrayRef<plan::CallOp> calls, const CallView &view) {
  plan::CallOp first = calls.front();
  bool isLinear = view.target == "aten.linear.default";
  std::optional<unsigned> input = view.getOperand(isLinear ? "input" : "self"),
                          weight = view.getOperand(isLinear           ? "weight"
                                                   : view.get("mat2") ? "mat2"
                                                                      : "other"),
                          bias = isLinear ? view.getOperand("bias") : std::nullopt;
  Value result = first.getResult(0);
  if (!input || !weight || !isRows(first.getOperand(*input)) || !isRows(result))
    return false;
  Family inputs;
  for (plan::CallOp call : calls)
    inputs.push_back(call.getOperand(*input));
  int64_t in = shapeOf(inputs.front()).back(), out = shapeOf(result).back();
  RoutedStep product{RoutedStep::product, first, result, inputs.front(), {}, /*transposed=*/!isLinear},
      added{RoutedStep::bias, first, result, result, {}};
  bool isWeight =
      isLinear ? readMatrix(calls, *weight, {out, in}, product) : readMatrix(calls, *weight, {in, out}, product);
  if (!isWeight || (bias && !readMatrix(calls, *bias, {out}, added)) ||
      elementOf(inputs.front()) != elementOf(result) || !readOperand(inputs, first))
    return false;
  region.steps.push_back(std::move(product));
  if (bias)
    region.steps.push_back(std::move(added));
  return true;
}

/// Rows plus the part of each expert of a parameter: a bias.
bool EqualExpertsReader::readBias(ArrayRef<plan::CallOp> calls, const CallView &view) {
  plan::CallOp first = calls.front();
  Value result = first.getResult(0);
  if (first.getNumOperands() != 2 || view.getFloat("alpha", 1) != 1 || !isRows(result))
    return false;
  for (unsigned side : {0, 1}) {
    Value rows = first.getOperand(side);
    RoutedStep added{RoutedStep::bias, first, result, rows, {}};
    if (rows.getType() != result.getType() || !readMatrix(calls, 1 - side, shapeOf(result).take_back(1), added))
      continue;
    Family family;
    for (plan::CallOp call : calls)
      family.push_back(call.getOperand(side));
    if (!readOperand(family, first))
      return false;
    region.steps.push_back(std::move(added));
    return true;
  }
  return false;
}

/// A tensor that all experts read: one with a row for each token, or one that broadcasts to all rows.
bool EqualExpertsReader::readShared(Value value, plan::CallOp reader) {
  if (region.rows.contains(value)) {
    // Calls are read from the last one on: an earlier reader needs the rows earlier, as in `x + f(x)`.
    for (RoutedStep &step : region.steps)
      if (step.kind == RoutedStep::dispatch && step.made == value && reader->isBeforeInBlock(step.place))
        step.place = reader;
    return true;
  }
  // The row of the only token is one of its rows, which a product reads.
  if (!isRows(value) || !isa<FloatType>(elementOf(value)))
    return isSameForRows(value);
  Value tensor = findTokenRows(functions, value);
  if (!tensor)
    return false;
  region.steps.push_back({RoutedStep::dispatch, reader, value, tensor, {}});
  region.rows[value] = plainRows();
  return true;
}

/// What `reader`, the call of the first expert, and those of the others read in the same position. Each expert may have
/// views of its own of a tensor that all of them read.
bool EqualExpertsReader::readOperand(const Family &family, plan::CallOp reader) {
  Value tensor = beforeViews(family.front());
  bool isShared = llvm::all_of(
      family, [&](Value value) { return value.getType() == family.front().getType() && beforeViews(value) == tensor; });
  return isShared ? readShared(family.front(), reader) : readRows(family);
}

/// An operator on each row alone.
bool EqualExpertsReader::readCompute(ArrayRef<plan::CallOp> calls) {
  plan::CallOp first = calls.front();
  if (!computesEachRow(first, lead))
    return false;
  if (!llvm::all_of(first.getResults(), [&](Value result) { return isRows(result); }))
    return false;
  for (unsigned operand = 0; operand < first.getNumOperands(); ++operand) {
    Family family;
    for (plan::CallOp call : calls)
      family.push_back(call.getOperand(operand));
    if (!readOperand(family, first))
      return false;
  }
  region.steps.push_back({RoutedStep::compute, first, {}, {}, {}});
  return true;
}

/// A view that divides or merges the dims of the tokens.
bool EqualExpertsReader::readView(ArrayRef<plan::CallOp> calls) {
  plan::CallOp first = calls.front();
  Value result = first.getResult(0), self = first.getOperand(0);
  if (!isRows(result) || rankOf(self) < 2 || shapeOf(self).back() != shapeOf(result).back())
    return false;
  Family family;
  for (plan::CallOp call : calls)
    family.push_back(call.getOperand(0));
  region.rows[result] = plainRows();
  // What is before the view has the tokens in the dims of its operand.
  unsigned outerLead = lead;
  SmallVector<int64_t> outerShape = leadShape;
  leadShape.assign(shapeOf(self).drop_back().begin(), shapeOf(self).drop_back().end());
  lead = leadShape.size();
  bool isRead = readRows(family);
  lead = outerLead;
  leadShape = outerShape;
  region.steps.push_back({RoutedStep::same, first, result, self, {}});
  return isRead;
}

bool EqualExpertsReader::readRows(const Family &family) {
  auto known = families.find(family.front());
  if (known != families.end())
    return known->second == family;
  return readCalls(family);
}

/// True for a parameter, or a part or view of one.
static bool isOfWeight(Value value) {
  plan::CallOp call = callOf(value);
  return call && call.getNumOperands() == 1 ? isOfWeight(call.getOperand(0)) : plan::isWeight(value);
}

/// The calls that make the family.
bool EqualExpertsReader::readCalls(const Family &family) {
  // What computes with weights is in a form that is not known, not what takes them.
  if (llvm::all_of(family, isOfWeight))
    return false;
  SmallVector<plan::CallOp> makers;
  for (Value value : family) {
    auto call = value.getDefiningOp<plan::CallOp>();
    if (!call)
      return false;
    if (!makers.empty() &&
        (call.getTarget() != makers[0].getTarget() || call.getArgs() != makers[0].getArgs() ||
         call.getResultTypes() != makers[0].getResultTypes() || call.getOperandTypes() != makers[0].getOperandTypes() ||
         cast<OpResult>(value).getResultNumber() != cast<OpResult>(family[0]).getResultNumber()))
      return refuse(call, "differs from the operator of expert 0");
    makers.push_back(call);
  }
  CallView view = CallView::of(makers[0]);
  if (keepsOrder(makers[0])) {
    if (!readView(makers))
      return refuse(makers[0], "computes in a form that is not known for experts");
    families[family.front()] = family;
    calls.insert(makers.begin(), makers.end());
    return true;
  }
  bool isProduct = llvm::is_contained({"aten.linear.default", "aten.matmul.default", "aten.mm.default"}, view.target);
  bool isKnown = isProduct ? readLinear(makers, view)
                           : (view.target == "aten.add.Tensor" && readBias(makers, view)) || readCompute(makers);
  if (!isKnown)
    return refuse(makers[0], "computes in a form that is not known for experts");
  for (unsigned result = 0; result < makers[0].getNumResults(); ++result) {
    Family made;
    for (plan::CallOp call : makers)
      made.push_back(call.getResult(result));
    region.rows[made.front()] = plainRows();
    families[made.front()] = made;
  }
  calls.insert(makers.begin(), makers.end());
  return true;
}

/// True if no other call reads what an expert makes.
bool EqualExpertsReader::isReadOnlyHere() {
  for (const auto &[first, family] : families)
    for (Value value : family)
      for (Operation *user : value.getUsers())
        if (!calls.contains(user) && !isOpTriviallyDead(user)) {
          region.obstacle = user;
          region.why = "what one expert makes is also read elsewhere";
          return false;
        }
  return true;
}

RoutedRegion EqualExpertsReader::read(plan::CallOp sum, const GatedSum &gated) {
  region.chosen = gated.chosen;
  region.multiplies = true;
  calls.insert(gated.calls.begin(), gated.calls.end());
  Family results;
  for (const GatedResult &expert : gated.results)
    results.push_back(expert.result);
  GatedResult first = gated.results.front();
  leadShape.assign(shapeOf(first.result).drop_back().begin(), shapeOf(first.result).drop_back().end());
  lead = leadShape.size();
  // An expert that is the tokens themselves has no parameters to be stacked.
  bool isRead = !llvm::all_equal(results) && readRows(results) && isReadOnlyHere();
  if (!isRead) {
    refuse(first.product, "reads results of experts in a form that is not known");
    return std::move(region);
  }
  Value values = first.read.values, pairs = findPairValues(functions, values, region.chosen);
  if (gated.stacked) {
    // From here on, the experts are a dim of the program beside those of the tokens.
    lead = rankOf(gated.stacked) - 1;
    region.steps.push_back({RoutedStep::same, first.product, gated.stacked, first.result, {}});
    region.rows[gated.stacked] = plainRows();
  }
  region.steps.push_back({RoutedStep::dispatchGates, first.product, first.gate, pairs ? pairs : values, {}});
  region.rows[first.gate] = {{}, lead, -1};
  Value weighted;
  auto compute = [&](plan::CallOp call) {
    region.steps.push_back({RoutedStep::compute, call, {}, {}, {}});
    weighted = call.getResult(0);
    region.rows[weighted] = plainRows();
  };
  compute(first.product);
  llvm::for_each(first.after, compute);
  region.steps.push_back({RoutedStep::combine, sum, sum.getResult(0), weighted, gated.base});
  region.setTokenDims();
  return std::move(region);
}

std::optional<RoutedRegion> meshplan::readEqualExperts(SparseGatesReader &gates, plan::CallOp sum) {
  std::optional<GatedSum> gated = readGatedSum(gates, sum);
  return gated ? std::optional(EqualExpertsReader(gates.functions).read(sum, *gated)) : std::nullopt;
}
