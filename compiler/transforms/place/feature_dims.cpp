//===- feature_dims.cpp - the features of a parameter ---------------------===//

#include "compiler/transforms/place/feature_dims.h"
#include "compiler/sharding/module_border.h"
#include "compiler/transforms/place/feature_roles.h"
#include "compiler/transforms/place/weight_products.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// What is known of a value that is made of weights.
struct ValueFeatures {
  FeatureRoles roles;
  SmallVector<ActivationUse> activations;
  CallOp meeting, unknown;
};

/// Which calls without an activation end the search, as if they had one.
enum class Products { none, projections, all };

/// Follows one parameter.
class Follower {
public:
  Follower(const FeatureSearch &search, StringRef path, Products products)
      : search(search), path(path), products(products) {}

  const ValueFeatures &at(Value value);

private:
  ValueFeatures atUse(OpOperand &use);
  ValueFeatures meet(CallOp call, unsigned operand, const CallView &view, const FactorRule &rule);
  ValueFeatures passThrough(CallOp call, unsigned operand, const CallView &view, const FactorRule &rule);
  bool meets(CallOp call, unsigned operand, const FactorRule &rule) const;
  SmallVector<unsigned> activationsOf(CallOp call, unsigned operand, const FactorRule &rule) const;

  const FeatureSearch &search;
  StringRef path;
  Products products;
  llvm::DenseMap<Value, std::unique_ptr<ValueFeatures>> known;
};

} // namespace

/// The uses by calls, in the order of the program.
static SmallVector<OpOperand *> usesByCalls(Value value) {
  SmallVector<OpOperand *> uses = usesBehindReshards(value);
  llvm::erase_if(uses, [](OpOperand *use) { return !isa<CallOp>(use->getOwner()); });
  llvm::stable_sort(uses, [](OpOperand *left, OpOperand *right) {
    return left->getOwner() != right->getOwner() && left->getOwner()->isBeforeInBlock(right->getOwner());
  });
  return uses;
}

static bool haveSameRoles(const FeaturePieces &left, const FeaturePieces &right) {
  auto isSame = [](const FeaturePiece &one, const FeaturePiece &other) {
    return one.role == other.role && one.size == other.size;
  };
  return llvm::equal(left, right, isSame);
}

/// True if no dim has other features for the one than for the other.
static bool agree(const FeatureRoles &left, const FeatureRoles &right) {
  return llvm::all_of(llvm::zip(left, right), [](auto dims) {
    auto &[one, other] = dims;
    return !hasFeatures(one) || !hasFeatures(other) || haveSameRoles(one, other);
  });
}

static bool isKnown(const FeaturePieces &dim) {
  return llvm::any_of(dim, [](const FeaturePiece &piece) { return piece.role != FeatureRole::none; });
}

static bool meetsActivation(const FeaturePieces &dim) {
  return hasFeatures(dim) && llvm::all_of(dim, [](const FeaturePiece &piece) { return piece.meets; });
}

static int64_t countMet(const FeatureRoles &roles) {
  return llvm::count_if(roles, [](const FeaturePieces &dim) { return meetsActivation(dim); });
}

/// Adds what another use says, if it does not contradict: what meets an activation counts for more than what is a
/// factor of a product, and then what comes first.
static void join(ValueFeatures &all, ValueFeatures use) {
  if (!all.unknown)
    all.unknown = use.unknown;
  if (!hasFeatures(use.roles))
    return;
  bool isContradicted = !agree(all.roles, use.roles);
  if (!hasFeatures(all.roles) || (isContradicted && countMet(use.roles) > countMet(all.roles))) {
    use.unknown = all.unknown;
    all = std::move(use);
    return;
  }
  if (isContradicted)
    return;
  for (auto [own, other] : llvm::zip(all.roles, use.roles))
    if (isKnown(other) && (!isKnown(own) || (meetsActivation(other) && !meetsActivation(own))))
      own = other;
  all.activations.append(use.activations);
}

