//===- projection.cpp - shardings of dims and divisions of factors --------===//
//
// Both directions rest on one fact. An index of a dim is a mixed-radix number whose digits are the indices of its
// factors, major to minor. A shard of a dim is a contiguous range (one for each part). A contiguous range corresponds
// to a division of factors only if it fixes the leading digits to one value each, has a range of values of the next
// digit, and all values of the digits below. Hence axes are given to factors major to minor, a factor must be divided
// down to single indices before the next one gets axes, and `majorIsWhole` in DimBuilder refuses what would make shards
// strided.
//
// Example on a mesh dp = 2, tp = 3: a dim of 576 = 9 heads * 64 that is divided over {dp, tp} into 6 shards.
//
//   as 576 elements      96 elements each: a cut through the second head, which
//                        no division of the factors gives (misfit)
//   in blocks of 64      the 9 heads over {dp, tp} in blocks of one head: the
//                        shards have 2, 1, 2, 1, 2, 1 heads
//   384 = 6 * 64         6 heads over {dp, tp}: one each, 64 is whole
//   384 = 2 * 192        the first factor takes dp, the second one tp
//
// Time and memory are linear in the number of axes and factors.

#include "compiler/sharding/projection.h"
#include "compiler/sharding/blocks/part_blocks.h"

using namespace meshplan;
using namespace meshplan::plan;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {
/// Distributes the axes of one dim over its factors.
class DimProjector {
public:
  DimProjector(DimShardingAttr dim, ArrayRef<unsigned> factors, const FactorRule &rule, MeshOp mesh,
               FactorDivisions &divisions)
      : dim(dim), unit(dim.getUnit()), repeat(dim.getRepeat()), factors(factors), rule(rule), mesh(mesh),
        divisions(divisions) {}

  void run();

  /// Factor, its remaining size, and axis, where an axis did not fit (`misfit`) or had to be split into digits (`cut`).
  std::optional<Misfit> misfit, cut;

private:
  const Factor &factorAt(size_t index) const { return rule.factors[factors[index]]; }
  /// Number of elements for each index of the factor at `index`.
  int64_t below(size_t index) const { return rule.sizeBelow(factors, index); }
  bool enterParts();
  bool giveParts(size_t index);
  void enterFactor();
  bool take(AxisRefAttr axis);
  void give(AxisRefAttr axis, int64_t size);
  void splitUnevenly(ArrayRef<AxisRefAttr> axes);
  void stop(AxisRefAttr axis);

  DimShardingAttr dim;
  int64_t unit, repeat; ///< of the dim, or of each of its equal parts
  ArrayRef<unsigned> factors;
  const FactorRule &rule;
  MeshOp mesh;
  FactorDivisions &divisions;
  size_t position = 0;
  int64_t left = 1;
};
} // namespace

void DimProjector::stop(AxisRefAttr axis) {
  unsigned factor = factors.empty() ? 0 : factors[std::min(position, factors.size() - 1)];
  misfit = Misfit{0, factor, left, axis};
}

/// Divides the leading factor, at `index`, like the parts of the dim. False if the parts cut an index of the factor.
bool DimProjector::giveParts(size_t index) {
  int64_t size = below(index), shards = shardCount(dim.getAxes(), mesh);
  auto isOfIndices = [&](const DimPart &part) {
    // A block of 1 element still cuts no index if every shard gets the same whole number of indices.
    bool isEven = part.unit == 1 && part.extent % (size * shards) == 0;
    return part.extent % size == 0 && (isEven || part.unit % size == 0);
  };
  if (factorAt(index).isCounted || !llvm::all_of(dim.getParts(), isOfIndices))
    return false;
  FactorDivision &division = divisions[factors[index]];
  for (const DimPart &part : dim.getParts())
    division.parts.emplace_back(part.extent / size, std::max<int64_t>(part.unit / size, 1), part.repeat);
  division.axes.assign(dim.getAxes().begin(), dim.getAxes().end());
  return true;
}

/// Enters the factors below the parts if the parts are equal and the leading factors count them. Otherwise the parts
/// become parts of the leading factor. False if neither fits.
bool DimProjector::enterParts() {
  ArrayRef<DimPart> parts = dim.getParts();
  // Factors of size 1 do not matter.
  SmallVector<size_t> significant;
  for (size_t index = 0; index < factors.size(); ++index)
    if (factorAt(index).size != 1)
      significant.push_back(index);
  int64_t above = 1;
  for (size_t index : significant) {
    // `above` indices of the leading factors and as many equal parts: each index counts one part. With a single factor
    // there is nothing below to divide, and the parts are parts of that factor.
    if (significant.size() > 1 && above == static_cast<int64_t>(parts.size()) && llvm::all_equal(parts)) {
      position = index;
      unit = parts.front().unit;
      repeat = parts.front().repeat;
      return true;
    }
    above *= factorAt(index).size;
  }
  position = significant.empty() ? 0 : significant.front();
  return !significant.empty() && giveParts(position);
}

