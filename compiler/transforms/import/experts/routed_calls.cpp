//===- routed_calls.cpp - the calls of a routed region --------------------===//
//
// Steps are built in program order. Each makes the routed tensor of one value of the program; steps without a call of
// their own, such as another order of the rows, give a value the tensor of another one.

#include "compiler/transforms/import/experts/routed_calls.h"
#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/transforms/import/movement_chain.h"
#include "dialect/plan/call_builder.h"

using namespace mlir;
using namespace meshplan;

namespace {

class RoutedCallBuilder {
public:
  explicit RoutedCallBuilder(const RoutedRegion &region) : region(region) {}

  void build();

private:
  void route(plan::CallOp before);
  void build(const RoutedStep &step);
  Value dispatch(const RoutedStep &step);
  Value dispatchGates(const RoutedStep &step);
  Value parameterOf(const RoutedStep &step);
  Value product(const RoutedStep &step);
  Value bias(const RoutedStep &step);
  void compute(plan::CallOp call);
  void drop(plan::CallOp call);
  Value combine(const RoutedStep &step);
  void replaceSum(const RoutedStep &step, Value combined);

  Value withUnit(Value value, plan::CallOp reader);
  Value tokensOf(Value tensor, int64_t features, plan::CallOp before) const;
  SmallVector<int64_t> routedShape(ArrayRef<int64_t> features) const;
  SmallVector<int64_t> tokenShape(ArrayRef<int64_t> features) const;
  /// Before which a call for a step is made: the step's own call, but after the choice. Experts that compute all tokens
  /// may be written before the router.
  plan::CallOp anchorOf(plan::CallOp before) const {
    return earliest && before->isBeforeInBlock(earliest) ? earliest : before;
  }
  CallBuilder make(StringRef target, plan::CallOp before) const {
    return CallBuilder::at(target, before, OpBuilder(anchorOf(before)));
  }
  int64_t tokenRank() const { return region.tokenDims.size(); }
  bool isRouted(Value value, int64_t features) const;

  const RoutedRegion &region;
  plan::CallOp earliest; ///< the first one after the choice
  Value indices, table, counts;
  Value positions;                   ///< of the rows among those of all tokens and experts; null before they are needed
  llvm::DenseMap<Value, Value> made; ///< the routed tensor of each value; without a dim that is not a feature
};

} // namespace

SmallVector<int64_t> RoutedCallBuilder::tokenShape(ArrayRef<int64_t> features) const {
  SmallVector<int64_t> shape = region.tokenDims;
  llvm::append_range(shape, features);
  return shape;
}

/// [experts, *token dims, *features]
SmallVector<int64_t> RoutedCallBuilder::routedShape(ArrayRef<int64_t> features) const {
  SmallVector<int64_t> shape = tokenShape(features);
  shape.insert(shape.begin(), region.chosen.experts);
  return shape;
}

bool RoutedCallBuilder::isRouted(Value value, int64_t features) const {
  return rankOf(value) == 1 + tokenRank() + features &&
         shapeOf(value).drop_back(features) == ArrayRef<int64_t>(routedShape({}));
}

/// A tensor whose tokens are divided into the token dims of the region, with one dim of `features` or slots.
Value RoutedCallBuilder::tokensOf(Value tensor, int64_t features, plan::CallOp before) const {
  return reshaped(tensor, tokenShape({features}), anchorOf(before));
}

void RoutedCallBuilder::route(plan::CallOp before) {
  indices = tokensOf(region.chosen.indices, region.chosen.slots, before);
  Type type = IntegerType::get(before.getContext(), 64);
  indices = converted(indices, type, anchorOf(before));
  plan::CallOp call =
      make("meshplan.route", before)
          .tensor("indices", indices)
          .integer("first", 0)
          .integer("experts", region.chosen.experts)
          .build({RankedTensorType::get(routedShape({}), type), RankedTensorType::get(routedShape({}), type)});
  table = call.getResult(0);
  counts = call.getResult(1);
}

Value RoutedCallBuilder::dispatch(const RoutedStep &step) {
  int64_t features = shapeOf(step.from).back();
  Value tokens = converted(tokensOf(step.from, features, step.place), elementOf(step.made), anchorOf(step.place));
  return make("meshplan.dispatch", step.place)
      .tensor("self", tokens)
      .tensor("table", table)
      .integer("slots", region.chosen.slots)
      .build(routedShape({features}), elementOf(tokens));
}

