//===- widen_addends.cpp - types of addends of 16-bit sums ----------------===//
//
// See WidenAddends in passes.td.
//
//===----------------------------------------------------------------------===//
//
// Why once. A sum of n addends that are rounded to bf16 each (8 bits of mantissa) has an error that grows with n, and a
// further rounding for each partial sum. In float32 the error of the sum is far below one bf16 unit, so a single
// rounding at the end gives what one rank computes, for any n.
//
// Example: linear [4, 9] x [6, 9] over tp = 3 in bf16; each rank has addends over 3 of the 9 features.
//
//                     computed  sent  result
//   activations f32   f32       f32   rounded once, after the sum
//   default           bf16      bf16  each addend rounded; the sum rounded again
//                                     by the backend
//   parameter grads.  f32       f32   unless `reduce` of the plan rounds them
//
// An op is visited after its operands have their final type, so one pass over the program suffices.

#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/sharding/op_record.h"
#include "compiler/transforms/partition/passes.h"
#include "dialect/plan/attributes.h"
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

static bool isParallel(const FactorRule &rule) {
  return llvm::all_of(rule.factors, [](const Factor &factor) { return factor.kind == FactorKind::parallel; });
}

/// True if the call sums products of two float tensors, as `linear` does but `sum` does not. Kernels that cannot write
/// float32, such as a convolution's, have float32 addends in any case.
static bool contracts(const CallView &view, const OpRecord *record, const FactorRule &rule) {
  if (!record || !record->widen)
    return false;
  for (auto [index, factor] : llvm::enumerate(rule.factors)) {
    auto has = [index = static_cast<unsigned>(index)](const auto &tensor) {
      return isa<FloatType>(std::get<1>(tensor).getElementType()) &&
             llvm::any_of(std::get<0>(tensor).dims, [&](const auto &dim) { return llvm::is_contained(dim, index); });
    };
    // Two float operands with the contracted factor: a product. A sum over one operand is sent in float32 in any case.
    if (factor.kind == FactorKind::sum && llvm::count_if(llvm::zip(rule.operands, view.operands), has) > 1)
      return true;
  }
  return false;
}

/// True if the addends of a rank are products, or derived from products elementwise.
static bool isOfProducts(Value value) {
  Operation *producer = value.getDefiningOp();
  auto call = dyn_cast_or_null<CallOp>(producer);
  if (!call)
    return producer && producer->getNumOperands() == 1 && isOfProducts(producer->getOperand(0));
  CallView view = CallView::of(call);
  const OpRecord *record = OpRegistry::get().lookup(view.target);
  FactorRule rule = factorRuleOf(view, record);
  SmallVector<Value> addends = llvm::to_vector(llvm::make_filter_range(call.getOperands(), isAddend));
  return addends.empty() ? contracts(view, record, rule) : isParallel(rule) && llvm::all_of(addends, isOfProducts);
}

/// True if the value becomes the gradient of a parameter or of a function of parameters.
static bool becomesGradient(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto function = dyn_cast<func::FuncOp>(user->getParentOp()); function && isa<func::ReturnOp>(user))
      return resultAttr<attr::GradientOf>(function, use.getOperandNumber()) != nullptr;
    if (isa<LeaveMicrobatchOp>(user) || user->hasAttr(attr::KeepsAddends::getNameStr()))
      return true;
    if (auto call = dyn_cast<CallOp>(user))
      if (CallView view = CallView::of(call); view.getOperand("parameter") && view.getOperand("gradient"))
        return true;
    return isCarrier(user) && becomesGradient(user->getResult(0));
  });
}

/// True for the collective that completes a sum of activations or of their gradients, to which the plan's `activations`
/// applies. It does not apply to sums over microbatches and to gradients of parameters.
static bool sumsActivations(Operation *op) {
  if (!isa<AllReduceOp, ReduceScatterOp>(op) || !isNarrowAddend(op->getOperand(0)) || isAddend(op->getResult(0)) ||
      llvm::any_of(getSharding(op->getOperand(0)).getPartialAxes(), isTime))
    return false;
  return isOfProducts(op->getOperand(0)) && !becomesGradient(op->getResult(0));
}

