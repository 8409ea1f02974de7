//===- runtime.cpp - derivatives that the runtime computes ----------------===//
//
// `vjp.TARGET` takes the arguments of TARGET, the gradients of its results, and the names of the arguments whose
// gradients it returns. Each call recomputes TARGET, so operands share a call where they can. They can if they have the
// same factors: a factor that is in one operand's gradient and is summed over in another's would need two different
// shardings of one call.
//
//===----------------------------------------------------------------------===//

#include "compiler/derivatives/arithmetic.h"
#include "compiler/derivatives/derivative_rules.h"
#include "compiler/sharding/families/random_ops.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;
using namespace meshplan;

namespace {
/// The arguments, or items of list arguments, whose gradients one call computes.
struct SharedCall {
  std::set<unsigned> factors; ///< factors of each of the operands that can be sharded
  bool isAdded = false;       ///< the operand is added to a contraction
  SmallVector<unsigned> operands = {};
  SmallVector<std::string> names = {};
};
} // namespace

/// The call that an operand belongs to, without the operand itself.
static SharedCall callFor(unsigned operand, const FactorRule &rule, const std::optional<AddendSplit> &split) {
  SharedCall call{{}, split && split->addend == operand};
  for (ArrayRef<unsigned> dim : rule.operands[operand].dims)
    for (unsigned factor : dim)
      // Other factors are whole in any call and do not separate operands.
      if (rule.factors[factor].kind == FactorKind::parallel || rule.factors[factor].kind == FactorKind::sum)
        call.factors.insert(factor);
  return call;
}

/// The name of each argument, and of each item of a list, that is a tensor and needs a gradient.
static SmallVector<std::pair<std::string, unsigned>> wantedArguments(const Derivation &derivation) {
  SmallVector<std::pair<std::string, unsigned>> wanted;
  auto add = [&](const Twine &name, Attribute reference) {
    auto operand = dyn_cast<plan::OperandRefAttr>(reference);
    if (operand && derivation.wants(operand.getIndex()))
      wanted.emplace_back(name.str(), operand.getIndex());
  };
  for (NamedAttribute argument : derivation.getView().args) {
    add(argument.getName().getValue(), argument.getValue());
    if (auto list = dyn_cast<ArrayAttr>(argument.getValue()))
      for (auto [index, item] : llvm::enumerate(list))
        add(argument.getName().getValue() + "." + Twine(index), item);
  }
  return wanted;
}

static SmallVector<SharedCall> sharedCalls(const Derivation &derivation) {
  const CallView &view = derivation.getView();
  const OpRecord *record = OpRegistry::get().lookup(view.target);
  FactorRule rule = factorRuleOf(view, record);
  std::optional<AddendSplit> split = record && record->splitAddend ? record->splitAddend(view) : std::nullopt;
  SmallVector<SharedCall> calls;
  for (const auto &[name, operand] : wantedArguments(derivation)) {
    SharedCall own = callFor(operand, rule, split);
    auto found = llvm::find_if(
        calls, [&](const SharedCall &call) { return call.factors == own.factors && call.isAdded == own.isAdded; });
    if (found == calls.end())
      found = calls.insert(calls.end(), own);
    found->operands.push_back(operand);
    found->names.push_back(name);
  }
  return calls;
}

/// The gradient of each result. A result without one gets zeros, because its shape is needed to shard the call; the
/// zeros are one element in memory. An operator without a record is not sharded and needs none.
static SmallVector<Value> gradientsOfResults(const Derivation &derivation) {
  plan::CallOp call = derivation.getCall();
  bool isKnown = OpRegistry::get().lookup(call.getTarget());
  Arithmetic math(derivation);
  SmallVector<Value> gradients;
  for (auto [index, result] : llvm::enumerate(call.getResults())) {
    gradients.push_back(derivation.gradient(index));
    if (gradients.back() || !isKnown)
      continue;
    SmallVector<int64_t> one(rankOf(result), 1);
    Value zero = derivation.make("aten.zeros.default")
                     .integers("size", one)
                     .type("dtype", elementOf(result))
                     .build(one, elementOf(result));
    gradients.back() = math.expand(zero, shapeOf(result));
  }
  return gradients;
}

/// Begins a call with all arguments of the forward call. Operands keep their indices.
static CallBuilder repeated(const Derivation &derivation, StringRef target) {
  CallBuilder call = derivation.make(target);
  for (Value operand : derivation.getCall().getOperands())
    call.operand(operand);
  for (NamedAttribute argument : derivation.getView().args)
    call.literal(argument.getName(), argument.getValue());
  return call;
}

void meshplan::differentiateAtRunTime(Derivation &derivation) {
  plan::CallOp call = derivation.getCall();
  StringRef target = call.getTarget();
  if (target.starts_with("meshplan."))
    return derivation.refuse("the runtime's kernel '" + target + "' has no derivative");
  if (!target.starts_with("aten."))
    return derivation.refuse("LibTorch differentiates operators of ATen only");
  // The repeated call would draw other numbers than the forward pass did.
  if (drawsRandomNumbers(derivation.getView()))
    return derivation.refuse("it draws random numbers");
  std::string own = ("vjp." + target).str();
  SmallVector<Value> gradients = gradientsOfResults(derivation);
  for (const SharedCall &shared : sharedCalls(derivation)) {
    auto types = llvm::map_to_vector(shared.operands, [&](unsigned operand) -> Type {
      return RankedTensorType::get(shapeOf(call.getOperand(operand)), elementOf(call.getOperand(operand)));
    });
    CallBuilder made = repeated(derivation, own);
    made.tensors("gradients", gradients).text("of", llvm::join(shared.names, ", "));
    for (auto [operand, gradient] : llvm::zip_equal(shared.operands, made.build(types).getResults()))
      derivation.give(operand, gradient);
  }
}
