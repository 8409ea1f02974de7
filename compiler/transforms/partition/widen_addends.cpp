//===- widen_addends.cpp - addends of 16-bit sums become float32 ----------===//
//
// See WidenAddends in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/op_record.h"
#include "compiler/transforms/partition/passes.h"
#include "dialect/plan/module_runs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace meshplan {
#define GEN_PASS_DEF_WIDENADDENDS
#include "compiler/transforms/partition/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

static bool isNarrow(Type element) { return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 16; }

static bool isNarrow(Value value) { return isNarrow(getElementTypeOrSelf(value.getType())); }

static bool isAddend(Value value) {
  ShardingAttr sharding = getSharding(value);
  return sharding && sharding.getReduction() == Reduction::sum && !sharding.getPartialAxes().empty();
}

static bool isNarrowAddend(Value value) { return isNarrow(value) && isAddend(value); }

static bool convertsToItself(CallOp call) {
  return call.getTarget() == "aten._to_copy.default" && isAddend(call.getResult(0)) &&
         call.getOperand(0).getType() == call.getResult(0).getType();
}

/// What was to be converted to float32 may be so now.
static void dropConversions(ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    if (auto call = dyn_cast<CallOp>(op); call && convertsToItself(call)) {
      call.getResult(0).replaceAllUsesWith(call.getOperand(0));
      call.erase();
    }
}

namespace {

/// One program, in its order: what an op reads has its final type already.
class AddendWidener {
public:
  explicit AddendWidener(func::FuncOp function) : function(function), wide(Float32Type::get(function.getContext())) {}

  void run() {
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) { ops.push_back(op); });
    llvm::for_each(ops, [&](Operation *op) { widen(op); });
    dropConversions(ops);
  }

private:
  void widen(Operation *op) {
    if (auto call = dyn_cast<CallOp>(op))
      widenCall(call);
    else if (auto leave = dyn_cast<LeaveMicrobatchOp>(op))
      widenLeave(leave);
    else if (op->getNumOperands() == 1 && op->getNumResults() == 1)
      widenCollective(op);
  }

  void widenCall(CallOp call) {
    if (llvm::none_of(call.getResults(), [](Value result) { return isNarrowAddend(result); }) || staysExact(call))
      return;
    if (!writesWide(call))
      convertOperands(call);
    for (Value result : call.getResults())
      if (isNarrowAddend(result))
        setWide(result);
  }

  /// What ranks do not add up microbatches do.
  void widenLeave(LeaveMicrobatchOp leave) {
    if (!isNarrow(leave.getResult()))
      return;
    if (isNarrow(leave.getInput()))
      leave.getInputMutable().assign(
          convert(OpBuilder(leave), leave.getInput().getDefiningOp<CallOp>(), leave.getInput(), wide));
    setWide(leave.getResult());
  }

  /// True if each element of the call's addends is zero on all ranks but one: they are elements of a divided operand,
  /// or made, each from one, of elements of such an addend.
  static bool staysExact(CallOp call) {
    CallView view = CallView::of(call);
    const OpRecord *record = OpRegistry::get().lookup(view.target);
    if (record && record->roundsAddends)
      return true;
    SmallVector<Value> addends = llvm::to_vector(llvm::make_filter_range(call.getOperands(), isAddend));
    if (addends.empty())
      return record && record->picksElements;
    FactorRule rule = factorRuleOf(view, record);
    return addends.size() == 1 && isNarrow(addends.front()) &&
           llvm::all_of(rule.factors, [](const Factor &factor) { return factor.kind == FactorKind::parallel; });
  }

  /// Makes it a call that reads 16-bit operands and writes float32, if there is one.
  static bool writesWide(CallOp call) {
    CallView view = CallView::of(call);
    const OpRecord *record = OpRegistry::get().lookup(view.target);
    if (!record || !record->widen || !llvm::all_of(call.getOperands(), [](Value operand) { return isNarrow(operand); }))
      return false;
    std::optional<LocalCall> widened = record->widen(view);
    if (!widened)
      return false;
    call.setTarget(widened->target);
    call.setArgsAttr(widened->args);
    return true;
  }

  void convertOperands(CallOp call) {
    for (OpOperand &operand : call->getOpOperands())
      if (isNarrow(operand.get()))
        operand.set(converted(operand.get(), call));
    // A dtype among the arguments is that of the results.
    NamedAttrList args(call.getArgs());
    for (NamedAttribute argument : call.getArgs())
      if (auto type = dyn_cast<TypeAttr>(argument.getValue()); type && isNarrow(type.getValue()))
        args.set(argument.getName(), TypeAttr::get(wide));
    call.setArgsAttr(args.getDictionary(call.getContext()));
  }

  /// `value` in float32, made before its first reader.
  Value converted(Value value, CallOp reader) {
    Value &known = conversions[value];
    if (!known)
      known = convert(OpBuilder(reader), reader, value, wide);
    return known;
  }

  /// What comes out of a collective is wide as long as something is to be added to it.
  void widenCollective(Operation *op) {
    Value input = op->getOperand(0), result = op->getResult(0);
    Type narrow = getElementTypeOrSelf(result.getType());
    if (!isNarrow(narrow) || getElementTypeOrSelf(input.getType()) == narrow)
      return;
    setWide(result);
    if (isAddend(result))
      return;
    auto source = input.getDefiningOp<CallOp>();
    if (CallOp addition = biasAddition(result)) {
      convertOperands(addition);
      result = addition.getResult(0);
      setWide(result);
      source = addition;
    }
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfterValue(result);
    Value sum = convert(builder, source, result, narrow);
    result.replaceAllUsesExcept(sum, sum.getDefiningOp());
  }

  /// The addition of a smaller tensor that alone reads the sum: the bias of a product, which the kernels of one rank
  /// add before they round.
  static CallOp biasAddition(Value sum) {
    auto addition = sum.hasOneUse() ? dyn_cast<CallOp>(*sum.user_begin()) : CallOp();
    if (!addition || addition.getTarget() != "aten.add.Tensor" || !isNarrow(addition.getResult(0)))
      return {};
    int64_t elements = cast<RankedTensorType>(sum.getType()).getNumElements();
    return llvm::any_of(addition.getOperands(),
                        [&](Value operand) {
                          return isNarrow(operand) &&
                                 cast<RankedTensorType>(operand.getType()).getNumElements() < elements;
                        })
               ? addition
               : CallOp();
  }

  void setWide(Value value) { value.setType(cast<RankedTensorType>(value.getType()).clone(wide)); }

  /// A conversion that belongs to the modules of `like`, if that is a call.
  static Value convert(OpBuilder builder, CallOp like, Value value, Type element) {
    NamedAttrList args;
    args.set("self", OperandRefAttr::get(builder.getContext(), 0));
    args.set("dtype", TypeAttr::get(element));
    auto call = CallOp::create(builder, value.getLoc(), cast<RankedTensorType>(value.getType()).clone(element),
                               builder.getStringAttr("aten._to_copy.default"), value,
                               args.getDictionary(builder.getContext()), like ? like.getModuleAttr() : StringAttr());
    if (like)
      copyModuleRuns(call, like);
    return call.getResult(0);
  }

  func::FuncOp function;
  Type wide;
  DenseMap<Value, Value> conversions;
};

struct WidenAddendsPass : meshplan::impl::WidenAddendsBase<WidenAddendsPass> {
  void runOnOperation() final {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function->hasAttr("plan.single_rank"))
        AddendWidener(function).run();
  }
};

} // namespace
