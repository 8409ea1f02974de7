//===- attributes.cpp - where attributes of the plan dialect may stand ----===//
//
// Rules have labels (D) that reappear in test/dialect/plan/attributes.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialect/plan/attributes.h"
#include "dialect/plan/argument_table.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

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
  onGather = 1U << 10,
  onScatter = 1U << 11,
  onAllReduce = 1U << 12,
  onOtherMove = 1U << 13, ///< of the ops that change a layout
  onOtherOp = 1U << 14,
  onModule = 1U << 15,
  onCollective = onGather | onScatter | onAllReduce,
  onMove = onCollective | onOtherMove,
  onWeight = onParameter | onBuffer,
  onChanged = onWeight | onState | onAccumulator,
  onArgument = onChanged | onInput | onSetting,
};

/// What is known of one attribute.
struct Rule {
  unsigned positions = 0;
  bool (*hasType)(Attribute) = nullptr;
  unsigned refersTo = onArgument; ///< where a reference may lead
};
} // namespace

template <typename Attr> static Rule rule(unsigned positions, unsigned refersTo = onArgument) {
  return {positions, [](Attribute value) { return isa<attr::ValueOf<Attr>>(value); }, refersTo};
}

template <typename Item> static bool isListOf(Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  return list && llvm::all_of(list, llvm::IsaPred<Item>);
}

static bool isName(Attribute value) {
  auto text = dyn_cast<StringAttr>(value);
  return text && !text.empty();
}

/// True for a list of names, of which there is one.
static bool isNames(Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  return list && !list.empty() && llvm::all_of(list, isName);
}

/// True for an integer of 64 bits, which is what its readers expect.
static bool isInteger(Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isSignlessInteger(64);
}

static bool isUnit(Attribute value) { return isInteger(value) && cast<IntegerAttr>(value).getInt() >= 0; }

static bool isPositiveList(Attribute value) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
  return numbers && !numbers.empty() && llvm::all_of(numbers.asArrayRef(), [](int64_t number) { return number > 0; });
}

static bool isReserve(Attribute value) {
  auto number = dyn_cast<FloatAttr>(value);
  return number && meshplan::isReserve(number.getValueAsDouble());
}

static bool isFloatType(Attribute value) {
  auto type = dyn_cast<TypeAttr>(value);
  return type && isa<FloatType>(type.getValue());
}

static bool isInit(Attribute value) { return isa<base::InitAttr, InitRuleOfAttr>(value); }
static bool isStandIn(Attribute value) { return isa<StandInAttr, ArgumentRefAttr>(value); }

