//===- feature_roles.cpp - roles of the dims of a weight ------------------===//
//
// Two readings of one call. Meeting: an operand is combined with activations, and the factors tell its roles. A factor
// that the operand shares with an activation and that is not in the result is contracted: input features. A factor that
// only the operand and the result have is computed: output features. Passage: all operands are weights, and roles are
// carried from the results back to the operand, factor by factor.
//
// Example: linear(x [2, 6], w [4, 6]) has the factors b = 2, o = 4, c = 6. For w, c is in x and contracted: input. o is
// in no activation and in the result: output.
//
// A dim of several factors keeps a piece for each, because only the major one can be divided without cutting the
// others: in view(w [24], [4, 6]) the dim of 24 has the pieces output 4 (major) and input 6.

#include "compiler/transforms/place/feature_roles.h"
#include "compiler/sharding/families/convolutions.h"
#include "compiler/transforms/place/call_factors.h"

using namespace mlir;
using namespace meshplan;

static bool isFeature(const FeaturePiece &piece) {
  return piece.role == FeatureRole::output || piece.role == FeatureRole::input;
}

bool meshplan::hasFeatures(const FeaturePieces &dim) { return llvm::any_of(dim, isFeature); }

bool meshplan::hasFeatures(const FeatureRoles &roles) {
  return llvm::any_of(roles, [](const FeaturePieces &dim) { return hasFeatures(dim); });
}

static bool hasRole(const FeatureRoles &roles, FeatureRole role) {
  return llvm::any_of(roles, [role](const FeaturePieces &dim) {
    return llvm::any_of(dim, [role](const FeaturePiece &piece) { return piece.role == role; });
  });
}

/// Combines all pieces into one of `size` elements, with the role of the first piece that has one.
static FeaturePiece asOne(const FeaturePieces &pieces, int64_t size) {
  const auto *first = llvm::find_if(pieces, [](const FeaturePiece &piece) { return piece.role != FeatureRole::none; });
  FeaturePiece one = first == pieces.end() ? FeaturePiece() : *first;
  one.isGroup |= !pieces.empty() && pieces.front().isGroup;
  one.size = size;
  return one;
}

static bool haveOneRole(const FeaturePieces &pieces) {
  return llvm::all_of(pieces, [&](const FeaturePiece &piece) { return piece.role == pieces.front().role; });
}

/// The roles of the dims of an operand, from those of the factors. A joined dim has the role of its first part.
static FeatureRoles dimsOf(const CallView &call, const FactorRule &rule, unsigned operand,
                           ArrayRef<FeaturePieces> byFactor) {
  FeatureRoles roles;
  for (auto [index, factors] : llvm::enumerate(rule.operands[operand].dims)) {
    FeaturePieces pieces;
    for (unsigned factor : factors)
      pieces.append(byFactor[factor]);
    if (factors.empty() || rule.operands[operand].isJoined(index))
      pieces = {asOne(pieces, call.operands[operand].getDimSize(index))};
    roles.push_back(std::move(pieces));
  }
  return roles;
}

/// The role of the other dims of those weights of a product that have this factor: the side on which they are.
static FeatureRole sideOf(const FactorRule &rule, unsigned operand, unsigned factor,
                          llvm::function_ref<FeatureRole(unsigned)> roleOf) {
  FeatureRole side = FeatureRole::none;
  for (auto [index, tensor] : llvm::enumerate(rule.operands)) {
    if (index == operand || !isIn(tensor, factor))
      continue;
    for (unsigned other : factorsOf(tensor)) {
      FeatureRole role = roleOf(other);
      if (role == FeatureRole::none || role == FeatureRole::window)
        continue;
      // Weights with features of both sides, such as the middle one of three, do not tell on which side the factor is.
      if (side != FeatureRole::none && side != role)
        return FeatureRole::none;
      side = role;
    }
  }
  return side;
}