static bool convertsToItself(CallOp call) {
  return call.getTarget() == "aten._to_copy.default" && isAddend(call.getResult(0)) &&
         call.getOperand(0).getType() == call.getResult(0).getType();
}

/// Removes conversions to float32 whose operand is float32 by now.
static void dropConversions(ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    if (auto call = dyn_cast<CallOp>(op); call && convertsToItself(call)) {
      call.getResult(0).replaceAllUsesWith(call.getOperand(0));
      call.erase();
    }
}

namespace {

/// Processes one program in order: the operands of an op already have their final type.
class AddendWidener {
public:
  /// With `sendsWide` sums of activations are float32, too.
  AddendWidener(func::FuncOp function, bool sendsWide)
      : function(function), sendsWide(sendsWide), wide(Float32Type::get(function.getContext())) {}

  void run();

private:
  void widen(Operation *op);
  void widenCall(CallOp call);
  bool isSentAtOnce(CallOp call);
  void widenLeave(LeaveMicrobatchOp leave);
  static bool staysExact(CallOp call);
  static bool writesWide(CallOp call);
  void convertOperands(CallOp call);
  Value converted(Value value, CallOp reader);
  void widenCollective(Operation *op);
  static CallOp biasAddition(Value sum);
  void setWide(Value value) { value.setType(cast<RankedTensorType>(value.getType()).clone(wide)); }

  static Value convert(OpBuilder builder, CallOp like, Value value, Type element,
                       StringRef target = "aten._to_copy.default");

  func::FuncOp function;
  bool sendsWide;
  Type wide;
  DenseSet<Operation *> sentNarrow; ///< collectives that send the 16-bit type
  DenseMap<Value, Value> conversions;
};

struct WidenAddendsPass : meshplan::impl::WidenAddendsBase<WidenAddendsPass> {
  void runOnOperation() final {
    bool sendsWide = getOperation()->hasAttr(attr::WideActivations::getNameStr());
    for (auto function : getOperation().getOps<func::FuncOp>())
      AddendWidener(function, sendsWide).run();
  }
};

} // namespace

void AddendWidener::run() {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (sumsActivations(op)) {
      setOpAttr<attr::ActivationSum>(op, TypeAttr::get(getElementTypeOrSelf(op->getResult(0).getType())));
      if (!sendsWide)
        sentNarrow.insert(op);
    }
  llvm::for_each(ops, [&](Operation *op) { widen(op); });
  dropConversions(ops);
}

void AddendWidener::widen(Operation *op) {
  if (auto call = dyn_cast<CallOp>(op))
    widenCall(call);
  else if (auto leave = dyn_cast<LeaveMicrobatchOp>(op))
    widenLeave(leave);
  else if (op->getNumOperands() == 1 && op->getNumResults() == 1)
    widenCollective(op);
}

void AddendWidener::widenCall(CallOp call) {
  if (llvm::none_of(call.getResults(), [](Value result) { return isNarrowAddend(result); }) || staysExact(call) ||
      isSentAtOnce(call))
    return;
  if (!writesWide(call))
    convertOperands(call);
  for (Value result : call.getResults())
    if (isNarrowAddend(result))
      setWide(result);
}

/// True if the addends of the call are only sent as they are.
bool AddendWidener::isSentAtOnce(CallOp call) {
  return llvm::all_of(call->getUsers(), [&](Operation *user) { return sentNarrow.contains(user); }) &&
         llvm::none_of(call.getOperands(), [](Value operand) { return isAddend(operand) && !isNarrow(operand); });
}

/// Values that ranks do not sum are still summed over microbatches.
void AddendWidener::widenLeave(LeaveMicrobatchOp leave) {
  if (!isNarrow(leave.getResult()))
    return;
  if (isNarrow(leave.getInput()))
    leave.getInputMutable().assign(
        convert(OpBuilder(leave), leave.getInput().getDefiningOp<CallOp>(), leave.getInput(), wide));
  setWide(leave.getResult());
}