void DimProjector::enterFactor() {
  for (; position < factors.size(); ++position) {
    left = factorAt(position).size / factorAt(position).unit;
    if (left != 1)
      return;
  }
}

void DimProjector::give(AxisRefAttr axis, int64_t size) {
  divisions[factors[position]].axes.push_back(axis);
  left /= size;
  if (left == 1) {
    ++position;
    enterFactor();
  }
}

/// Gives `axis` to the current factor, or its digits to this factor and the next. False if it does not fit.
bool DimProjector::take(AxisRefAttr axis) {
  while (position < factors.size()) {
    int64_t size = axisSize(axis, mesh);
    // The axis fits into the factor: every shard gets equally many of its blocks.
    if (left % size == 0) {
      give(axis, size);
      return true;
    }
    // If the axis is not a multiple of the rest, it has no digit of that size, and a shard would end within an index.
    if (left == 1 || size % left != 0)
      return false;
    // The axis is larger than the rest of this factor: its major digit finishes the factor, and its minor digit goes to
    // the next one.
    if (!cut)
      cut = Misfit{0, factors[position], left, axis};
    auto [major, minor] = splitAxis(axis, left, mesh);
    give(major, left);
    axis = minor;
  }
  return false;
}

/// The axes that divide a leading factor into single indices go to it. The remaining axes divide the next factor
/// together.
void DimProjector::splitUnevenly(ArrayRef<AxisRefAttr> axes) {
  // Shared blocks (`repeat`) never end as single indices: neighbours hold the same ones.
  while (!axes.empty() && position < factors.size() && repeat == 1) {
    size_t count = 0;
    int64_t shards = 1;
    // The shortest prefix of the axes that makes at least as many shards as the factor has blocks.
    while (count < axes.size() && shards < left)
      shards *= axisSize(axes[count++], mesh);
    // Only a factor that ends as single indices leaves the next factor contiguous within a shard.
    if (shards != left || factorAt(position).unit != 1 || below(position) % unit != 0)
      break;
    divisions[factors[position]].axes.append(axes.begin(), axes.begin() + count);
    axes = axes.drop_front(count);
    ++position;
    enterFactor();
  }
  if (axes.empty())
    return;
  if (position == factors.size() || unit % (below(position) * factorAt(position).unit) != 0)
    return stop(axes.front());
  FactorDivision &division = divisions[factors[position]];
  division.axes.append(axes.begin(), axes.end());
  // The block of the dim in indices of this factor: 128 elements of a dim of 8 * 64 are blocks of two heads.
  division.unit = unit / below(position);
  division.repeat = repeat;
}

void DimProjector::run() {
  if (dim.getAxes().empty())
    return;
  bool hasParts = !dim.getParts().empty(), fits = !hasParts || enterParts();
  // The parts are now parts of that factor. They differ in size, so nothing is left to distribute.
  if (hasParts && fits && !divisions[factors[position]].parts.empty())
    return;
  enterFactor();
  if (!fits)
    return stop(dim.getAxes().front());
  // Each of several equal parts is divided like a dim of its size.
  int64_t extent = 1;
  for (size_t index = hasParts ? position : 0; index < factors.size(); ++index)
    extent *= factorAt(index).size;
  bool isEven = unit == 1 && repeat == 1 && extent % shardCount(dim.getAxes(), mesh) == 0;
  if (!isEven)
    return splitUnevenly(dim.getAxes());
  for (AxisRefAttr axis : dim.getAxes())
    if (!take(axis))
      return stop(axis);
}

DimShardingAttr meshplan::toDimSharding(const FactorDivision &division, const Factor &factor, MeshOp mesh) {
  return divideDim(factor.size, division.axes, mesh, division.unit, division.parts, division.repeat);
}

bool meshplan::isSingleSharedBlock(const FactorDivision &division, const Factor &factor, MeshOp mesh) {
  return !division.axes.empty() && division.parts.empty() && division.unit == factor.size &&
         division.repeat >= shardCount(division.axes, mesh);
}

FactorDivision meshplan::canonical(const FactorDivision &division, const Factor &factor, MeshOp mesh) {
  DimShardingAttr dim = toDimSharding(division, factor, mesh);
  return {AxisList(dim.getAxes()), dim.getUnit(), llvm::SmallVector<DimPart, 3>(dim.getParts()), dim.getRepeat()};
}

