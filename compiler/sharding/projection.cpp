//===- projection.cpp - shardings of dims and axes of factors -------------===//

#include "compiler/sharding/projection.h"

using namespace meshplan;
using namespace meshplan::plan;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {
/// Deals the axes of one dim to its factors.
class DimProjector {
public:
  DimProjector(DimShardingAttr dim, ArrayRef<unsigned> factors, const FactorRule &rule, MeshOp mesh,
               FactorDivisions &divisions)
      : dim(dim), factors(factors), rule(rule), mesh(mesh), divisions(divisions) {}

  void run();

  /// Factor, what was left of it, and axis where one did not fit or had to be cut into digits.
  std::optional<ProjectionBlock> block, cut;

private:
  const Factor &factorAt(size_t place) const { return rule.factors[factors[place]]; }
  /// Elements below one index of the factor at `place`.
  int64_t below(size_t place) const;
  bool skipParts();
  void enterFactor();
  bool take(AxisRefAttr axis);
  void give(AxisRefAttr axis, int64_t size);
  void dealUnevenly(ArrayRef<AxisRefAttr> axes);
  void stop(AxisRefAttr axis);

  DimShardingAttr dim;
  ArrayRef<unsigned> factors;
  const FactorRule &rule;
  MeshOp mesh;
  FactorDivisions &divisions;
  size_t position = 0;
  int64_t left = 1;
};
} // namespace

int64_t DimProjector::below(size_t place) const {
  int64_t size = 1;
  for (size_t next = place + 1; next < factors.size(); ++next)
    size *= factorAt(next).size;
  return size;
}

void DimProjector::stop(AxisRefAttr axis) {
  unsigned factor = factors.empty() ? 0 : factors[std::min(position, factors.size() - 1)];
  block = ProjectionBlock{0, factor, left, axis};
}