const ValueFeatures &Follower::at(Value value) {
  auto [entry, isNew] = known.try_emplace(value);
  if (!isNew)
    return *entry->second;
  ValueFeatures all;
  all.roles.resize(cast<RankedTensorType>(value.getType()).getRank());
  known[value] = std::make_unique<ValueFeatures>(all);
  for (OpOperand *use : usesByCalls(value))
    join(all, atUse(*use));
  *known[value] = std::move(all);
  return *known[value];
}

ValueFeatures Follower::atUse(OpOperand &use) {
  auto call = cast<CallOp>(use.getOwner());
  CallView view = CallView::of(call);
  FactorRule rule = factorRuleOf(view, OpRegistry::get().lookup(view.target));
  unsigned operand = use.getOperandNumber();
  bool hasActivation = llvm::any_of(call.getOperands(), [&](Value value) { return search.isActivation(value); });
  if (!hasActivation && !meets(call, operand, rule))
    return passThrough(call, operand, view, rule);
  return call.isInModule(path) ? meet(call, operand, view, rule) : ValueFeatures();
}

bool Follower::meets(CallOp call, unsigned operand, const FactorRule &rule) const {
  if (products == Products::none || !call.isInModule(path))
    return false;
  WeightProduct product = productOf(rule, operand);
  return product == WeightProduct::projection || (product == WeightProduct::other && products == Products::all);
}

/// The operands that stand for activations: where no input has a part in any, what a weight is multiplied with, or the
/// indices by which it is looked up.
SmallVector<unsigned> Follower::activationsOf(CallOp call, unsigned operand, const FactorRule &rule) const {
  SmallVector<unsigned> activations;
  for (OpOperand &other : call->getOpOperands())
    if (search.isActivation(other.get()))
      activations.push_back(other.getOperandNumber());
  if (activations.empty())
    for (OpOperand &other : call->getOpOperands())
      if (other.getOperandNumber() != operand && isMultiplied(rule, operand, other.getOperandNumber()))
        activations.push_back(other.getOperandNumber());
  return activations;
}

/// The dim whose first factor this is, or that joins it with others.
static std::optional<int64_t> dimOf(const TensorFactors &tensor, unsigned factor) {
  for (auto [index, dim] : llvm::enumerate(tensor.dims))
    if (!dim.empty() && (dim.front() == factor || (tensor.isJoined(index) && llvm::is_contained(dim, factor))))
      return index;
  return std::nullopt;
}

ValueFeatures Follower::meet(CallOp call, unsigned operand, const CallView &view, const FactorRule &rule) {
  SmallVector<unsigned> activations = activationsOf(call, operand, rule);
  RolesOfOperand read = rolesAtMeeting(view, rule, operand, activations);
  ValueFeatures features{std::move(read.roles), {}, call, read.isUnknown ? call : CallOp()};
  for (unsigned other : activations)
    if (!isFromWeights(originOf(call.getOperand(other))))
      features.activations.push_back({&call->getOpOperand(other), read.contracted
                                                                      ? dimOf(rule.operands[other], *read.contracted)
                                                                      : std::optional<int64_t>()});
  return features;
}

ValueFeatures Follower::passThrough(CallOp call, unsigned operand, const CallView &view, const FactorRule &rule) {
  ValueFeatures features;
  SmallVector<FeatureRoles> results;
  for (Value result : call.getResults()) {
    const ValueFeatures &behind = at(result);
    results.push_back(behind.roles);
    features.activations.append(behind.activations);
    if (!features.meeting)
      features.meeting = behind.meeting;
    if (!features.unknown)
      features.unknown = behind.unknown;
  }
  RolesOfOperand read = rolesThrough(view, rule, operand, results);
  features.roles = std::move(read.roles);
  if (read.isUnknown)
    features.unknown = call;
  return features;
}

//===----------------------------------------------------------------------===//
// Dims and fans of a parameter
//===----------------------------------------------------------------------===//

/// The first piece of more than one element, or of one where there is no other, if it is for this.
static const FeaturePiece *majorPiece(const FeaturePieces &dim, FeatureRole role) {
  const auto *major = llvm::find_if(dim, [](const FeaturePiece &piece) { return piece.size != 1; });
  if (major == dim.end())
    major = llvm::find_if(dim, [role](const FeaturePiece &piece) { return piece.role == role; });
  return major != dim.end() && major->role == role ? major : nullptr;
}