/// In a product of weights, each weight maps features on the input side to features on the output side. `roleOf`
/// returns the roles of the factors that all operands keep.
static void addInner(const CallView &call, const FactorRule &rule, unsigned operand, ArrayRef<unsigned> inner,
                     llvm::function_ref<FeatureRole(unsigned)> roleOf, SmallVectorImpl<FeaturePieces> &byFactor) {
  auto give = [&](unsigned factor, FeatureRole role) {
    FeaturePiece &piece = byFactor[factor].front();
    piece.role = role;
    piece.meets = false;
    // A divided inner factor makes the product partial, which only a sum can be.
    piece.isDivisible = rule.factors[factor].kind == FactorKind::sum;
    piece.position = {static_cast<unsigned>(llvm::find(inner, factor) - inner.begin())};
  };
  for (unsigned factor : inner)
    if (FeatureRole side = sideOf(rule, operand, factor, roleOf); side != FeatureRole::none)
      give(factor, side);
  FeatureRoles kept = dimsOf(call, rule, operand, byFactor);
  bool makes = hasRole(kept, FeatureRole::output), takes = hasRole(kept, FeatureRole::input);
  // The other weights do not tell. If this weight has features on one side only, the inner factor is the other side.
  for (unsigned factor : inner)
    if (makes != takes && byFactor[factor].front().role == FeatureRole::none)
      give(factor, makes ? FeatureRole::input : FeatureRole::output);
}

static SmallVector<FeaturePieces> withoutRoles(const FactorRule &rule) {
  return llvm::map_to_vector(rule.factors, [](const Factor &factor) {
    FeaturePiece piece;
    piece.size = factor.size;
    return FeaturePieces{piece};
  });
}

//===----------------------------------------------------------------------===//
// Roles where a weight meets an activation
//===----------------------------------------------------------------------===//

namespace {

class Meeting {
public:
  Meeting(const CallView &call, const FactorRule &rule, unsigned operand, ArrayRef<unsigned> activations)
      : call(call), rule(rule), operand(operand), activations(activations), byFactor(withoutRoles(rule)) {}

  RolesOfOperand read();

private:
  bool isMade(unsigned factor) const;
  int64_t readers(unsigned factor) const;
  void addOutputs();
  void addInputs();
  void addLookedUp();
  void addConvolution(const ConvolutionForm &form);
  void addSingle(FeatureRoles &roles) const;
  void give(unsigned factor, FeatureRole role, FactorKind divisible, SmallVector<unsigned, 3> position);

  const CallView &call;
  const FactorRule &rule;
  unsigned operand;
  ArrayRef<unsigned> activations;
  SmallVector<FeaturePieces> byFactor;
  std::optional<unsigned> contracted;
};

} // namespace

void Meeting::give(unsigned factor, FeatureRole role, FactorKind divisible, SmallVector<unsigned, 3> position) {
  FeaturePiece &piece = byFactor[factor].front();
  piece.role = role;
  piece.isDivisible = rule.factors[factor].kind == divisible;
  piece.position = std::move(position);
}

/// Number of activations with the factor.
int64_t Meeting::readers(unsigned factor) const {
  return llvm::count_if(activations, [&](unsigned other) { return isIn(rule.operands[other], factor); });
}

/// True for a factor that only this operand has, unless it is a part of a dim joined with an activation's.
bool Meeting::isMade(unsigned factor) const {
  if (!isIn(rule.operands[operand], factor) || readers(factor) > 0)
    return false;
  for (const TensorFactors &result : rule.results)
    for (auto [index, dim] : llvm::enumerate(result.dims))
      if (llvm::is_contained(dim, factor))
        return !result.isJoined(index) || llvm::none_of(dim, [&](unsigned other) { return readers(other) > 0; });
  return false;
}

/// Output features are the last adjacent such factors of the result. Factors apart from these, such as experts before
/// the samples, only count products.
void Meeting::addOutputs() {
  for (const TensorFactors &result : rule.results) {
    SmallVector<unsigned> factors = factorsOf(result);
    size_t end = factors.size();
    // Of the factors that only the weight gives the result, the last run counts. One before the samples, as that of
    // experts in [e, s, o], selects a product and is not a feature of it.
    while (end > 0 && !isMade(factors[end - 1]))
      --end;
    for (size_t index = end; index > 0 && isMade(factors[index - 1]); --index)
      give(factors[index - 1], FeatureRole::output, FactorKind::parallel, {static_cast<unsigned>(index)});
    if (end > 0)
      return;
  }
}

/// Input features are contracted with a single activation. A factor that several activations have, such as experts with
/// their shares, weights products, unless there is no other factor.
void Meeting::addInputs() {
  SmallVector<unsigned> inputs;
  for (unsigned factor : factorsOf(rule.operands[operand]))
    if (isContracted(rule, operand, factor) && readers(factor) > 0)
      inputs.push_back(factor);
  bool hasOwn = llvm::any_of(inputs, [&](unsigned factor) { return readers(factor) == 1; });
  SmallVector<unsigned, 3> first;
  for (unsigned other : activations)
    for (auto [dim, factors] : llvm::enumerate(rule.operands[other].dims))
      for (auto [index, factor] : llvm::enumerate(factors)) {
        // In the order of the activation's dims, so that the first one is the major feature.
        if (!llvm::is_contained(inputs, factor) || (hasOwn && readers(factor) > 1))
          continue;
        if (!contracted)
          contracted = factor;
        give(factor, FeatureRole::input, FactorKind::sum,
             {other, static_cast<unsigned>(dim), static_cast<unsigned>(index)});
      }
}