/// Enters the factors below the parts of the dim. False if the parts are not those of the factors.
bool DimProjector::skipParts() {
  ArrayRef<int64_t> parts = dim.getParts();
  if (parts.empty())
    return true;
  // Factors of size 1 say nothing.
  SmallVector<size_t> places;
  for (size_t place = 0; place < factors.size(); ++place)
    if (factorAt(place).size != 1)
      places.push_back(place);
  if (places.size() == 1) {
    position = places.front();
    if (factorAt(position).isCounted)
      return false;
    divisions[factors[position]].parts.assign(parts.begin(), parts.end());
    return true;
  }
  int64_t above = 1;
  for (size_t place : places) {
    if (above == static_cast<int64_t>(parts.size()) && llvm::all_equal(parts)) {
      position = place;
      return true;
    }
    above *= factorAt(place).size;
  }
  return false;
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

/// Gives `axis` to the current factor, or its digits to this and the next. False if it does not fit.
bool DimProjector::take(AxisRefAttr axis) {
  while (position < factors.size()) {
    int64_t size = axisSize(axis, mesh);
    if (left % size == 0) {
      give(axis, size);
      return true;
    }
    if (left == 1 || size % left != 0)
      return false;
    if (!cut)
      cut = ProjectionBlock{0, factors[position], left, axis};
    auto [major, minor] = splitAxis(axis, left, mesh);
    give(major, left);
    axis = minor;
  }
  return false;
}

/// The leading axes that take a factor down to single indices go to it; the others divide the next factor together.
void DimProjector::dealUnevenly(ArrayRef<AxisRefAttr> axes) {
  while (!axes.empty() && position < factors.size() && dim.getRepeat() == 1) {
    size_t count = 0;
    int64_t shards = 1;
    while (count < axes.size() && shards < left)
      shards *= axisSize(axes[count++], mesh);
    if (shards != left || factorAt(position).unit != 1 || below(position) % dim.getUnit() != 0)
      break;
    divisions[factors[position]].axes.append(axes.begin(), axes.begin() + count);
    axes = axes.drop_front(count);
    ++position;
    enterFactor();
  }
  if (axes.empty())
    return;
  int64_t unit = dim.getUnit();
  if (position == factors.size() || unit % (below(position) * factorAt(position).unit) != 0)
    return stop(axes.front());
  FactorDivision &division = divisions[factors[position]];
  division.axes.append(axes.begin(), axes.end());
  division.unit = unit / below(position);
  division.repeat = dim.getRepeat();
}

void DimProjector::run() {
  if (dim.getAxes().empty())
    return;
  bool fits = skipParts();
  enterFactor();
  if (!fits)
    return stop(dim.getAxes().front());
  // A part is dealt like a dim of its size; parts of one factor differ in size and so stay whole in its division.
  bool isOneFactor = !divisions[factors.empty() ? 0 : factors[std::min(position, factors.size() - 1)]].parts.empty();
  if (isOneFactor) {
    divisions[factors[position]].axes.assign(dim.getAxes().begin(), dim.getAxes().end());
    divisions[factors[position]].unit = dim.getUnit();
    return;
  }
  int64_t extent = 1;
  for (size_t place = dim.getParts().empty() ? 0 : position; place < factors.size(); ++place)
    extent *= factorAt(place).size;
  bool isEven = dim.getUnit() == 1 && dim.getRepeat() == 1 && extent % shardCount(dim.getAxes(), mesh) == 0;
  if (!isEven)
    return dealUnevenly(dim.getAxes());
  for (AxisRefAttr axis : dim.getAxes())
    if (!take(axis))
      return stop(axis);
}

DimShardingAttr meshplan::toDim(const FactorDivision &division, const Factor &factor, MeshOp mesh) {
  return divideDim(factor.size, division.axes, mesh, division.unit, division.parts, division.repeat);
}

FactorDivision meshplan::canonical(const FactorDivision &division, const Factor &factor, MeshOp mesh) {
  DimShardingAttr dim = toDim(division, factor, mesh);
  return {AxisList(dim.getAxes()), dim.getUnit(), llvm::SmallVector<int64_t, 3>(dim.getParts()), dim.getRepeat()};
}

/// Gives the axes of a dim that joins factors to each of them. False if the dim's parts do not follow the factors.
static bool projectJoined(DimShardingAttr dim, ArrayRef<unsigned> factors, const FactorRule &rule,
                          FactorDivisions &divisions) {
  if (dim.getAxes().empty())
    return true;
  if (dim.getRepeat() != 1)
    return false;
  ArrayRef<int64_t> parts = dim.getParts();
  for (unsigned index : factors) {
    FactorDivision &division = divisions[index];
    int64_t left = rule.factors[index].size;
    while (left > 0 && !parts.empty() && parts.front() <= left) {
      division.parts.push_back(parts.front());
      left -= parts.front();
      parts = parts.drop_front();
    }
    if (left != 0)
      return false;
    if (division.parts.size() == 1)
      division.parts.clear();
  }
  for (unsigned index : factors) {
    divisions[index].axes.assign(dim.getAxes().begin(), dim.getAxes().end());
    divisions[index].unit = dim.getUnit();
  }
  return true;
}

/// Gives the axes of a dim whose indices are shared by `sharers` indices of its one factor. False if units of the dim
/// are not whole units of the factor.
static bool projectShared(DimShardingAttr dim, int64_t sharers, FactorDivision &division) {
  if (dim.getAxes().empty())
    return true;
  int64_t repeat = dim.getRepeat();
  bool isFiner = repeat % sharers == 0;
  if (!dim.getParts().empty() || (!isFiner && sharers % repeat != 0))
    return false;
  division.axes.assign(dim.getAxes().begin(), dim.getAxes().end());
  division.unit = isFiner ? dim.getUnit() : dim.getUnit() * (sharers / repeat);
  division.repeat = isFiner ? repeat / sharers : 1;
  return true;
}

Projection meshplan::projectToFactors(ShardingAttr sharding, const TensorFactors &tensor, const FactorRule &rule,
                                      MeshOp mesh) {
  Projection projection;
  projection.factors.resize(rule.factors.size());
  for (auto [dim, factors] : llvm::enumerate(tensor.dims)) {
    DimShardingAttr dimSharding = sharding.getDims()[dim];
    if (tensor.isJoined(dim)) {
      if (!projectJoined(dimSharding, factors, rule, projection.factors) && !projection.block)
        projection.block = ProjectionBlock{static_cast<unsigned>(dim), factors.front(), 0, dimSharding.getAxes()[0]};
      continue;
    }
    if (tensor.sharers(dim) > 1) {
      bool fits = projectShared(dimSharding, tensor.sharers(dim), projection.factors[factors.front()]);
      if (!fits && !projection.block)
        projection.block = ProjectionBlock{static_cast<unsigned>(dim), factors.front(), 0, dimSharding.getAxes()[0]};
      continue;
    }
    DimProjector projector(dimSharding, factors, rule, mesh, projection.factors);
    projector.run();
    if (projector.block && !projection.block) {
      projection.block = projector.block;
      projection.block->dim = dim;
    }
    if (projector.cut && !projection.cut) {
      projection.cut = projector.cut;
      projection.cut->dim = dim;
    }
  }
  for (auto [division, factor] : llvm::zip(projection.factors, rule.factors))
    division = canonical(division, factor, mesh);
  return projection;
}

namespace {
/// Puts the divisions of a dim's factors together.
struct DimBuilder {
  const FactorDivisions &divisions;
  const FactorRule &rule;
  MeshOp mesh;

  /// The dim, and a factor that cannot be expressed in it. Where the dim has so many equal parts already, the factors
  /// above the first divided one may number them.
  std::pair<DimShardingAttr, std::optional<unsigned>> build(ArrayRef<unsigned> factors, ArrayRef<int64_t> known) const;
  std::pair<DimShardingAttr, std::optional<unsigned>> buildJoined(ArrayRef<unsigned> factors) const;
  std::pair<DimShardingAttr, std::optional<unsigned>> buildShared(unsigned factor, int64_t sharers) const;
};
} // namespace

std::pair<DimShardingAttr, std::optional<unsigned>> DimBuilder::build(ArrayRef<unsigned> factors,
                                                                      ArrayRef<int64_t> known) const {
  AxisList axes;
  std::optional<unsigned> inexpressible;
  bool majorIsWhole = false;
  int64_t extent = 1, unit = 1, repeat = 1;
  ArrayRef<int64_t> parts, numbered;
  for (unsigned index : factors) {
    const Factor &factor = rule.factors[index];
    const FactorDivision &division = divisions[index];
    int64_t above = std::exchange(extent, extent * factor.size);
    unit *= std::max<int64_t>(factor.size, 1);
    if (division.axes.empty() || inexpressible) {
      majorIsWhole |= factor.size != factor.unit;
      continue;
    }
    bool numbersParts = axes.empty() && division.parts.empty() && division.repeat == 1 && above > 1 &&
                        above == static_cast<int64_t>(known.size()) && llvm::all_equal(known);
    if (majorIsWhole && numbersParts) {
      numbered = known;
      majorIsWhole = false;
    }
    if (majorIsWhole || !parts.empty()) {
      inexpressible = index;
      continue;
    }
    axes.append(division.axes.begin(), division.axes.end());
    // Units that neighbours share are divided alone.
    if (division.repeat != 1 && axes.size() != division.axes.size()) {
      inexpressible = index;
      axes.truncate(axes.size() - division.axes.size());
      continue;
    }
    unit = division.unit;
    repeat = division.repeat;
    parts = division.parts;
    majorIsWhole |= division.unit != 1 || repeat != 1 || shardCount(division.axes, mesh) < factor.size / factor.unit;
  }
  bool isAlone = llvm::count_if(factors, [&](unsigned index) { return rule.factors[index].size != 1; }) <= 1;
  if (!parts.empty() && !isAlone) {
    unsigned divided = *llvm::find_if(factors, [&](unsigned index) { return !divisions[index].parts.empty(); });
    return {divideDim(extent, {}, mesh), divided};
  }
  return {divideDim(extent, mergeDigits(axes, mesh), mesh, unit, numbered.empty() ? parts : numbered, repeat),
          inexpressible};
}

/// Factors are joined if all are divided alike: a rank holds a range of each. Equal numbers of units need none.
std::pair<DimShardingAttr, std::optional<unsigned>> DimBuilder::buildJoined(ArrayRef<unsigned> factors) const {
  int64_t extent = 0, unit = 1;
  SmallVector<int64_t> parts;
  for (unsigned index : factors) {
    const FactorDivision &division = divisions[index];
    extent += rule.factors[index].size;
    unit = std::max(unit, division.unit);
    if (division.parts.empty())
      parts.push_back(rule.factors[index].size);
    parts.append(division.parts.begin(), division.parts.end());
  }
  ArrayRef<AxisRefAttr> axes = divisions[factors.front()].axes;
  for (unsigned index : factors) {
    FactorDivision asJoined{AxisList(axes), unit, divisions[index].parts};
    bool fits = divisions[index].repeat == 1 && rule.factors[index].size % unit == 0 &&
                canonical(asJoined, rule.factors[index], mesh) == divisions[index];
    if (!axes.empty() ? fits : divisions[index].axes.empty())
      continue;
    unsigned divided = *llvm::find_if(factors, [&](unsigned other) { return !divisions[other].axes.empty(); });
    return {divideDim(extent, {}, mesh), divided};
  }
  return {divideDim(extent, axes, mesh, unit, parts), std::nullopt};
}

std::pair<DimShardingAttr, std::optional<unsigned>> DimBuilder::buildShared(unsigned factor, int64_t sharers) const {
  const FactorDivision &division = divisions[factor];
  int64_t extent = rule.factors[factor].size / sharers, unit = division.unit;
  if (division.axes.empty())
    return {divideDim(extent, {}, mesh), std::nullopt};
  if (!division.parts.empty() || (unit % sharers != 0 && sharers % unit != 0))
    return {divideDim(extent, {}, mesh), factor};
  bool isWhole = unit % sharers == 0;
  return {divideDim(extent, division.axes, mesh, isWhole ? unit / sharers : 1, {},
                    isWhole ? division.repeat : division.repeat * (sharers / unit)),
          std::nullopt};
}

ShardingAttr meshplan::projectToDims(const FactorDivisions &divisions, const TensorFactors &tensor,
                                     const FactorRule &rule, MeshOp mesh,
                                     llvm::SmallVectorImpl<unsigned> *inexpressible, ShardingAttr arriving) {
  SmallVector<DimShardingAttr> dims;
  DimBuilder builder{divisions, rule, mesh};
  for (auto [index, factors] : llvm::enumerate(tensor.dims)) {
    int64_t sharers = tensor.sharers(index);
    ArrayRef<int64_t> known = arriving ? arriving.getDims()[index].getParts() : ArrayRef<int64_t>();
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
  for (auto [division, factor] : llvm::zip(projection.factors, rule.factors))
    if (factor.kind == FactorKind::whole)
      division = {};
  return projectToDims(projection.factors, to, rule, mesh);
}