/// A single feature gives way to several, a factor of a product to what meets an activation, and minor ones to major
/// ones.
static bool isBefore(const FeaturePiece &left, const FeaturePiece &right) {
  auto rank = [](const FeaturePiece &piece) { return std::pair(piece.size == 1, !piece.meets); };
  if (rank(left) != rank(right))
    return rank(left) < rank(right);
  return std::lexicographical_compare(left.place.begin(), left.place.end(), right.place.begin(), right.place.end());
}

static std::optional<FeatureDim> findDim(const FeatureRoles &roles, FeatureRole role) {
  const FeaturePiece *first = nullptr;
  int64_t place = 0;
  for (auto [index, dim] : llvm::enumerate(roles)) {
    const FeaturePiece *major = majorPiece(dim, role);
    if (!major || (first && !isBefore(*major, *first)))
      continue;
    first = major;
    place = index;
  }
  return first ? std::optional(FeatureDim{place, first->meets, first->isDivisible}) : std::nullopt;
}

static std::optional<Fans> findFans(const FeatureRoles &roles) {
  Fans fans{1, 1};
  bool makes = false, takes = false;
  for (const FeaturePieces &dim : roles)
    for (const FeaturePiece &piece : dim) {
      makes |= piece.role == FeatureRole::output;
      takes |= piece.role == FeatureRole::input;
      fans.out *= piece.role == FeatureRole::output || piece.role == FeatureRole::window ? piece.size : 1;
      fans.in *= piece.role == FeatureRole::input || piece.role == FeatureRole::window ? piece.size : 1;
    }
  return makes && takes ? std::optional(fans) : std::nullopt;
}

static FeatureUse useOf(ValueFeatures features) {
  FeatureUse use;
  use.output = findDim(features.roles, FeatureRole::output);
  use.input = findDim(features.roles, FeatureRole::input);
  use.fans = findFans(features.roles);
  for (const FeaturePieces &dim : features.roles)
    use.isLookedUp |= llvm::any_of(dim, [](const FeaturePiece &piece) { return piece.isLookedUp; });
  use.activations = std::move(features.activations);
  use.meeting = features.meeting;
  use.unknown = features.unknown;
  return use;
}

/// What the first attempt that tells has found: a module, and which products of weights count there.
static FeatureUse findFirst(const FeatureSearch &search, BlockArgument parameter,
                            ArrayRef<std::pair<StringRef, Products>> attempts) {
  FeatureUse none;
  for (auto [path, products] : attempts) {
    ValueFeatures features = Follower(search, path, products).at(parameter);
    if (hasFeatures(features.roles))
      return useOf(std::move(features));
    if (!none.unknown)
      none.unknown = features.unknown;
  }
  return none;
}

FeatureUse FeatureSearch::findIn(BlockArgument parameter, StringRef path) const {
  return findFirst(*this, parameter, {{path, Products::none}, {path, Products::projections}});
}

FeatureUse FeatureSearch::find(BlockArgument parameter, StringRef path) const {
  return findFirst(*this, parameter,
                   {{path, Products::none},
                    {path, Products::projections},
                    {"", Products::none},
                    {"", Products::projections},
                    {"", Products::all}});
}

//===----------------------------------------------------------------------===//
// What is made of weights
//===----------------------------------------------------------------------===//

FeatureSearch::FeatureSearch(func::FuncOp function) {
  if (function.isExternal())
    return;
  for (BlockArgument argument : function.getArguments())
    if (!isWeight(argument))
      activations.insert(argument);
  for (Operation &op : function.getOps())
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return activations.contains(operand); }))
      activations.insert(op.result_begin(), op.result_end());
}

bool FeatureSearch::isActivation(Value value) const { return activations.contains(originOf(value)); }

llvm::SetVector<BlockArgument> FeatureSearch::weightsBehind(Value value) const {
  llvm::SetVector<BlockArgument> weights;
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t index = 0; index < values.size() && !isActivation(value); ++index) {
    if (auto argument = dyn_cast<BlockArgument>(values[index]))
      weights.insert(argument);
    else
      values.insert(values[index].getDefiningOp()->operand_begin(), values[index].getDefiningOp()->operand_end());
  }
  return weights;
}