/// Gives the axes of a joined dim to each of its factors. False if the parts of the dim do not coincide with the
/// factors.
static bool projectJoined(DimShardingAttr dim, ArrayRef<unsigned> factors, const FactorRule &rule,
                          FactorDivisions &divisions) {
  if (dim.getAxes().empty())
    return true;
  ArrayRef<DimPart> parts = dim.getParts();
  for (unsigned index : factors) {
    FactorDivision &division = divisions[index];
    int64_t left = rule.factors[index].size;
    // A factor may consist of several parts, as when a concatenation joins a tensor that is itself fused.
    while (left > 0 && !parts.empty() && parts.front().extent <= left) {
      division.parts.push_back(parts.front());
      left -= parts.front().extent;
      parts = parts.drop_front();
    }
    // A part of the dim crosses the border of two factors.
    if (left != 0)
      return false;
    // The factor is a single part: other tensors of the call know it as a dim with blocks and without parts, and the
    // divisions must compare equal.
    if (division.parts.size() == 1) {
      division.unit = division.parts.front().unit;
      division.repeat = division.parts.front().repeat;
      division.parts.clear();
    }
  }
  for (unsigned index : factors)
    divisions[index].axes.assign(dim.getAxes().begin(), dim.getAxes().end());
  return true;
}

/// Gives the axes of a shared dim to its factor; `sharers` indices of the factor share each index of the dim. False if
/// blocks of the dim do not correspond to whole blocks of the factor.
static bool projectShared(DimShardingAttr dim, int64_t sharers, FactorDivision &division) {
  if (dim.getAxes().empty())
    return true;
  // An index of the dim stands for `sharers` indices of the factor, so it counts that often when the factor is divided.
  // A repeat count r of the dim is a multiple of this, or a divisor: then every sharers / r indices of the factor form
  // a block.
  auto fits = [sharers](int64_t repeat) { return repeat % sharers == 0 || sharers % repeat == 0; };
  if (!fits(dim.getRepeat()) || !llvm::all_of(dim.getParts(), [&](const DimPart &part) { return fits(part.repeat); }))
    return false;
  auto isFiner = [sharers](int64_t repeat) { return repeat % sharers == 0; };
  auto unitOf = [&](int64_t unit, int64_t repeat) { return isFiner(repeat) ? unit : unit * (sharers / repeat); };
  auto repeatOf = [&](int64_t repeat) { return isFiner(repeat) ? repeat / sharers : 1; };
  division.axes.assign(dim.getAxes().begin(), dim.getAxes().end());
  if (dim.getParts().empty()) {
    division.unit = unitOf(dim.getUnit(), dim.getRepeat());
    division.repeat = repeatOf(dim.getRepeat());
  }
  for (const DimPart &part : dim.getParts())
    division.parts.emplace_back(part.extent * sharers, unitOf(part.unit, part.repeat), repeatOf(part.repeat));
  return true;
}

Projection meshplan::projectToFactors(ShardingAttr sharding, const TensorFactors &tensor, const FactorRule &rule,
                                      MeshOp mesh) {
  Projection projection;
  projection.factors.resize(rule.factors.size());
  for (auto [dim, factors] : llvm::enumerate(tensor.dims)) {
    DimShardingAttr dimSharding = sharding.getDims()[dim];
    if (tensor.isJoined(dim)) {
      // Only the first misfit is kept, here and below: the first dim that does not fit is reported, and one message is
      // enough.
      if (!projectJoined(dimSharding, factors, rule, projection.factors) && !projection.misfit)
        projection.misfit = Misfit{static_cast<unsigned>(dim), factors.front(), 0, dimSharding.getAxes()[0]};
      continue;
    }
    if (tensor.sharers(dim) > 1) {
      bool fits = projectShared(dimSharding, tensor.sharers(dim), projection.factors[factors.front()]);
      if (!fits && !projection.misfit)
        projection.misfit = Misfit{static_cast<unsigned>(dim), factors.front(), 0, dimSharding.getAxes()[0]};
      continue;
    }
    DimProjector projector(dimSharding, factors, rule, mesh, projection.factors);
    projector.run();
    if (projector.misfit && !projection.misfit) {
      projection.misfit = projector.misfit;
      projection.misfit->dim = dim;
    }
    if (projector.cut && !projection.cut) {
      projection.cut = projector.cut;
      projection.cut->dim = dim;
    }
  }
  for (auto [division, factor] : llvm::zip(projection.factors, rule.factors))
    // Tensors that divide a factor alike must give equal divisions, however their dims are spelled.
    division = canonical(division, factor, mesh);
  return projection;
}