Value RoutedCallBuilder::dispatchGates(const RoutedStep &step) {
  assert(shapeOf(step.from).back() == region.chosen.slots && "a gate for each slot");
  Type type = elementOf(step.from), wanted = elementOf(step.made);
  Value gates = make("meshplan.dispatch_gates", step.place)
                    .tensor("gates", tokensOf(step.from, region.chosen.slots, step.place))
                    .tensor("table", table)
                    .build(routedShape({}), type);
  return converted(gates, wanted, anchorOf(step.place));
}

/// The parameter of all experts, in the dtype of what the step makes. That of each expert is stacked before it is
/// converted, so that what ranks hold and send of it has the dtype of the parameter.
Value RoutedCallBuilder::parameterOf(const RoutedStep &step) {
  Value all = step.with;
  if (!step.parts.empty()) {
    SmallVector<int64_t> shape(shapeOf(step.parts.front()));
    shape.insert(shape.begin(), step.parts.size());
    all = make("aten.stack.default", step.place)
              .tensors("tensors", step.parts)
              .integer("dim", 0)
              .build(shape, elementOf(step.parts.front()));
  }
  return converted(all, elementOf(step.made), anchorOf(step.place));
}

Value RoutedCallBuilder::product(const RoutedStep &step) {
  Value rows = made.at(step.from), with = parameterOf(step);
  ArrayRef<int64_t> weight = shapeOf(with);
  assert(isRouted(rows, 1) && weight.size() == 3 && weight[0] == region.chosen.experts &&
         weight[step.transposed ? 1 : 2] == shapeOf(rows).back() && "a matrix for each expert");
  return make("meshplan.grouped_linear", step.place)
      .tensor("rows", rows)
      .tensor("weight", with)
      .tensor("counts", counts)
      .flag("transposed", step.transposed)
      .build(routedShape({weight[step.transposed ? 2 : 1]}), elementOf(rows));
}

Value RoutedCallBuilder::bias(const RoutedStep &step) {
  Value rows = converted(made.at(step.from), elementOf(step.made), anchorOf(step.place)), with = parameterOf(step);
  assert(isRouted(rows, 1) && shapeOf(with) == ArrayRef({region.chosen.experts, shapeOf(rows).back()}) &&
         "a bias for each expert");
  return make("meshplan.grouped_bias", step.place)
      .tensor("rows", rows)
      .tensor("bias", with)
      .tensor("counts", counts)
      .build(shapeOf(rows), elementOf(rows));
}

/// The routed tensor of a value that `reader` reads with all its dims.
Value RoutedCallBuilder::withUnit(Value value, plan::CallOp reader) {
  Value tensor = made.at(value);
  if (region.rows.find(value)->second.unit == 0)
    return tensor;
  SmallVector<int64_t> shape(shapeOf(tensor));
  shape.push_back(1);
  return make("aten.unsqueeze.default", reader)
      .tensor("self", tensor)
      .integer("dim", -1)
      .build(shape, elementOf(tensor));
}

/// The dims of a call counted from the last one: there are other dims in front of the features, and another number of
/// them where rows are stored.
static DictionaryAttr withDimsFromEnd(plan::CallOp call) {
  OpBuilder builder(call);
  NamedAttrList args(call.getArgs());
  int64_t rank = rankOf(call.getOperand(0));
  auto fromEnd = [&](Attribute dim) -> Attribute {
    int64_t number = cast<IntegerAttr>(dim).getInt();
    return builder.getI64IntegerAttr(number < 0 ? number : number - rank);
  };
  Attribute dim = args.get("dim");
  if (auto list = dyn_cast_or_null<ArrayAttr>(dim))
    args.set("dim", builder.getArrayAttr(llvm::map_to_vector(list, fromEnd)));
  else if (isa_and_present<IntegerAttr>(dim))
    args.set("dim", fromEnd(dim));
  return args.getDictionary(call.getContext());
}

void RoutedCallBuilder::compute(plan::CallOp call) {
  if (dropsElements(call))
    return drop(call);
  // Results with a dim of size 1 that is not a feature have it from all operands.
  bool hasUnit = region.rows.find(call.getResult(0))->second.unit != 0;
  SmallVector<Value> operands;
  for (Value operand : call.getOperands())
    operands.push_back(!made.contains(operand) ? operand : hasUnit ? made.at(operand) : withUnit(operand, call));
  auto own = cast<plan::CallOp>(OpBuilder(anchorOf(call)).clone(*call));
  own->setOperands(operands);
  own.setArgsAttr(withDimsFromEnd(call));
  for (auto [old, result] : llvm::zip_equal(call.getResults(), own.getResults())) {
    SmallVector<int64_t> features = featuresOf(old, region.rows.find(old)->second);
    result.setType(RankedTensorType::get(routedShape(features), elementOf(old)));
    made[old] = result;
  }
}