/// Rows chosen by indices: no other tensor has the factor.
void Meeting::addLookedUp() {
  for (unsigned factor : factorsOf(rule.operands[operand]))
    if (isAlone(rule, operand, factor) && rule.factors[factor].kind == FactorKind::sum) {
      give(factor, FeatureRole::input, FactorKind::sum, {0});
      byFactor[factor].front().isLookedUp = true;
    }
}

/// True for an operand that is multiplied, and not added to the result for an activation.
static bool isFactor(const CallView &call, unsigned operand, ArrayRef<unsigned> activations) {
  const OpRecord *record = OpRegistry::get().lookup(call.target);
  if (!record || !record->linearity || record->isPointwise)
    return false;
  bool isLinear = false, isAddend = false;
  for (ArrayRef<unsigned> set : record->linearity(call).sets) {
    bool hasOperand = llvm::is_contained(set, operand);
    isLinear |= hasOperand;
    isAddend |= hasOperand && llvm::any_of(activations, [&](unsigned other) { return llvm::is_contained(set, other); });
  }
  return isLinear && !isAddend;
}

/// A dim with a single feature has no factor. In a product, it must be the missing side.
void Meeting::addSingle(FeatureRoles &roles) const {
  bool makes = hasRole(roles, FeatureRole::output), takes = hasRole(roles, FeatureRole::input);
  if (makes == takes || (makes && !isFactor(call, operand, activations)))
    return;
  for (auto [pieces, factors] : llvm::zip(roles, rule.operands[operand].dims))
    if (factors.empty()) {
      pieces.front().role = makes ? FeatureRole::input : FeatureRole::output;
      pieces.front().isDivisible = true;
      return;
    }
}

static FeaturePiece pieceOf(int64_t size, FeatureRole role, bool isDivisible) {
  FeaturePiece piece;
  piece.size = size;
  piece.role = role;
  piece.isDivisible = isDivisible;
  return piece;
}

static FeaturePiece groupsOf(const ConvolutionForm &form) {
  FeaturePiece piece = pieceOf(form.groups, FeatureRole::none, form.groups > 1);
  piece.isGroup = form.groups > 1;
  return piece;
}

/// The rule of a convolution is not sufficient: a window is in no other tensor, and the input features of a group may
/// not be divided. Groups only count products.
static FeatureRoles rolesOfConvolution(const CallView &call, const ConvolutionForm &form) {
  ArrayRef<int64_t> shape = call.operands[form.weight].getShape();
  auto pieces = [&](int64_t size, FeatureRole role) {
    return pieceOf(size, role, form.groups == 1 || role == FeatureRole::output);
  };
  FeatureRole first = form.isTransposed ? FeatureRole::input : FeatureRole::output;
  FeatureRole second = form.isTransposed ? FeatureRole::output : FeatureRole::input;
  FeatureRoles roles{{groupsOf(form), pieces(shape[0] / form.groups, first)}, {pieces(shape[1], second)}};
  if (form.groups == 1)
    roles.front() = {pieces(shape[0], first)};
  for (int64_t extent : shape.drop_front(2))
    roles.push_back({pieceOf(extent, FeatureRole::window, false)});
  return roles;
}

static FeatureRoles rolesOfGroupedBias(const CallView &call, const ConvolutionForm &form, unsigned bias) {
  int64_t size = call.operands[bias].getDimSize(0);
  return {{groupsOf(form), pieceOf(size / form.groups, FeatureRole::output, true)}};
}

