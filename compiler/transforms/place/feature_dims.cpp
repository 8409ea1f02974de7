//===- feature_dims.cpp - the features of a parameter ---------------------===//
//
// The search follows a parameter forward through calls that combine only weights (followCall) until it meets an
// activation (meet), and carries the roles back on return. `known` holds the answer of each value, so each value is
// visited once and time is linear in the calls that derive from the parameter.
//
// Example: a low-rank update w + b @ a with w [6, 4], b [6, 2], a [2, 4], then linear(x, .).
//
//   linear meets x        dims of the sum: output 6, input 4
//   w: addend             output 6, input 4
//   b: product of weights output 6, inner 2 is on the side of the input
//   a: product of weights input 4, inner 2 is on the side of the output
//
// The inner features meet no activation (`meets` is false): `colwise` divides 6, not 2.

#include "compiler/transforms/place/feature_dims.h"
#include "compiler/sharding/dataflow/module_border.h"
#include "compiler/sharding/families/convolutions.h"
#include "compiler/transforms/place/call_factors.h"
#include "compiler/transforms/place/feature_roles.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// Facts about a value that is derived from weights.
struct ValueFeatures {
  FeatureRoles roles;
  SmallVector<ActivationUse> activations;
  CallOp meeting, unknown;
  bool isPart = false; ///< part of a weight that has features
};

/// Which calls without an activation end the search as if they had one.
enum class Products { none, projections, all };

/// Follows one parameter through the program.
class Follower {
public:
  Follower(const FeatureSearch &search, StringRef path, Products products)
      : search(search), path(path), products(products) {}

  const ValueFeatures &at(Value value);

private:
  ValueFeatures atUse(OpOperand &use);
  ValueFeatures atOwnUse(CallOp call, unsigned operand, const CallView &view, const FactorRule &rule);
  ValueFeatures atFactor(CallOp call, unsigned operand, const CallView &view, const FactorRule &rule);
  ValueFeatures meet(CallOp call, unsigned operand, const CallView &view, const FactorRule &rule);
  ValueFeatures followCall(CallOp call, unsigned operand, const CallView &view, const FactorRule &rule);
  bool meets(CallOp call, unsigned operand, const FactorRule &rule) const;
  /// The operands of the call that are activations and do not derive from the parameter.
  SmallVector<unsigned> foreignOperands(CallOp call) const;
  SmallVector<unsigned> activationsOf(CallOp call, unsigned operand, const FactorRule &rule) const;

  const FeatureSearch &search;
  StringRef path;
  Products products;
  llvm::DenseMap<Value, std::unique_ptr<ValueFeatures>> known;
};

} // namespace