/// A dropout of rows. The elements that it drops follow from the token, expert and feature, wherever the row is.
void RoutedCallBuilder::drop(plan::CallOp call) {
  int64_t experts = region.chosen.experts;
  if (!positions) {
    // Beside the table, so that it comes before all dropouts of the region.
    auto next = cast<plan::CallOp>(table.getDefiningOp()->getNextNode());
    Type type = elementOf(indices);
    int64_t tokens = region.chosen.tokens;
    Value first = make("aten.arange.start_step", next)
                      .integer("start", 0)
                      .integer("end", tokens * experts)
                      .integer("step", experts)
                      .build({tokens}, type);
    Value ofPairs = make("aten.add.Tensor", next)
                        .tensor("self", indices)
                        .tensor("other", tokensOf(first, 1, next))
                        .build(shapeOf(indices), type);
    positions = make("meshplan.dispatch_gates", next)
                    .tensor("gates", ofPairs)
                    .tensor("table", table)
                    .build(routedShape({}), type);
  }
  Value rows = made.at(call.getOperand(0));
  made[call.getResult(0)] = make("meshplan.dropout_rows", call)
                                .tensor("rows", rows)
                                .tensor("positions", positions)
                                .number("p", CallView::of(call).getFloat("p", 0))
                                .build(shapeOf(rows), elementOf(rows));
}

Value RoutedCallBuilder::combine(const RoutedStep &step) {
  Value rows = made.at(step.from);
  Type element = elementOf(step.made);
  assert(isRouted(rows, 1) && "a vector for each row");
  rows = converted(rows, element, anchorOf(step.place));
  SmallVector<int64_t> shape = tokenShape({shapeOf(rows).back()});
  return make("meshplan.combine", step.place)
      .tensor("rows", rows)
      .tensor("table", table)
      .integer("slots", region.chosen.slots)
      .integers("size", shape)
      .build(shape, element);
}

void RoutedCallBuilder::replaceSum(const RoutedStep &step, Value combined) {
  Value old = step.made;
  if (step.with) {
    Value sum = make("aten.add.Tensor", step.place)
                    .tensor("self", step.with)
                    .tensor("other", reshaped(combined, shapeOf(old), step.place))
                    .build(shapeOf(old), elementOf(old));
    old.replaceAllUsesWith(sum);
    return;
  }
  // Views that divide the tokens of the sum into the token dims are no longer needed.
  for (Operation *user : llvm::make_early_inc_range(old.getUsers())) {
    auto view = dyn_cast<plan::CallOp>(user);
    if (view && keepsOrder(view) && view.getResult(0).getType() == combined.getType())
      view.getResult(0).replaceAllUsesWith(combined);
  }
  if (llvm::any_of(old.getUsers(), [](Operation *user) { return !mlir::isOpTriviallyDead(user); }))
    old.replaceAllUsesWith(reshaped(combined, shapeOf(old), step.place));
}

void RoutedCallBuilder::build(const RoutedStep &step) {
  switch (step.kind) {
  case RoutedStep::dispatch:
    made[step.made] = dispatch(step);
    return;
  case RoutedStep::dispatchGates:
    made[step.made] = dispatchGates(step);
    return;
  case RoutedStep::product:
    made[step.made] = product(step);
    return;
  case RoutedStep::bias:
    made[step.made] = bias(step);
    return;
  case RoutedStep::same: {
    Value tensor = made.at(step.from);
    made[step.made] = tensor;
    return;
  }
  case RoutedStep::compute:
    compute(step.place);
    return;
  case RoutedStep::combine:
    replaceSum(step, combine(step));
    return;
  }
}

void RoutedCallBuilder::build() {
  if (Operation *choice = region.chosen.indices.getDefiningOp())
    for (Operation *next = choice->getNextNode(); next && !earliest; next = next->getNextNode())
      earliest = dyn_cast<plan::CallOp>(next);
  plan::CallOp first = region.steps.front().place;
  for (const RoutedStep &step : region.steps)
    if (plan::CallOp call = step.place; call->isBeforeInBlock(first))
      first = call;
  route(first);
  for (const RoutedStep &step : region.steps)
    build(step);
}

void meshplan::buildRoutedCalls(const RoutedRegion &region) { RoutedCallBuilder(region).build(); }