/// True if each element of the call's addends is zero on all ranks but one: it is a copy of an element of a divided
/// operand, or derived elementwise from such an addend.
bool AddendWidener::staysExact(CallOp call) {
  CallView view = CallView::of(call);
  const OpRecord *record = OpRegistry::get().lookup(view.target);
  // The plan itself asks for the rounding.
  if (record && record->roundsAddends)
    return true;
  SmallVector<Value> addends = llvm::to_vector(llvm::make_filter_range(call.getOperands(), isAddend));
  if (addends.empty())
    return record && record->picksElements;
  FactorRule rule = factorRuleOf(view, record);
  return addends.size() == 1 && isNarrow(addends.front()) && isParallel(rule);
}

/// Replaces the call by one that reads 16-bit operands and writes float32, if there is one. Operands of integers, such
/// as the rows of each expert, are read as they are.
bool AddendWidener::writesWide(CallOp call) {
  CallView view = CallView::of(call);
  const OpRecord *record = OpRegistry::get().lookup(view.target);
  auto isRead = [](Value operand) {
    return isNarrow(operand) || !isa<FloatType>(getElementTypeOrSelf(operand.getType()));
  };
  if (!record || !record->widen || !llvm::all_of(call.getOperands(), isRead))
    return false;
  std::optional<LocalCall> widened = record->widen(view);
  if (!widened)
    return false;
  call.setTarget(widened->target);
  call.setArgsAttr(widened->args);
  return true;
}

void AddendWidener::convertOperands(CallOp call) {
  for (OpOperand &operand : call->getOpOperands())
    if (isNarrow(operand.get()))
      operand.set(converted(operand.get(), call));
  // A dtype argument is the type of the results.
  NamedAttrList args(call.getArgs());
  for (NamedAttribute argument : call.getArgs())
    if (auto type = dyn_cast<TypeAttr>(argument.getValue()); type && isNarrow(type.getValue()))
      args.set(argument.getName(), TypeAttr::get(wide));
  call.setArgsAttr(args.getDictionary(call.getContext()));
}

/// `value` in float32, converted before its first reader.
Value AddendWidener::converted(Value value, CallOp reader) {
  // One conversion for all readers. The first reader in program order makes it, so it precedes the others.
  Value &known = conversions[value];
  if (!known)
    known = convert(OpBuilder(reader), reader, value, wide);
  return known;
}

/// The result of a collective stays wide as long as it is still to be added to.
void AddendWidener::widenCollective(Operation *op) {
  Value input = op->getOperand(0), result = op->getResult(0);
  Type narrow = getElementTypeOrSelf(result.getType());
  if (!isNarrow(narrow) || getElementTypeOrSelf(input.getType()) == narrow)
    return;
  // The addend became wide on its way, for example by a sum over microbatches: it is rounded here, as the last thing
  // before it is sent.
  if (sentNarrow.contains(op)) {
    op->setOperand(0, convert(OpBuilder(op), input.getDefiningOp<CallOp>(), input, narrow, "meshplan.round_addends"));
    return;
  }
  setWide(result);
  // A reduction over one of two axes: the rest is still a sum.
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

/// The addition of a smaller tensor that is the only reader of the sum: the bias of a product, which kernels on one
/// rank add before they round.
CallOp AddendWidener::biasAddition(Value sum) {
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

/// A conversion that belongs to the module of `like`, if `like` is not null.
Value AddendWidener::convert(OpBuilder builder, CallOp like, Value value, Type element, StringRef target) {
  NamedAttrList args;
  args.set("self", OperandRefAttr::get(builder.getContext(), 0));
  args.set("dtype", TypeAttr::get(element));
  auto call = CallOp::create(builder, value.getLoc(), cast<RankedTensorType>(value.getType()).clone(element),
                             builder.getStringAttr(target), value, args.getDictionary(builder.getContext()),
                             like ? like.getModuleAttr() : StringAttr());
  if (like)
    copyModuleRuns(call, like);
  return call.getResult(0);
}
