//===- autocast.cpp - PyTorch's autocast ----------------------------------===//
//
// See Autocast in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/archive/exported_program.h"
#include "compiler/sharding/families/class_losses.h"
#include "compiler/support/layer_names.h"
#include "compiler/transforms/import/autocast/policies.h"
#include "compiler/transforms/import/autocast/result_types.h"
#include "compiler/transforms/import/passes.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/call_builder.h"
#include "dialect/plan/programs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace meshplan {
#define GEN_PASS_DEF_AUTOCAST
#include "compiler/transforms/import/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;

/// The element type of a value that autocast may convert, or null.
static FloatType floatOf(Value value) {
  auto element = dyn_cast<FloatType>(typeOf(value).getElementType());
  return element && !element.isF64() ? element : FloatType();
}

/// The operand of a call that only changes the shape or the order of dims; null for other calls.
static Value movedBy(plan::CallOp call) {
  static constexpr StringLiteral names[] = {"t",       "transpose", "permute", "view",   "_unsafe_view",
                                            "reshape", "unsqueeze", "squeeze", "expand", "detach"};
  StringRef name = call ? call.getTarget().split('.').second.split('.').first : StringRef();
  return llvm::is_contained(names, name) && call.getNumOperands() == 1 && call.getNumResults() == 1 ? call.getOperand(0)
                                                                                                    : Value();
}

/// The innermost module that contains both.
static StringRef commonModule(StringRef left, StringRef right) {
  while (!left.empty() && left != right && !isInside(right, left))
    left = left.contains('.') ? left.rsplit('.').first : StringRef();
  return left;
}

namespace {

/// Inserts casts into one program, in program order.
class Autocaster {
public:
  Autocaster(plan::PrecisionOp statement, FloatType narrow, AutocastDevice device)
      : statement(statement), narrow(narrow), wide(Float32Type::get(narrow.getContext())), device(device) {}

  LogicalResult run(func::FuncOp function);

private:
  /// True for parameters and for inputs that are floats: the data from which the model learns.
  static bool isData(BlockArgument argument);
  void visit(plan::CallOp call);
  CastPolicy policyOf(plan::CallOp call);
  void castOperands(plan::CallOp call, FloatType element);
  void retype(plan::CallOp call);
  /// Converts the results. Their readers get them in the type of the first operand.
  void castResults(plan::CallOp call, FloatType element);
  void refuse(plan::CallOp call);

  /// True in a region of the model in which autocast is disabled on this device.
  bool isOff(plan::CallOp call) const;
  /// A call with autocast disabled reads its operands unchanged. It is an error if its kernel accepts one type only and
  /// they differ.
  void visitOff(plan::CallOp call);
  void refuseMixed(plan::CallOp call);

  /// The value converted to another type, before its first reader.
  Value converted(Value value, FloatType element, plan::CallOp reader);
  Value conversion(Value value, FloatType element, plan::CallOp reader);
  /// The same movement applied to a tensor of another type.
  Value moved(plan::CallOp move, Value self, plan::CallOp reader);

  plan::PrecisionOp statement;
  FloatType narrow, wide;
  AutocastDevice device;
  DenseMap<std::pair<Value, Type>, Value> casts;
  DenseSet<Value> data;    ///< computed from parameters or float inputs
  DenseSet<Value> changed; ///< results whose type differs from that in the archive
  SmallVector<plan::CallOp> moves;
  bool hasFailed = false;
};

} // namespace

bool Autocaster::isData(BlockArgument argument) {
  std::optional<plan::ArgumentKind> kind = plan::argumentKind(argument);
  return kind == plan::ArgumentKind::parameter ||
         (kind != plan::ArgumentKind::buffer && isa<FloatType>(typeOf(argument).getElementType()));
}