namespace {
/// Combines the divisions of the factors of a dim.
struct DimBuilder {
  const FactorDivisions &divisions;
  const FactorRule &rule;
  MeshOp mesh;

  /// The sharding of the dim, and a factor whose division it cannot express. If the dim arrives with equal parts
  /// (`known`), undivided factors above the first divided one may count these parts.
  std::pair<DimShardingAttr, std::optional<unsigned>> build(ArrayRef<unsigned> factors, ArrayRef<DimPart> known) const;
  std::pair<DimShardingAttr, std::optional<unsigned>> buildInParts(ArrayRef<unsigned> factors,
                                                                   ArrayRef<DimPart> known) const;
  std::pair<DimShardingAttr, std::optional<unsigned>> buildJoined(ArrayRef<unsigned> factors) const;
  std::pair<DimShardingAttr, std::optional<unsigned>> buildShared(unsigned factor, int64_t sharers) const;
};
} // namespace

std::pair<DimShardingAttr, std::optional<unsigned>> DimBuilder::build(ArrayRef<unsigned> factors,
                                                                      ArrayRef<DimPart> known) const {
  size_t major = rule.majorFactorIndex(factors);
  if (major < factors.size() && !divisions[factors[major]].parts.empty())
    return buildInParts(factors, known);
  AxisList axes;
  std::optional<unsigned> inexpressible;
  // True once a factor above has several indices in a shard: a division of a factor below would make the shard strided.
  bool majorIsWhole = false;
  int64_t extent = 1, unit = 1, repeat = 1;
  bool isNumbered = false;
  for (unsigned index : factors) {
    const Factor &factor = rule.factors[index];
    const FactorDivision &division = divisions[index];
    int64_t above = std::exchange(extent, extent * factor.size);
    // `unit` is the block in elements of the factors walked so far. Undivided minor factors make it larger.
    unit *= std::max<int64_t>(factor.size, 1);
    // A single block that every shard holds is not divided. After a failure the factors below only enlarge extent and
    // block.
    if (division.axes.empty() || inexpressible || isSingleSharedBlock(division, factor, mesh)) {
      majorIsWhole |= factor.size != factor.unit;
      continue;
    }
    // The undivided factors above may count the equal parts with which the tensor arrived: then each part is divided by
    // this factor.
    bool numbersParts = axes.empty() && division.parts.empty() && division.repeat == 1 && above > 1 &&
                        above == static_cast<int64_t>(known.size()) && llvm::all_equal(known);
    if (majorIsWhole && numbersParts) {
      isNumbered = true;
      majorIsWhole = false;
    }
    // A factor with shared blocks must be the only divided factor of its dim.
    bool isAlone = axes.empty() || division.repeat == 1;
    if (majorIsWhole || !division.parts.empty() || !isAlone) {
      inexpressible = index;
      continue;
    }
    axes.append(division.axes.begin(), division.axes.end());
    unit = division.unit;
    repeat = division.repeat;
    // A shard with several indices of this factor would not be contiguous if a minor factor were divided as well.
    majorIsWhole |= division.unit != 1 || repeat != 1 || shardCount(division.axes, mesh) < factor.size / factor.unit;
  }
  // The digits that an axis was split into on the way to the factors are one axis again in the dim.
  if (!isNumbered)
    return {divideDim(extent, mergeDigits(axes, mesh), mesh, unit, {}, repeat), inexpressible};
  SmallVector<DimPart> parts(known.size(), {extent / static_cast<int64_t>(known.size()), unit, repeat});
  return {divideDim(extent, mergeDigits(axes, mesh), mesh, 1, parts), inexpressible};
}

/// The parts of the leading factor become parts of the dim; no other factor may be divided.
std::pair<DimShardingAttr, std::optional<unsigned>> DimBuilder::buildInParts(ArrayRef<unsigned> factors,
                                                                             ArrayRef<DimPart> known) const {
  size_t major = rule.majorFactorIndex(factors);
  const FactorDivision &division = divisions[factors[major]];
  int64_t below = rule.sizeBelow(factors, major), extent = rule.factors[factors[major]].size * below;
  // Parts of one index each count the indices of a factor. They are kept if the dim arrives with them, never
  // introduced.
  DimShardingAttr made = divideDim(extent, mergeDigits(division.axes, mesh), mesh, 1, scaledUp(division.parts, below));
  bool areIndices = llvm::all_of(division.parts, [](const DimPart &part) { return part.extent == 1; });
  if (below == 0 || (below != 1 && areIndices && made.getParts() != known))
    return {divideDim(extent, {}, mesh), factors[major]};
  std::optional<unsigned> inexpressible;
  for (unsigned factor : factors.drop_front(major + 1))
    if (!divisions[factor].axes.empty() && !isSingleSharedBlock(divisions[factor], rule.factors[factor], mesh))
      inexpressible = factor;
  return {made, inexpressible};
}