RolesOfOperand Meeting::read() {
  addOutputs();
  addInputs();
  addLookedUp();
  RolesOfOperand read;
  read.contracted = contracted;
  std::optional<ConvolutionForm> form = convolutionForm(call);
  if (form && form->weight == operand) {
    read.roles = rolesOfConvolution(call, *form);
    return read;
  }
  if (form && form->groups > 1 && call.getOperand("bias") == operand && call.operands[operand].getRank() == 1) {
    read.roles = rolesOfGroupedBias(call, *form, operand);
    return read;
  }
  SmallVector<unsigned> inner, alone;
  for (unsigned factor : factorsOf(rule.operands[operand])) {
    // Contracted, but with no activation: another weight of the product has it.
    if (isContracted(rule, operand, factor) && readers(factor) == 0)
      inner.push_back(factor);
    if (isAlone(rule, operand, factor))
      alone.push_back(factor);
  }
  auto roleOf = [&](unsigned factor) {
    if (readers(factor) > 0)
      return isIn(rule.results, factor) ? FeatureRole::none : FeatureRole::input;
    return isIn(rule.results, factor) ? FeatureRole::output : FeatureRole::none;
  };
  addInner(call, rule, operand, inner, roleOf, byFactor);
  read.roles = dimsOf(call, rule, operand, byFactor);
  addSingle(read.roles);
  read.isUnknown = !hasFeatures(read.roles) && alone.size() > 1 && alone == factorsOf(rule.operands[operand]);
  return read;
}

RolesOfOperand meshplan::rolesAtMeeting(const CallView &call, const FactorRule &rule, unsigned operand,
                                        ArrayRef<unsigned> activations) {
  return Meeting(call, rule, operand, activations).read();
}

//===----------------------------------------------------------------------===//
// Roles through calls that combine weights
//===----------------------------------------------------------------------===//

/// Distributes the pieces of a dim over its factors, major to minor; nothing if a piece would be cut.
static std::optional<SmallVector<FeaturePieces>> alignPieces(const FeaturePieces &dim, ArrayRef<int64_t> sizes) {
  SmallVector<FeaturePieces> parts(sizes.size());
  FeaturePieces left = dim;
  // From the minor end: there, pieces and factors begin together.
  for (size_t index = sizes.size(); index-- > 0;) {
    int64_t needed = sizes[index];
    while (needed > 1 && !left.empty()) {
      FeaturePiece &minor = left.back();
      // The minor piece fits into the factor, or the factor is a minor part of the piece.
      bool isWhole = minor.size > 0 && needed % minor.size == 0;
      if (!isWhole && (needed == 0 || minor.size % needed != 0))
        return std::nullopt;
      FeaturePiece taken = minor;
      taken.size = isWhole ? minor.size : needed;
      taken.position.push_back(index);
      parts[index].insert(parts[index].begin(), taken);
      needed /= taken.size;
      if (isWhole)
        left.pop_back();
      else
        minor.size /= taken.size;
    }
  }
  return parts;
}

namespace {

class Passage {
public:
  Passage(const CallView &call, const FactorRule &rule, unsigned operand, ArrayRef<FeatureRoles> results)
      : call(call), rule(rule), operand(operand), results(results), byFactor(withoutRoles(rule)) {}

  RolesOfOperand read();

private:
  void give(unsigned factor, FeaturePieces pieces);
  void readDim(const FeaturePieces &pieces, ArrayRef<unsigned> factors, bool isJoined);
  void addSingle(FeatureRoles &roles) const;
  void addUntied(RolesOfOperand &read) const;

  const CallView &call;
  const FactorRule &rule;
  unsigned operand;
  ArrayRef<FeatureRoles> results;
  SmallVector<FeaturePieces> byFactor;
};

} // namespace

/// The first result that gives a role takes precedence.
void Passage::give(unsigned factor, FeaturePieces pieces) {
  auto isNone = [](const FeaturePiece &piece) { return piece.role == FeatureRole::none; };
  if (!pieces.empty() && llvm::all_of(byFactor[factor], isNone))
    byFactor[factor] = std::move(pieces);
}

/// Factors below the major factor of a dim are minor features: a style that divides the dim keeps them whole. Groups
/// that are samples (of a weight for each sample) are not counted.
void Passage::readDim(const FeaturePieces &pieces, ArrayRef<unsigned> factors, bool isJoined) {
  SmallVector<int64_t> sizes = llvm::map_to_vector(factors, [&](unsigned factor) { return rule.factors[factor].size; });
  SmallVector<FeaturePieces> parts(factors.size());
  if (isJoined || haveOneRole(pieces)) {
    for (auto [index, factor] : llvm::enumerate(factors)) {
      FeaturePiece piece = asOne(pieces, sizes[index]);
      piece.position.push_back(index);
      parts[index] = {piece};
    }
  } else if (auto aligned = alignPieces(pieces, sizes)) {
    parts = std::move(*aligned);
  }
  auto isGroup = [](const FeaturePiece &piece) { return piece.isGroup; };
  size_t major = rule.majorFactorIndex(factors);
  // The features of a group are below the groups, and are major features nevertheless.
  if (major < factors.size() && llvm::any_of(parts[major], isGroup))
    ++major;
  for (auto [index, factor] : llvm::enumerate(factors)) {
    for (FeaturePiece &piece : parts[index])
      piece.meets &= isJoined || index <= major;
    give(factor, std::move(parts[index]));
  }
}

