//===- attributes.cpp - where attributes of the plan dialect may stand ----===//
//
// Rules have labels (D) that reappear in test/dialect/plan/attributes.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialect/plan/attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {
/// Where an attribute may stand. An argument counts by its kind.
enum Position : unsigned {
  onParameter = 1U << static_cast<unsigned>(ArgumentKind::parameter),
  onBuffer = 1U << static_cast<unsigned>(ArgumentKind::buffer),
  onInput = 1U << static_cast<unsigned>(ArgumentKind::input),
  onSetting = 1U << static_cast<unsigned>(ArgumentKind::setting),
  onState = 1U << static_cast<unsigned>(ArgumentKind::state),
  onAccumulator = 1U << static_cast<unsigned>(ArgumentKind::accumulator),
  onResult = 1U << 6,
  onFunction = 1U << 7,
  onCall = 1U << 8,
  onConstrain = 1U << 9,
  onCollective = 1U << 10,
  onModule = 1U << 11,
  onWeight = onParameter | onBuffer,
  onArgument = onWeight | onInput | onSetting | onState | onAccumulator,
};

/// What is known of one attribute.
struct Rule {
  unsigned positions = 0;
  bool (*hasType)(Attribute) = nullptr;
};
} // namespace

template <typename Attr> static Rule rule(unsigned positions) {
  return {positions, [](Attribute value) { return isa<attr::ValueOf<Attr>>(value); }};
}

static bool isStringList(Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  return list && llvm::all_of(list, [](Attribute each) { return isa<StringAttr>(each); });
}

static bool isInit(Attribute value) { return isa<base::InitAttr, InitRuleOfAttr>(value); }
static bool isWordOrArgument(Attribute value) { return isa<StringAttr, IntegerAttr>(value); }

/// The rule of an attribute, or one without positions if the dialect has no such attribute.
static Rule ruleOf(StringRef name) {
  return llvm::StringSwitch<Rule>(name)
      .Case(attr::Kind::getNameStr(), rule<attr::Kind>(onArgument))
      .Case(attr::Names::getNameStr(), {onArgument, isStringList})
      .Case(attr::Dims::getNameStr(), {onInput, isStringList})
      .Case(attr::Sharding::getNameStr(), rule<attr::Sharding>(onWeight | onInput))
      .Case(attr::Parts::getNameStr(), rule<attr::Parts>(onWeight))
      .Case(attr::Style::getNameStr(), rule<attr::Style>(onArgument))
      .Case(attr::Trainable::getNameStr(), rule<attr::Trainable>(onWeight))
      .Case(attr::Unused::getNameStr(), rule<attr::Unused>(onParameter))
      .Case(attr::Group::getNameStr(), rule<attr::Group>(onParameter))
      .Case(attr::Data::getNameStr(), rule<attr::Data>(onWeight | onState | onAccumulator | onCollective))
      .Case(attr::Unit::getNameStr(), rule<attr::Unit>(onWeight | onState | onAccumulator | onCollective))
      .Case(attr::Keep::getNameStr(), rule<attr::Keep>(onWeight))
      .Case(attr::Init::getNameStr(), {onWeight, isInit})
      .Case(attr::Of::getNameStr(), rule<attr::Of>(onState))
      .Case(attr::Copies::getNameStr(), rule<attr::Copies>(onState))
      .Case(attr::Scratch::getNameStr(), rule<attr::Scratch>(onAccumulator))
      .Case(attr::Value::getNameStr(), rule<attr::Value>(onSetting))
      .Case(attr::Schedule::getNameStr(), rule<attr::Schedule>(onSetting))
      .Case(attr::Storage::getNameStr(), rule<attr::Storage>(onParameter | onAccumulator))
      .Case(attr::Host::getNameStr(), rule<attr::Host>(onArgument | onCall))
      .Case(attr::Name::getNameStr(), rule<attr::Name>(onResult))
      .Case(attr::Loss::getNameStr(), rule<attr::Loss>(onResult))
      .Case(attr::GradientOf::getNameStr(), rule<attr::GradientOf>(onResult))
      .Case(attr::Updates::getNameStr(), rule<attr::Updates>(onResult))
      .Case(attr::Role::getNameStr(), rule<attr::Role>(onFunction))
      .Case(attr::Guard::getNameStr(), rule<attr::Guard>(onFunction))
      .Case(attr::Runs::getNameStr(), rule<attr::Runs>(onFunction))
      .Case(attr::RunsBefore::getNameStr(), rule<attr::RunsBefore>(onFunction))
      .Case(attr::ModuleRuns::getNameStr(), rule<attr::ModuleRuns>(onCall))
      .Case(attr::LossGradient::getNameStr(), rule<attr::LossGradient>(onCall))
      .Case(attr::Kept::getNameStr(), rule<attr::Kept>(onCall))
      .Case(attr::Precision::getNameStr(), rule<attr::Precision>(onCall))
      .Case(attr::KeepsAddends::getNameStr(), rule<attr::KeepsAddends>(onCall | onCollective))
      .Case(attr::ZeroGradient::getNameStr(), rule<attr::ZeroGradient>(onCall))
      .Case(attr::InEvaluation::getNameStr(), {onCall, isWordOrArgument})
      .Case(attr::AutocastOff::getNameStr(), rule<attr::AutocastOff>(onCall))
      .Case(attr::InputOf::getNameStr(), rule<attr::InputOf>(onConstrain))
      .Case(attr::OutputOf::getNameStr(), rule<attr::OutputOf>(onConstrain))
      .Case(attr::ActivationSum::getNameStr(), rule<attr::ActivationSum>(onCollective))
      .Case(attr::WideActivations::getNameStr(), rule<attr::WideActivations>(onModule))
      .Case(attr::IsDecomposed::getNameStr(), rule<attr::IsDecomposed>(onModule))
      .Case(attr::IsEvaluated::getNameStr(), rule<attr::IsEvaluated>(onModule))
      .Default({});
}