/// The rule of an attribute, or one without positions if the dialect has no such attribute.
static Rule ruleOf(StringRef name) {
  return llvm::StringSwitch<Rule>(name)
      .Case(attr::Kind::getNameStr(), rule<attr::Kind>(onArgument))
      .Case(attr::Names::getNameStr(), {onArgument, isNames})
      .Case(attr::Dims::getNameStr(), {onInput, isListOf<StringAttr>})
      .Case(attr::Sharding::getNameStr(), rule<attr::Sharding>(onWeight | onInput))
      .Case(attr::Parts::getNameStr(), {onWeight, isPositiveList})
      .Case(attr::Style::getNameStr(), rule<attr::Style>(onArgument))
      .Case(attr::Trainable::getNameStr(), rule<attr::Trainable>(onParameter))
      .Case(attr::Unused::getNameStr(), rule<attr::Unused>(onParameter))
      .Case(attr::Group::getNameStr(), {onParameter, isInteger})
      .Case(attr::Data::getNameStr(), {onParameter | onAccumulator | onAllReduce, isInteger})
      .Case(attr::Unit::getNameStr(), {onParameter | onAccumulator | onAllReduce, isUnit})
      .Case(attr::Keep::getNameStr(), rule<attr::Keep>(onParameter))
      .Case(attr::Init::getNameStr(), {onWeight, isInit})
      .Case(attr::Pieces::getNameStr(), rule<attr::Pieces>(onWeight))
      .Case(attr::Of::getNameStr(), rule<attr::Of>(onState, onParameter))
      .Case(attr::Copies::getNameStr(), rule<attr::Copies>(onState))
      .Case(attr::Scratch::getNameStr(), rule<attr::Scratch>(onAccumulator))
      .Case(attr::Value::getNameStr(), rule<attr::Value>(onSetting))
      .Case(attr::Schedule::getNameStr(), rule<attr::Schedule>(onSetting))
      .Case(attr::Storage::getNameStr(), rule<attr::Storage>(onParameter | onAccumulator))
      .Case(attr::Host::getNameStr(), rule<attr::Host>(onWeight | onState | onCall))
      .Case(attr::Name::getNameStr(), {onResult, isName})
      .Case(attr::Loss::getNameStr(), rule<attr::Loss>(onResult))
      .Case(attr::Experts::getNameStr(), {onResult, isListOf<StringAttr>})
      .Case(attr::Pairs::getNameStr(), {onResult, isPositiveList})
      .Case(attr::GradientOf::getNameStr(), rule<attr::GradientOf>(onResult, onParameter))
      .Case(attr::Updates::getNameStr(), rule<attr::Updates>(onResult, onChanged))
      .Case(attr::Role::getNameStr(), rule<attr::Role>(onFunction))
      .Case(attr::Guard::getNameStr(), rule<attr::Guard>(onFunction))
      .Case(attr::Timeline::getNameStr(), {onFunction, isListOf<base::InstanceAttr>})
      .Case(attr::ModuleRuns::getNameStr(), {onCall, isListOf<ModuleRunAttr>})
      .Case(attr::LossGradient::getNameStr(), rule<attr::LossGradient>(onCall))
      .Case(attr::Kept::getNameStr(), rule<attr::Kept>(onCall))
      .Case(attr::Precision::getNameStr(), rule<attr::Precision>(onCall))
      .Case(attr::KeepsAddends::getNameStr(), rule<attr::KeepsAddends>(onCall | onMove))
      .Case(attr::ZeroGradient::getNameStr(), rule<attr::ZeroGradient>(onCall))
      .Case(attr::InEvaluation::getNameStr(), {onCall, isStandIn})
      .Case(attr::Reserve::getNameStr(), {onCall, isReserve})
      .Case(attr::AutocastOff::getNameStr(), rule<attr::AutocastOff>(onCall))
      .Case(attr::InputOf::getNameStr(), rule<attr::InputOf>(onConstrain))
      .Case(attr::OutputOf::getNameStr(), rule<attr::OutputOf>(onConstrain))
      .Case(attr::ActivationSum::getNameStr(), {onScatter | onAllReduce, isFloatType})
      .Case(attr::Mergeable::getNameStr(), rule<attr::Mergeable>(onCollective))
      .Case(attr::Prefetch::getNameStr(), rule<attr::Prefetch>(onGather))
      .Case(attr::Once::getNameStr(), rule<attr::Once>(onGather))
      .Case(attr::WideActivations::getNameStr(), rule<attr::WideActivations>(onModule))
      .Case(attr::IsDecomposed::getNameStr(), rule<attr::IsDecomposed>(onModule))
      .Case(attr::IsEvaluated::getNameStr(), rule<attr::IsEvaluated>(onModule))
      .Default({});
}

static unsigned positionOf(ArgumentKind kind) { return 1U << static_cast<unsigned>(kind); }

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
  auto reference = dyn_cast<ArgumentRefAttr>(attribute.getValue());
  if (reference && (known.refersTo & positionOf(reference.getKind())) == 0) // D4
    return op->emitOpError() << "has '" << attribute.getName().getValue() << "' = " << reference
                             << ", whose kind cannot be '" << stringifyArgumentKind(reference.getKind()) << "'";
  return success();
}

/// The last attribute of the dialect: number of the argument or result, and name; null if there is none.
static std::pair<size_t, StringAttr> lastIn(ArrayAttr all) {
  for (size_t index = all ? all.size() : 0; index-- > 0;)
    for (NamedAttribute each : llvm::reverse(cast<DictionaryAttr>(all[index]).getValue()))
      if (isa_and_nonnull<PlanDialect>(each.getNameDialect()))
        return {index, each.getName()};
  return {};
}