/// Joined factors must all be divided alike: a rank holds a range of each.
std::pair<DimShardingAttr, std::optional<unsigned>> DimBuilder::buildJoined(ArrayRef<unsigned> factors) const {
  int64_t extent = 0;
  SmallVector<DimPart> parts;
  for (unsigned index : factors) {
    const FactorDivision &division = divisions[index];
    extent += rule.factors[index].size;
    if (division.parts.empty())
      parts.emplace_back(rule.factors[index].size, division.unit, division.repeat);
    parts.append(division.parts.begin(), division.parts.end());
  }
  ArrayRef<AxisRefAttr> axes = divisions[factors.front()].axes;
  bool areAlike = llvm::all_of(factors, [&](unsigned index) { return ArrayRef(divisions[index].axes) == axes; });
  if (areAlike)
    return {divideDim(extent, axes, mesh, 1, parts), std::nullopt};
  unsigned divided = *llvm::find_if(factors, [&](unsigned other) { return !divisions[other].axes.empty(); });
  return {divideDim(extent, {}, mesh), divided};
}

std::pair<DimShardingAttr, std::optional<unsigned>> DimBuilder::buildShared(unsigned factor, int64_t sharers) const {
  const FactorDivision &division = divisions[factor];
  int64_t extent = rule.factors[factor].size / sharers;
  if (division.axes.empty())
    return {divideDim(extent, {}, mesh), std::nullopt};
  auto fits = [sharers](int64_t unit) { return unit % sharers == 0 || sharers % unit == 0; };
  auto isOfSharers = [&](const DimPart &part) { return part.extent % sharers == 0 && fits(part.unit); };
  if (!fits(division.unit) || !llvm::all_of(division.parts, isOfSharers))
    return {divideDim(extent, {}, mesh), factor};
  // The inverse of projectShared: a block of fewer than `sharers` indices of the factor is part of one index of the
  // dim, which then counts once for each such block.
  auto unitOf = [sharers](int64_t unit) { return unit % sharers == 0 ? unit / sharers : 1; };
  auto repeatOf = [sharers](int64_t unit, int64_t repeat) {
    return unit % sharers == 0 ? repeat : repeat * (sharers / unit);
  };
  SmallVector<DimPart> parts;
  for (const DimPart &part : division.parts)
    parts.emplace_back(part.extent / sharers, unitOf(part.unit), repeatOf(part.unit, part.repeat));
  if (!parts.empty())
    return {divideDim(extent, division.axes, mesh, 1, parts), std::nullopt};
  return {divideDim(extent, division.axes, mesh, unitOf(division.unit), {}, repeatOf(division.unit, division.repeat)),
          std::nullopt};
}

ShardingAttr meshplan::projectToDims(const FactorDivisions &divisions, const TensorFactors &tensor,
                                     const FactorRule &rule, MeshOp mesh,
                                     llvm::SmallVectorImpl<unsigned> *inexpressible, ShardingAttr arriving) {
  SmallVector<DimShardingAttr> dims;
  DimBuilder builder{divisions, rule, mesh};
  for (auto [index, factors] : llvm::enumerate(tensor.dims)) {
    int64_t sharers = tensor.sharers(index);
    // The result of a call has no arriving layout, so equal parts are never introduced there.
    ArrayRef<DimPart> known = arriving ? arriving.getDims()[index].getParts() : ArrayRef<DimPart>();
    auto [dim, factor] = sharers > 1              ? builder.buildShared(factors.front(), sharers)
                         : tensor.isJoined(index) ? builder.buildJoined(factors)
                                                  : builder.build(factors, known);
    dims.push_back(dim);
    if (factor && inexpressible)
      inexpressible->push_back(*factor);
  }
  return ShardingAttr::get(mesh.getContext(), dims);
}

ShardingAttr meshplan::transferLayout(ShardingAttr sharding, const TensorFactors &from, const TensorFactors &to,
                                      const FactorRule &rule, MeshOp mesh) {
  Projection projection = projectToFactors(sharding, from, rule, mesh);
  // A factor that must be whole cannot tell how another tensor should be divided.
  for (auto [division, factor] : llvm::zip(projection.factors, rule.factors))
    if (factor.kind == FactorKind::whole)
      division = {};
  return projectToDims(projection.factors, to, rule, mesh);
}