static LogicalResult verify(Operation *op, NamedAttribute attribute, unsigned position, const Twine &where) {
  Rule known = ruleOf(attribute.getName());
  if (known.positions == 0) // D1
    return op->emitOpError() << "has '" << attribute.getName().getValue() << "', which the dialect does not know";
  if (!known.hasType(attribute.getValue())) // D2
    return op->emitOpError() << "has '" << attribute.getName().getValue() << "' of the wrong type, "
                             << attribute.getValue();
  if ((known.positions & position) == 0) // D3
    return op->emitOpError() << "has '" << attribute.getName().getValue() << "' on " << where
                             << ", where it means nothing";
  return success();
}

/// D4: an attribute that names an argument by its number names one that is there.
static LogicalResult verifyReference(Operation *op, NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto number = dyn_cast<IntegerAttr>(attribute.getValue());
  if (!function || !number || number.getInt() < function.getNumArguments())
    return success();
  return op->emitOpError() << "has '" << attribute.getName().getValue() << "' = " << number.getInt() << ", and "
                           << function.getNumArguments() << " arguments";
}

LogicalResult PlanDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (isa<FunctionOpInterface>(op))
    return verify(op, attribute, onFunction, "a function");
  if (isa<ModuleOp>(op))
    return verify(op, attribute, onModule, "a module");
  if (isa<CallOp>(op))
    return verify(op, attribute, onCall, "a call");
  if (isa<ConstrainOp>(op))
    return verify(op, attribute, onConstrain, "a statement");
  return verify(op, attribute, onCollective, "an op");
}

LogicalResult PlanDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  ArgumentKindAttr kind = function ? argAttr<attr::Kind>(function, index) : ArgumentKindAttr();
  unsigned position = kind ? 1U << static_cast<unsigned>(kind.getValue()) : static_cast<unsigned>(onArgument);
  StringRef where = kind ? stringifyArgumentKind(kind.getValue()) : "argument";
  if (failed(verify(op, attribute, position, "argument " + Twine(index) + " (" + where + ")")))
    return failure();
  return attribute.getName() == attr::Of::getNameStr() ? verifyReference(op, attribute) : success();
}

LogicalResult PlanDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                       NamedAttribute attribute) {
  if (failed(verify(op, attribute, onResult, "result " + Twine(index))))
    return failure();
  bool isReference =
      attribute.getName() == attr::Updates::getNameStr() || attribute.getName() == attr::GradientOf::getNameStr();
  return isReference ? verifyReference(op, attribute) : success();
}