/// A call belongs to one run of each module that contains it.
static LogicalResult verifyModuleRuns(CallOp call, ArrayAttr runs) {
  llvm::StringSet<> paths;
  for (auto run : runs.getAsRange<ModuleRunAttr>()) {
    if (!call.isInModule(run.getPath())) // D9
      return call.emitOpError() << "has a run of module \"" << run.getPath() << "\", which does not contain it";
    if (!paths.insert(run.getPath()).second) // D10
      return call.emitOpError() << "has two runs of module \"" << run.getPath() << "\"";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

/// D11: what an attribute states about the dims of an argument fits its tensor.
static LogicalResult verifyDims(FunctionOpInterface function, unsigned index, NamedAttribute attribute) {
  auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[index]);
  if (!type)
    return success();
  StringRef name = attribute.getName();
  auto emitError = [&] {
    return function.emitOpError() << "has '" << name << "' on argument " << index << " of type " << type << ": ";
  };
  if (auto dims = dyn_cast<ArrayAttr>(attribute.getValue());
      dims && name == attr::Dims::getNameStr() && static_cast<int64_t>(dims.size()) != type.getRank())
    return emitError() << "names " << dims.size() << " dims of a tensor of rank " << type.getRank();
  auto init = dyn_cast<base::InitAttr>(attribute.getValue());
  if (init && init.getElements() && init.getElements().getShapedType().getShape() != type.getShape())
    return emitError() << "is given elements of type " << init.getElements().getShapedType();
  auto pieces = dyn_cast<base::PiecesAttr>(attribute.getValue());
  if (std::string fault = pieces ? piecesFault(pieces.asPieces(), type.getShape()) : ""; !fault.empty()) // D15
    return emitError() << "is not in these pieces: " << fault;
  auto sharding = dyn_cast<ShardingAttr>(attribute.getValue());
  if (!sharding)
    return success();
  MeshOp mesh = getMesh(function);
  if (!mesh)
    return emitError() << "names axes, but the module has no mesh";
  return failure(failed(sharding.verifyEncoding(type.getShape(), type.getElementType(), emitError)) ||
                 failed(verifyAgainstMesh(sharding, mesh, emitError)));
}

/// D16: an output of tokens by expert has a row and a number of pairs for each module.
static LogicalResult verifyExpertTokens(FunctionOpInterface function, unsigned index) {
  ArrayAttr modules = resultAttr<attr::Experts>(function, index);
  DenseI64ArrayAttr pairs = resultAttr<attr::Pairs>(function, index);
  int64_t rows = modules ? modules.size() : 0, numbers = pairs ? pairs.size() : 0;
  auto type = dyn_cast<RankedTensorType>(function.getResultTypes()[index]);
  if (type && type.getElementType().isInteger(64) && type.getRank() == 2 && rows > 0 && rows == numbers &&
      type.getDimSize(0) == rows)
    return success();
  return function.emitOpError() << "has result " << index << " of type " << function.getResultTypes()[index]
                                << " that counts tokens of " << rows << " modules with " << numbers
                                << " numbers of pairs, must be i64 [modules, experts] with one number for each module";
}

/// D14: the operand that stands for a call is one of it.
static LogicalResult verifyStandIn(CallOp call, StandInAttr standIn) {
  size_t needed = standIn.getValue() == StandIn::ones ? 0 : standIn.getValue() == StandIn::first_operand ? 1 : 2;
  if (call.getOperands().size() >= needed)
    return success();
  return call.emitOpError() << "has the stand-in '" << stringifyStandIn(standIn.getValue()) << "', but "
                            << call.getOperands().size() << " operands";
}

//===----------------------------------------------------------------------===//
// Positions of statements
//===----------------------------------------------------------------------===//

/// The arguments of a function name their data statement and their optimizer group by position. The statements of a
/// module are erased together with these attributes.
static LogicalResult verifyPositions(FunctionOpInterface function) {
  auto module = function->getParentOfType<ModuleOp>();
  int64_t statements = llvm::range_size(module.getOps<DataOp>()), groups = 0;
  for (OptimizerOp optimizer : module.getOps<OptimizerOp>())
    groups = optimizer.getGroups().size();
  auto verify = [&](IntegerAttr position, StringRef name, unsigned index, int64_t count) -> LogicalResult {
    if (!position || (position.getInt() >= 0 && position.getInt() < count))
      return success();
    return function.emitOpError() << "has '" << name << "' = " << position.getInt() << " on argument " // D8
                                  << index << ", but the statements of the module have " << count;
  };
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (failed(verify(argAttr<attr::Data>(function, index), attr::Data::getNameStr(), index, statements)) ||
        failed(verify(argAttr<attr::Group>(function, index), attr::Group::getNameStr(), index, groups)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Rules of a whole function
//===----------------------------------------------------------------------===//

/// The hooks of MLIR see one attribute at a time. What needs all of a function is verified once, after its last
/// attribute.
static LogicalResult verifyAfterLast(Operation *op, bool isResult, size_t index, NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return success();
  std::pair<size_t, StringAttr> ofResults = lastIn(function.getResAttrsAttr());
  if (isResult != static_cast<bool>(ofResults.second))
    return success();
  std::pair<size_t, StringAttr> last = isResult ? ofResults : lastIn(function.getArgAttrsAttr());
  if (last != std::pair(index, attribute.getName()))
    return success();
  return failure(failed(verifyPositions(function)) || failed(verifyReferences(function)));
}

//===----------------------------------------------------------------------===//
// Hooks
//===----------------------------------------------------------------------===//

static LogicalResult verifyOnCall(Operation *op, NamedAttribute attribute) {
  if (failed(verify(op, attribute, onCall, "a call")))
    return failure();
  if (attribute.getName() == attr::ModuleRuns::getNameStr())
    return verifyModuleRuns(cast<CallOp>(op), cast<ArrayAttr>(attribute.getValue()));
  if (auto standIn = dyn_cast<StandInAttr>(attribute.getValue()))
    return verifyStandIn(cast<CallOp>(op), standIn);
  auto function = op->getParentOfType<FunctionOpInterface>();
  // A function without attributes has no last one.
  bool isVerified = !function || lastIn(function.getArgAttrsAttr()).second || lastIn(function.getResAttrsAttr()).second;
  return isVerified || !isa<ArgumentRefAttr>(attribute.getValue()) ? success() : verifyReferences(function);
}

LogicalResult PlanDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (isa<FunctionOpInterface>(op))
    return verify(op, attribute, onFunction, "a function");
  if (isa<ModuleOp>(op))
    return verify(op, attribute, onModule, "a module");
  if (isa<CallOp>(op))
    return verifyOnCall(op, attribute);
  unsigned position = llvm::TypeSwitch<Operation *, unsigned>(op)
                          .Case([](ConstrainOp) { return onConstrain; })
                          .Case([](AllGatherOp) { return onGather; })
                          .Case([](ReduceScatterOp) { return onScatter; })
                          .Case([](AllReduceOp) { return onAllReduce; })
                          .Case<AllToAllOp, ExchangeOp, PermuteOp, SliceOp, ReshardOp>([](auto) { return onOtherMove; })
                          .Default([](Operation *) { return onOtherOp; });
  return verify(op, attribute, position, "'" + op->getName().getStringRef() + "'");
}

LogicalResult PlanDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  ArgumentKindAttr kind = function ? argAttr<attr::Kind>(function, index) : ArgumentKindAttr();
  // Without a kind the argument may be of any.
  unsigned position = kind ? positionOf(kind.getValue()) : static_cast<unsigned>(onArgument);
  StringRef where = kind ? stringifyArgumentKind(kind.getValue()) : "argument";
  if (failed(verify(op, attribute, position, "argument " + Twine(index) + " (" + where + ")")))
    return failure();
  bool isTrained = function && attribute.getName() == attr::Trainable::getNameStr() &&
                   cast<BoolAttr>(attribute.getValue()).getValue();
  if (isTrained && !referenceTo(function, index)) // D7
    return op->emitOpError() << "has '" << attribute.getName().getValue() << "' on argument " << index
                             << ", to which its gradient cannot refer without a kind and a name";
  if (function && failed(verifyDims(function, index, attribute)))
    return failure();
  return verifyAfterLast(op, /*isResult=*/false, index, attribute);
}

LogicalResult PlanDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                       NamedAttribute attribute) {
  if (failed(verify(op, attribute, onResult, "result " + Twine(index))))
    return failure();
  bool countsTokens =
      attribute.getName() == attr::Experts::getNameStr() || attribute.getName() == attr::Pairs::getNameStr();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (countsTokens && function && failed(verifyExpertTokens(function, index)))
    return failure();
  return verifyAfterLast(op, /*isResult=*/true, index, attribute);
}