/// A dim of one element has no factor. It corresponds to the dim at the same position, or to the only such dim.
void Passage::addSingle(FeatureRoles &roles) const {
  ArrayRef<SmallVector<unsigned, 1>> own = rule.operands[operand].dims;
  auto isSingle = [](const auto &dim) { return dim.empty(); };
  for (auto [result, tensor] : llvm::zip(results, rule.results))
    for (auto [index, pieces] : llvm::enumerate(result)) {
      if (!tensor.dims[index].empty() || !hasFeatures(pieces))
        continue;
      const auto *target = llvm::find_if(own, isSingle);
      if (own.size() == tensor.dims.size() && own[index].empty())
        roles[index] = pieces;
      else if (llvm::count_if(own, isSingle) == 1)
        roles[target - own.begin()] = pieces;
    }
}

/// The dims of an operand whose factors no other tensor has.
static SmallVector<unsigned> untiedDims(const FactorRule &rule, unsigned operand) {
  SmallVector<unsigned> untied;
  for (auto [index, factors] : llvm::enumerate(rule.operands[operand].dims))
    if (!factors.empty() && llvm::all_of(factors, [&](unsigned factor) { return isAlone(rule, operand, factor); }))
      untied.push_back(index);
  return untied;
}

/// The roles of those dims of a result that have no factor of the operand.
static SmallVector<FeaturePieces> foreignDims(const FeatureRoles &result, const TensorFactors &tensor,
                                              const TensorFactors &operand) {
  SmallVector<FeaturePieces> foreign;
  for (auto [pieces, factors] : llvm::zip(result, tensor.dims))
    if (!factors.empty() && llvm::none_of(factors, [&](unsigned factor) { return isIn(operand, factor); }))
      foreign.push_back(pieces);
  return foreign;
}

/// Dims that the rule ties to no other dim, because the operator needs them whole (softmax, slice). A single such dim
/// on either side corresponds; so do several with the same role.
void Passage::addUntied(RolesOfOperand &read) const {
  SmallVector<unsigned> own = untiedDims(rule, operand);
  SmallVector<FeaturePieces> made;
  for (auto [result, tensor] : llvm::zip(results, rule.results))
    if (made.empty() && hasFeatures(result))
      made = foreignDims(result, tensor, rule.operands[operand]);
  FeaturePieces all;
  for (const FeaturePieces &pieces : made)
    all.append(pieces);
  if (own.empty() || !hasFeatures(all))
    return;
  bool hasRecord = OpRegistry::get().lookup(call.target);
  int64_t total = 1;
  for (const FeaturePiece &piece : all)
    total *= piece.size;
  // An operator without a record may rearrange anything, so nothing can be concluded for it.
  if (hasRecord && own.size() == 1 && made.size() == 1 && total == call.operands[operand].getDimSize(own.front()))
    read.roles[own.front()] = all;
  else if (hasRecord && haveOneRole(all))
    for (unsigned dim : own)
      read.roles[dim] = {asOne(all, call.operands[operand].getDimSize(dim))};
  else
    read.isUnknown = true;
}

RolesOfOperand Passage::read() {
  for (auto [result, tensor] : llvm::zip(results, rule.results))
    for (auto [index, pieces] : llvm::enumerate(result))
      if (!tensor.dims[index].empty() && !pieces.empty())
        readDim(pieces, tensor.dims[index], tensor.isJoined(index));
  RolesOfOperand read;
  read.roles = dimsOf(call, rule, operand, byFactor);
  addSingle(read.roles);
  addUntied(read);
  SmallVector<unsigned> inner;
  for (unsigned factor : factorsOf(rule.operands[operand]))
    if (isContracted(rule, operand, factor))
      inner.push_back(factor);
  if (inner.empty())
    return read;
  addInner(call, rule, operand, inner, [&](unsigned factor) { return asOne(byFactor[factor], 1).role; }, byFactor);
  for (auto [index, factors] : llvm::enumerate(rule.operands[operand].dims))
    if (llvm::any_of(factors, [&](unsigned factor) { return llvm::is_contained(inner, factor); }))
      read.roles[index] = dimsOf(call, rule, operand, byFactor)[index];
  return read;
}

RolesOfOperand meshplan::rolesThrough(const CallView &call, const FactorRule &rule, unsigned operand,
                                      ArrayRef<FeatureRoles> results) {
  return Passage(call, rule, operand, results).read();
}