/// The uses by calls, in program order.
static SmallVector<OpOperand *> usesByCalls(Value value) {
  SmallVector<OpOperand *> uses = usesAfterReshards(value);
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

/// True if no dim has different features in the two.
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

/// Merges the facts of another use, unless they contradict. Features that meet an activation take precedence over a
/// factor of a product of weights; otherwise the first use does.
static void join(ValueFeatures &all, ValueFeatures use) {
  if (!all.unknown)
    all.unknown = use.unknown;
  all.isPart |= use.isPart;
  if (!hasFeatures(use.roles))
    return;
  // A weight may be read in two ways, such as a tied embedding: rows chosen by indices, and a product. The uses that
  // agree decide together; one that contradicts them is ignored, or else styles would depend on the order of modules.
  bool isContradicted = !agree(all.roles, use.roles);
  if (!hasFeatures(all.roles) || (isContradicted && countMet(use.roles) > countMet(all.roles))) {
    use.unknown = all.unknown;
    use.isPart = all.isPart;
    all = std::move(use);
    return;
  }
  if (isContradicted)
    return;
  // Uses may tell about different dims, as a bias that is sliced in one of them.
  for (auto [own, other] : llvm::zip(all.roles, use.roles))
    if (isKnown(other) && (!isKnown(own) || (meetsActivation(other) && !meetsActivation(own))))
      own = other;
  all.activations.append(use.activations);
}

static bool hasBothSides(const FeatureRoles &roles) {
  auto has = [&](FeatureRole role) {
    return llvm::any_of(roles, [role](const FeaturePieces &dim) {
      return llvm::any_of(dim, [role](const FeaturePiece &piece) { return piece.role == role; });
    });
  };
  return has(FeatureRole::output) && has(FeatureRole::input);
}

static bool isPointwise(StringRef target) {
  const OpRecord *record = OpRegistry::get().lookup(target);
  return record && record->isPointwise;
}

static bool isOfSeveralDims(const FactorRule &rule, unsigned operand) {
  return llvm::count_if(factorsOf(rule.operands[operand]),
                        [&](unsigned factor) { return rule.factors[factor].size > 1; }) > 1;
}

/// True if the operand has a dim that none of the others has.
static bool hasOwnFactor(const FactorRule &rule, unsigned operand, ArrayRef<unsigned> others) {
  return llvm::any_of(factorsOf(rule.operands[operand]), [&](unsigned factor) {
    return rule.factors[factor].size > 1 &&
           llvm::none_of(others, [&](unsigned other) { return isIn(rule.operands[other], factor); });
  });
}

/// True if the call is linear in the operand, but not jointly with the others: the others are factors, not addends.
static bool isScaled(const CallView &call, unsigned operand, ArrayRef<unsigned> others) {
  const OpRecord *record = OpRegistry::get().lookup(call.target);
  if (!record || !record->linearity)
    return false;
  return llvm::any_of(record->linearity(call).sets, [&](ArrayRef<unsigned> set) {
    return llvm::is_contained(set, operand) &&
           llvm::none_of(others, [&](unsigned other) { return llvm::is_contained(set, other); });
  });
}

/// No features; the call is unknown if several dims may be features.
static ValueFeatures endedAt(CallOp call, const TensorFactors &tensor) {
  ValueFeatures features;
  features.roles.resize(tensor.dims.size());
  features.unknown = tensor.dims.size() > 1 ? call : CallOp();
  return features;
}

static void markDivisible(FeatureRoles &roles) {
  for (FeaturePieces &dim : roles)
    for (FeaturePiece &piece : dim)
      piece.isDivisible |= piece.role == FeatureRole::output || piece.role == FeatureRole::input;
}

/// A sum over a dim of a weight times activations is a matrix product in elementwise form.
static void addSummed(FeatureRoles &roles, const FactorRule &rule, unsigned operand) {
  for (auto [pieces, factors] : llvm::zip(roles, rule.operands[operand].dims)) {
    if (factors.size() != 1 || isKnown(pieces) || !isAlone(rule, operand, factors.front()) ||
        rule.factors[factors.front()].kind != FactorKind::sum)
      continue;
    FeaturePiece &piece = pieces.front();
    piece.role = FeatureRole::input;
    piece.meets = false;
    piece.isDivisible = true;
  }
}

const ValueFeatures &Follower::at(Value value) {
  auto [entry, isNew] = known.try_emplace(value);
  if (!isNew)
    return *entry->second;
  ValueFeatures all;
  all.roles.resize(cast<RankedTensorType>(value.getType()).getRank());
  // An entry without features exists while the uses are visited: foreignOperands takes values with an entry as derived
  // from the parameter.
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
  bool isMixed = search.isActivation(use.get());
  SmallVector<unsigned> foreign = foreignOperands(call);
  if (foreign.empty() && !isMixed && !meets(call, operand, rule))
    return followCall(call, operand, view, rule);
  // The activation is met in another module: there the features are another statement's business.
  if (!call.isInModule(path))
    return ValueFeatures();
  if (foreign.empty() && isMixed)
    return atOwnUse(call, operand, view, rule);
  // A scaling or an addition tells no roles: the features of x * w are those of the call that reads the product.
  bool contracts =
      llvm::any_of(factorsOf(rule.operands[operand]), [&](unsigned factor) { return !isIn(rule.results, factor); });
  bool keepsElements = isPointwise(view.target) || (!contracts && isScaled(view, operand, foreign));
  return !foreign.empty() && keepsElements ? atFactor(call, operand, view, rule) : meet(call, operand, view, rule);
}

/// The use of a weight that activations have scaled, in a call that reads no other activation. The result of a product
/// with another weight may be a weight or an activation, so the search ends there.
ValueFeatures Follower::atOwnUse(CallOp call, unsigned operand, const CallView &view, const FactorRule &rule) {
  if (productOf(rule, operand) != WeightProduct::none)
    return endedAt(call, rule.operands[operand]);
  return followCall(call, operand, view, rule);
}

/// Where activations scale a weight or are added to it, the roles of its dims follow from later calls. If none has a
/// role for them, as for a table that is added to activations, the features that only the weight has are outputs.
ValueFeatures Follower::atFactor(CallOp call, unsigned operand, const CallView &view, const FactorRule &rule) {
  SmallVector<unsigned> foreign = foreignOperands(call);
  bool isMixed = search.isActivation(call.getOperand(operand)), isMatrix = isOfSeveralDims(rule, operand);
  ValueFeatures here = isMixed ? ValueFeatures() : meet(call, operand, view, rule);
  here.roles.resize(view.operands[operand].getRank());
  // An addend whose dims all are those of activations, as a table of positions: later calls contract the activation,
  // not the table.
  if (!hasOwnFactor(rule, operand, foreign) && !isScaled(view, operand, foreign)) {
    here.unknown = isMatrix ? call : CallOp();
    return here;
  }
  ValueFeatures through = followCall(call, operand, view, rule);
  if (hasBothSides(through.roles) || (!isMatrix && countMet(through.roles) > 0))
    return through;
  CallOp unknown = std::exchange(through.unknown, CallOp());
  join(here, std::move(through));
  // In a matrix, some of the features that only the weight has may be inputs.
  if (unknown && isMatrix && !hasBothSides(here.roles)) {
    here = ValueFeatures();
    here.unknown = unknown;
  }
  return here;
}

SmallVector<unsigned> Follower::foreignOperands(CallOp call) const {
  SmallVector<unsigned> foreign;
  for (OpOperand &operand : call->getOpOperands())
    if (search.isActivation(operand.get()) && !known.contains(originOf(operand.get())))
      foreign.push_back(operand.getOperandNumber());
  return foreign;
}

bool Follower::meets(CallOp call, unsigned operand, const FactorRule &rule) const {
  if (products == Products::none || !call.isInModule(path))
    return false;
  WeightProduct product = productOf(rule, operand);
  return product == WeightProduct::projection || (product == WeightProduct::other && products == Products::all);
}

/// The operands that act as activations. If no operand depends on an input, these are the operands by which the weight
/// is multiplied, or the indices of a lookup.
SmallVector<unsigned> Follower::activationsOf(CallOp call, unsigned operand, const FactorRule &rule) const {
  SmallVector<unsigned> activations = foreignOperands(call);
  if (activations.empty())
    for (OpOperand &other : call->getOpOperands())
      if (other.getOperandNumber() != operand && isMultiplied(rule, operand, other.getOperandNumber()))
        activations.push_back(other.getOperandNumber());
  return activations;
}

/// The dim that begins with this factor, or that joins it with others.
static std::optional<int64_t> dimOf(const TensorFactors &tensor, unsigned factor) {
  for (auto [index, dim] : llvm::enumerate(tensor.dims))
    if (!dim.empty() && (dim.front() == factor || (tensor.isJoined(index) && llvm::is_contained(dim, factor))))
      return index;
  return std::nullopt;
}

ValueFeatures Follower::meet(CallOp call, unsigned operand, const CallView &view, const FactorRule &rule) {
  SmallVector<unsigned> activations = activationsOf(call, operand, rule);
  RolesOfOperand read = rolesAtMeeting(view, rule, operand, activations);
  // Weights that activations have scaled are the groups of a convolution: the groups are samples.
  if (search.isActivation(call.getOperand(operand)))
    markDivisible(read.roles);
  ValueFeatures features{std::move(read.roles), {}, call, read.isUnknown ? call : CallOp()};
  // A layout of all groups would not tell how the features of each group are divided.
  std::optional<ConvolutionForm> convolution = convolutionForm(view);
  if (convolution && convolution->groups > 1)
    activations.clear();
  for (unsigned other : activations)
    if (!isFromWeights(originOf(call.getOperand(other))))
      features.activations.push_back({&call->getOpOperand(other), read.contracted
                                                                      ? dimOf(rule.operands[other], *read.contracted)
                                                                      : std::optional<int64_t>()});
  return features;
}

ValueFeatures Follower::followCall(CallOp call, unsigned operand, const CallView &view, const FactorRule &rule) {
  ValueFeatures features;
  SmallVector<FeatureRoles> results;
  for (Value result : call.getResults()) {
    const ValueFeatures &ofResult = at(result);
    results.push_back(ofResult.roles);
    features.isPart |= ofResult.isPart || hasFeatures(ofResult.roles);
    features.activations.append(ofResult.activations);
    if (!features.meeting)
      features.meeting = ofResult.meeting;
    if (!features.unknown)
      features.unknown = ofResult.unknown;
  }
  RolesOfOperand read = rolesThrough(view, rule, operand, results);
  features.roles = std::move(read.roles);
  if (search.isActivation(call.getOperand(operand)))
    addSummed(features.roles, rule, operand);
  if (read.isUnknown)
    features.unknown = call;
  return features;
}

//===----------------------------------------------------------------------===//
// Dims and fans of a parameter
//===----------------------------------------------------------------------===//

/// The first piece of more than one element (or of one, if there is no other), if it has this role. The groups of a
/// convolution count as outputs.
static const FeaturePiece *majorPiece(const FeaturePieces &dim, FeatureRole role) {
  auto isFor = [role](const FeaturePiece &piece) {
    return piece.role == role || (piece.isGroup && role == FeatureRole::output);
  };
  const auto *major = llvm::find_if(dim, [](const FeaturePiece &piece) { return piece.size != 1; });
  if (major == dim.end())
    major = llvm::find_if(dim, isFor);
  return major != dim.end() && isFor(*major) ? major : nullptr;
}

/// Pieces of several features precede single ones; pieces that meet an activation precede factors of a product; major
/// pieces precede minor ones.
static bool isBefore(const FeaturePiece &left, const FeaturePiece &right) {
  auto rank = [](const FeaturePiece &piece) { return std::pair(piece.size == 1, !piece.meets); };
  if (rank(left) != rank(right))
    return rank(left) < rank(right);
  return std::lexicographical_compare(left.position.begin(), left.position.end(), right.position.begin(),
                                      right.position.end());
}

static std::optional<FeatureDim> findDim(const FeatureRoles &roles, FeatureRole role) {
  const FeaturePiece *first = nullptr;
  int64_t firstDim = 0;
  for (auto [index, dim] : llvm::enumerate(roles)) {
    const FeaturePiece *major = majorPiece(dim, role);
    if (!major || (first && !isBefore(*major, *first)))
      continue;
    first = major;
    firstDim = index;
  }
  return first ? std::optional(FeatureDim{firstDim, first->meets, first->isDivisible}) : std::nullopt;
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

/// The result of the first attempt that finds features. An attempt is a module, and the products of weights that count
/// there. A part of a weight with features, if it has none itself (a share of a weight in a sum of several), has no
/// features.
static FeatureUse findFirst(const FeatureSearch &search, BlockArgument parameter,
                            ArrayRef<std::pair<StringRef, Products>> attempts) {
  FeatureUse none;
  // The most specific reading comes first: a module that combines the parameter with an activation, then products of
  // weights in it, then the readers elsewhere.
  for (auto [path, products] : attempts) {
    ValueFeatures features = Follower(search, path, products).at(parameter);
    if (hasFeatures(features.roles) || features.isPart)
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
// Values derived from weights
//===----------------------------------------------------------------------===//

FeatureSearch::FeatureSearch(func::FuncOp function) {
  if (function.isExternal())
    return;
  // Random numbers derive from settings, and are not activations.
  for (BlockArgument argument : function.getArguments())
    if (!isWeight(argument) && argumentKind(argument) != ArgumentKind::setting)
      activations.insert(argument);
  for (Operation &op : function.getOps())
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return activations.contains(operand); }))
      activations.insert(op.result_begin(), op.result_end());
}

bool FeatureSearch::isActivation(Value value) const { return activations.contains(originOf(value)); }

llvm::SetVector<BlockArgument> FeatureSearch::weightsThatFeed(Value value) const {
  llvm::SetVector<BlockArgument> weights;
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t index = 0; index < values.size() && !isActivation(value); ++index) {
    if (auto argument = dyn_cast<BlockArgument>(values[index])) {
      if (isWeight(argument))
        weights.insert(argument);
    } else {
      values.insert(values[index].getDefiningOp()->operand_begin(), values[index].getDefiningOp()->operand_end());
    }
  }
  return weights;
}