LogicalResult Autocaster::run(func::FuncOp function) {
  Block &block = function.getBody().front();
  for (BlockArgument argument : block.getArguments())
    if (isData(argument))
      data.insert(argument);
  SmallVector<plan::CallOp> calls(block.getOps<plan::CallOp>());
  for (plan::CallOp call : calls) {
    // Positions, rotary angles and masks derive from integers and buffers. Models disable autocast around them, but an
    // archive that was exported without autocast often does not record this.
    if (llvm::none_of(call.getOperands(), [&](Value operand) { return data.contains(operand); }))
      continue;
    visit(call);
    data.insert(call.result_begin(), call.result_end());
  }
  // The original movements may have no readers left.
  for (plan::CallOp move : llvm::reverse(moves))
    if (move.use_empty())
      move.erase();
  function.setType(
      FunctionType::get(function.getContext(), block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
  return failure(hasFailed);
}

CastPolicy Autocaster::policyOf(plan::CallOp call) {
  auto isOfLoss = [](Operation *user) {
    auto reader = dyn_cast<plan::CallOp>(user);
    return reader && isClassLoss(reader.getTarget());
  };
  bool isPartOfLoss = isLogSoftmax(call.getTarget()) && !call->use_empty() && llvm::all_of(call->getUsers(), isOfLoss);
  return isPartOfLoss ? CastPolicy::wide : castPolicyOf(CallView::of(call), device);
}

void Autocaster::visit(plan::CallOp call) {
  // Before operands are converted: the policy `widest` is about the types that the call receives.
  FloatType promoted = promotedType(CallView::of(call));
  if (movedBy(call))
    moves.push_back(call);
  if (isOff(call))
    return visitOff(call);
  switch (policyOf(call)) {
  case CastPolicy::none:
    return retype(call);
  case CastPolicy::narrow:
    castOperands(call, narrow);
    return retype(call);
  case CastPolicy::wide:
    castOperands(call, wide);
    return retype(call);
  case CastPolicy::widest:
    castOperands(call, promoted);
    return retype(call);
  case CastPolicy::ofSelf: {
    FloatType self = floatOf(call.getOperand(0));
    castOperands(call, promoted);
    retype(call);
    return castResults(call, self);
  }
  case CastPolicy::banned:
    return refuse(call);
  }
}

void Autocaster::castOperands(plan::CallOp call, FloatType element) {
  for (OpOperand &operand : call->getOpOperands())
    // As PyTorch: autocast never converts f64, in either direction.
    if (FloatType own = floatOf(operand.get()); own && element && own != element && !element.isF64()) {
      operand.set(converted(operand.get(), element, call));
      changed.insert(operand.get());
      data.insert(operand.get());
    }
}

void Autocaster::retype(plan::CallOp call) {
  if (llvm::none_of(call.getOperands(), [&](Value operand) { return changed.contains(operand); }))
    return;
  CallView view = CallView::of(call);
  for (OpResult result : call.getResults()) {
    Type element = resultTypeOf(view, result.getResultNumber());
    // The type in the archive is that of a run without autocast; only what depends on a converted operand differs.
    if (element == typeOf(result).getElementType())
      continue;
    result.setType(typeOf(result).clone(element));
    changed.insert(result);
  }
  call.setArgsAttr(argsWithin(view, getElementTypeOrSelf(call->getResultTypes().front())));
}

void Autocaster::castResults(plan::CallOp call, FloatType element) {
  Value result = call.getResult(0);
  if (!element || !floatOf(result) || floatOf(result) == element || result.use_empty())
    return;
  OpBuilder builder(call.getContext());
  Value narrowed = CallBuilder("aten.to.dtype", call)
                       .tensor("self", result)
                       .type("dtype", element)
                       .build(typeOf(result).getShape(), element);
  narrowed.getDefiningOp()->moveAfter(call);
  result.replaceAllUsesExcept(narrowed, narrowed.getDefiningOp());
  changed.insert(narrowed);
  data.insert(narrowed);
}

void Autocaster::refuse(plan::CallOp call) {
  hasFailed = true;
  auto diagnostic = statement.emitError() << "'compute' is PyTorch's autocast, which refuses "
                                          << operatorText(call.getTarget(), call.getModule())
                                          << ": logarithms of 16-bit probabilities overflow";
  diagnostic.attachNote(statement.getLoc())
      << "help: export the model with 'binary_cross_entropy_with_logits', which reads logits";
}

bool Autocaster::isOff(plan::CallOp call) const {
  auto off = plan::opAttr<plan::attr::AutocastOff>(call);
  return off &&
         (off.getValue() == archive::everyDevice || off.getValue() == (device == AutocastDevice::cpu ? "cpu" : "cuda"));
}

void Autocaster::visitOff(plan::CallOp call) {
  CastPolicy policy = policyOf(call);
  bool takesOneType = policy == CastPolicy::narrow || policy == CastPolicy::widest;
  bool isChanged = llvm::any_of(call.getOperands(), [&](Value operand) { return changed.contains(operand); });
  SmallVector<FloatType> types;
  for (Value operand : call.getOperands())
    if (FloatType type = floatOf(operand); type && !llvm::is_contained(types, type))
      types.push_back(type);
  if (takesOneType && isChanged && types.size() > 1)
    return refuseMixed(call);
  retype(call);
}

void Autocaster::refuseMixed(plan::CallOp call) {
  hasFailed = true;
  std::string types;
  llvm::raw_string_ostream stream(types);
  llvm::interleave(
      call.getOperandTypes(), stream, [&](Type type) { stream << cast<RankedTensorType>(type).getElementType(); },
      ", ");
  auto diagnostic = statement.emitError()
                    << operatorText(call.getTarget(), call.getModule())
                    << " is in a region without autocast, and reads " << types << " under 'compute': expected one type";
  diagnostic.attachNote(statement.getLoc())
      << "help: convert the inputs of the region, as in 'x.float()', before the export";
}

Value Autocaster::converted(Value value, FloatType element, plan::CallOp reader) {
  if (Value known = casts.lookup({value, element}))
    return known;
  auto maker = value.getDefiningOp<plan::CallOp>();
  Value made;
  if (Value self = movedBy(maker)) {
    // Converts the operand of the movement instead: several readers may move the same tensor, which is then converted
    // once, and a parameter is converted in the form in which it is stored.
    made = moved(maker, converted(self, element, reader), reader);
  } else if (maker && maker.getTarget() == "aten.to.dtype" && floatOf(maker.getOperand(0)) == element &&
             element.getWidth() < floatOf(value).getWidth()) {
    made = maker.getOperand(0); // widening lost nothing, so the narrow source can be used
  } else {
    made = conversion(value, element, reader);
  }
  casts[{value, element}] = made;
  return made;
}

Value Autocaster::conversion(Value value, FloatType element, plan::CallOp reader) {
  Value made = CallBuilder("aten.to.dtype", reader)
                   .tensor("self", value)
                   .type("dtype", element)
                   .build(typeOf(value).getShape(), element);
  // Gives the conversion to the innermost common module: one module computes the value unchanged, and it is converted
  // at the border of the other.
  if (auto maker = value.getDefiningOp<plan::CallOp>()) {
    StringRef module = commonModule(maker.getModule().value_or(""), reader.getModule().value_or(""));
    auto call = cast<plan::CallOp>(made.getDefiningOp());
    call.setModuleAttr(module.empty() ? StringAttr() : StringAttr::get(call.getContext(), module));
  }
  return made;
}

Value Autocaster::moved(plan::CallOp move, Value self, plan::CallOp reader) {
  auto copy = cast<plan::CallOp>(OpBuilder(reader).clone(*move));
  copy.setOperand(0, self);
  Value result = copy.getResult(0);
  result.setType(typeOf(result).clone(typeOf(self).getElementType()));
  return result;
}

namespace {

struct AutocastPass : meshplan::impl::AutocastBase<AutocastPass> {
  using AutocastBase::AutocastBase;

  void runOnOperation() final {
    auto forward = plan::programOf(getOperation(), base::ProgramRole::forward);
    AutocastDevice on = device == "cuda" ? AutocastDevice::cuda : AutocastDevice::cpu;
    for (plan::PrecisionOp statement : llvm::make_early_inc_range(getOperation().getOps<plan::PrecisionOp>())) {
      auto narrow = dyn_cast_or_null<FloatType>(statement.getCompute().value_or(Type()));
      if (forward && narrow && narrow.getWidth() == 16 && failed(Autocaster(statement, narrow, on).run(forward)))
        return signalPassFailure();
      statement.removeComputeAttr();
      if (statement->getAttrs().empty())
        statement.erase();
    }
    getOperation().walk([](plan::CallOp call) { call->removeAttr(plan::attr::AutocastOff::getNameStr()); });
  }
};

} // namespace
