//===- verify_collective.cpp - layout rules of collectives ----------------===//
//
// The compiler has verified the same on its IR. The runtime does not rely on that, because afterwards it allocates and
// sends by these numbers without looking again. Along dims only the numbers of shards are compared; which rank holds
// what is checked when the step is prepared (exec/moves/pieces.cpp).
//
// Example: mesh dp=2, tp=3. Rows over dp and tp have 6 shards, and an all-gather over tp leaves 6 / 3 = 2. A dim that
// it does not name keeps its number. A reduce-scatter over tp needs an input that is partial over tp, and its output is
// partial over what remains.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/meaning.h"

#include <algorithm>

namespace meshplan {

namespace {

bool hasSameBlocks(const DimSharding &left, const DimSharding &right) {
  return left.unit == right.unit && left.parts == right.parts && left.repeat == right.repeat;
}

int64_t shardsOf(const artifact::Value &value, int64_t dim) {
  return shardCount(axesOf(value.dims()->Get(static_cast<flatbuffers::uoffset_t>(dim))->axes()));
}

Status verifySameElements(const artifact::Value &input, const artifact::Value &output) {
  if (input.dtype() != output.dtype())
    return corrupted("dtype ", dtypeName(dtypeOf(input.dtype())), " becomes ", dtypeName(dtypeOf(output.dtype())));
  if (globalShapeOf(input) != globalShapeOf(output))
    return corrupted("the global shape changes");
  return Status();
}

/// The two values have the same global tensor, of which a rank knows before the run how many elements it holds.
Status verifySameTensor(const artifact::Value &input, const artifact::Value &output) {
  // Ranks would have to agree on numbers of rows before they send them.
  if (input.routed() || output.routed())
    return corrupted("a value that is routed to experts is moved");
  return verifySameElements(input, output);
}

bool isRoutedAlike(const artifact::Value &left, const artifact::Value &right) {
  return left.routed() && right.routed() && left.routed()->kind() == right.routed()->kind() &&
         left.routed()->dims() == right.routed()->dims() && left.routed()->slots() == right.routed()->slots();
}

/// Dim `dim` of `split` has `groupSize` times as many shards as that of `whole`.
Status verifySplit(const artifact::Value &whole, const artifact::Value &split, int64_t dim, int64_t groupSize) {
  int64_t before = shardsOf(whole, dim), after = shardsOf(split, dim);
  return after == before * groupSize
             ? Status()
             : corrupted("dim ", dim, " has ", after, " shards, ", before, " x ", groupSize, " expected");
}

/// The flat axes of `more` are those of `less`, followed by those of `group`.
Status verifyFlat(const artifact::Value &less, const artifact::Value &more, std::span<const AxisRef> group) {
  // At the minor end, as along dims: only there is the shard of the coarser division a run of those of the finer one.
  std::vector<AxisRef> expected = axesOf(less.flat_axes());
  expected.insert(expected.end(), group.begin(), group.end());
  return expected == axesOf(more.flat_axes()) ? Status() : corrupted("the flat axes are not those of the communicator");
}

Status verifyDimsAlike(const artifact::Value &left, const artifact::Value &right) {
  for (flatbuffers::uoffset_t dim = 0; dim < left.dims()->size(); ++dim)
    if (!isDividedAlike(*left.dims()->Get(dim), *right.dims()->Get(dim)))
      return corrupted("dim ", dim, " is sharded differently");
  return Status();
}

Status verifyReduction(const artifact::Start &start, const artifact::Value &input) {
  if (start.reduction() <= artifact::Reduction::none || start.reduction() > artifact::Reduction::MAX)
    return corrupted("reduction ", int(start.reduction()), " in a reducing collective");
  return start.reduction() == input.partial() ? Status()
                                              : corrupted("the reduction differs from that of the partial input");
}

/// The output is partial over the axes of the input except `reduced`. Shapes cannot show this: a reduction over other
/// ranks of the same number moves equally many elements.
Status verifyPartial(const artifact::Value &input, const artifact::Value &output, std::span<const AxisRef> reduced) {
  std::vector<AxisRef> rest = axesOf(input.partial_axes());
  for (const AxisRef &axis : reduced)
    if (std::erase(rest, axis) == 0)
      return corrupted("the input is not partial over axis ", axis.axis, " of the communicator");
  if (!std::ranges::is_permutation(rest, axesOf(output.partial_axes())))
    return corrupted("the output is not partial over the remaining axes of the input");
  return rest.empty() || output.partial() == input.partial()
             ? Status()
             : corrupted("the output is partial by another reduction than the input");
}

/// Ranks that differ in partial axes only have the same rows, and may sum them.
Status verifySumOfRows(const artifact::Start &start, const artifact::Value &input, const artifact::Value &output,
                       std::span<const AxisRef> group) {
  if (!isRoutedAlike(input, output) || start.target() != -1)
    return corrupted("a sum of rows of experts changes what a rank stores, or has a target");
  MESHPLAN_RETURN_IF_ERROR(verifySameElements(input, output));
  MESHPLAN_RETURN_IF_ERROR(verifyReduction(start, input));
  MESHPLAN_RETURN_IF_ERROR(verifyPartial(input, output, group));
  return verifyDimsAlike(input, output);
}

/// Both values have all rows of the rank, perhaps with different features.
Status verifySameRows(const artifact::Value &input, const artifact::Value &output) {
  if (!isRows(input) || !isRoutedAlike(input, output))
    return corrupted("rows of experts become a value that is stored in another way");
  for (int32_t dim = 0; dim < input.routed()->dims(); ++dim)
    if (!isDividedAlike(*input.dims()->Get(dim), *output.dims()->Get(dim)))
      return corrupted("rows of experts change along dim ", dim, ", which is not one of their features");
  return Status();
}

/// Ranks that differ in features only have the same rows. They are copied to their features where they arrive.
Status verifyGatherOfRows(const artifact::Start &start, const artifact::Value &input, const artifact::Value &output) {
  MESHPLAN_RETURN_IF_ERROR(verifySameRows(input, output));
  MESHPLAN_RETURN_IF_ERROR(verifySameElements(input, output));
  return start.target() == -1 ? Status() : corrupted("rows of experts are gathered into a target");
}

/// Rows go to the ranks of their experts, which their arrivals show, or come back: the axes of the group are at the
/// minor end of the experts of the arrivals, and divide the tokens of the rows.
Status verifyExchange(const artifact::Start &start, const artifact::Value &input, const artifact::Value &output,
                      std::span<const AxisRef> group) {
  auto isKind = [](const artifact::Value &value, artifact::RoutedKind kind) {
    return value.routed() && value.routed()->kind() == kind;
  };
  using artifact::RoutedKind;
  bool goes = isKind(input, RoutedKind::rows) && isKind(output, RoutedKind::arrivals);
  bool comesBack = isKind(input, RoutedKind::arrivals) && isKind(output, RoutedKind::rows);
  if (start.kind() != artifact::CollectiveKind::all_to_all || (!goes && !comesBack))
    return corrupted("an exchange that does not turn rows into arrivals, or arrivals into rows, by an all_to_all");
  if (start.dim() != -1 || start.from_dim() != -1 || start.target() != -1)
    return corrupted("an exchange of rows with a dim or a target");
  const artifact::Value &rows = goes ? input : output, &arrivals = goes ? output : input;
  if (rows.dtype() != arrivals.dtype() || globalShapeOf(rows) != globalShapeOf(arrivals) ||
      rows.routed()->dims() != arrivals.routed()->dims() || rows.routed()->slots() != arrivals.routed()->slots() ||
      rows.routed()->reserve() != arrivals.routed()->reserve())
    return corrupted("an exchange changes the tensor");
  if (DimSharding experts = dimShardingOf(*rows.dims()->Get(0)); !experts.parts.empty() || experts.repeat != 1)
    return corrupted("an exchange of rows whose experts have parts or are shared");
  MESHPLAN_RETURN_IF_ERROR(verifyPartial(input, output, {}));
  std::vector<DimSharding> expected;
  for (const artifact::Dim *dim : *rows.dims())
    expected.push_back(dimShardingOf(*dim));
  for (auto axis = group.rbegin(); axis != group.rend(); ++axis) {
    auto tokens = std::span(expected).subspan(1, rows.routed()->dims() - 1);
    auto remove = [&](DimSharding &dim) {
      std::optional<std::vector<AxisRef>> rest = axesWithout(dim, *axis);
      if (rest)
        dim.axes = *std::move(rest);
      return rest.has_value();
    };
    if (std::ranges::none_of(tokens, remove))
      return corrupted("axis ", axis->axis, " of the communicator does not divide the tokens of the rows");
  }
  expected[0].axes.insert(expected[0].axes.end(), group.begin(), group.end());
  for (flatbuffers::uoffset_t dim = 0; dim < rows.dims()->size(); ++dim) {
    if (expected[dim].axes != axesOf(arrivals.dims()->Get(dim)->axes()))
      return corrupted("dim ", dim, " of the arrivals is not divided as an exchange over this group leaves it");
    // Ranks agree on numbers of rows only: their experts are ranges, and each row has as many features before and
    // after.
    bool isOfTokens = dim > 0 && static_cast<int32_t>(dim) < rows.routed()->dims();
    if (!isOfTokens && !hasSameBlocks(dimShardingOf(*rows.dims()->Get(dim)), dimShardingOf(*arrivals.dims()->Get(dim))))
      return corrupted("dim ", dim, " of the arrivals has other blocks than that of the rows");
  }
  return Status();
}

} // namespace

bool isDividedAlike(const artifact::Dim &left, const artifact::Dim &right) {
  DimSharding first = dimShardingOf(left), second = dimShardingOf(right);
  return first.axes == second.axes && hasSameBlocks(first, second);
}

Status verifySameLayout(const artifact::Value &left, const artifact::Value &right) {
  MESHPLAN_RETURN_IF_ERROR(verifySameParts(left, right));
  return left.partial() == right.partial() ? Status() : corrupted("one of them is partial");
}

Status verifySameParts(const artifact::Value &left, const artifact::Value &right) {
  MESHPLAN_RETURN_IF_ERROR(verifySameTensor(left, right));
  MESHPLAN_RETURN_IF_ERROR(verifyDimsAlike(left, right));
  return verifyFlat(left, right, {});
}

Status verifyStart(const artifact::Start &start, const artifact::Value &input, const artifact::Value &output,
                   std::span<const AxisRef> group) {
  using artifact::CollectiveKind;
  CollectiveKind kind = start.kind();
  if (start.purpose() < artifact::Purpose::MIN || start.purpose() > artifact::Purpose::MAX)
    return corrupted("purpose ", int(start.purpose()), " does not exist");
  if (kind < CollectiveKind::MIN || kind > CollectiveKind::MAX)
    return corrupted("kind ", int(kind), " does not exist");
  if (start.counts() != -1)
    return verifyExchange(start, input, output, group);
  if (isRows(input) && kind == CollectiveKind::all_reduce)
    return verifySumOfRows(start, input, output, group);
  if (isRows(input) && kind == CollectiveKind::all_gather)
    MESHPLAN_RETURN_IF_ERROR(verifyGatherOfRows(start, input, output));
  else
    MESHPLAN_RETURN_IF_ERROR(verifySameTensor(input, output));
  bool reduces = kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter;
  if (reduces)
    MESHPLAN_RETURN_IF_ERROR(verifyReduction(start, input));
  MESHPLAN_RETURN_IF_ERROR(verifyPartial(input, output, reduces ? group : std::span<const AxisRef>()));
  // Flat tensors keep their dims; only their flat axes change. All-gather removes the axes of the group, reduce-scatter
  // adds them.
  if (isAboutFlat(start)) {
    MESHPLAN_RETURN_IF_ERROR(verifyDimsAlike(input, output));
    return kind == CollectiveKind::all_gather ? verifyFlat(output, input, group) : verifyFlat(input, output, group);
  }
  if (kind != CollectiveKind::all_reduce && (isFlat(input) || isFlat(output)))
    return corrupted("a collective along a dim of a flat value");
  MESHPLAN_RETURN_IF_ERROR(verifyFlat(input, output, {}));
  // A permute may change the assignment of shards to ranks arbitrarily. Whether the ranks hold what the output needs is
  // checked when the step is prepared (exec/moves/pieces.cpp).
  if (kind == CollectiveKind::permute)
    return Status();
  int64_t groupSize = shardCount(group), dim = -1, fromDim = -1;
  if (kind != CollectiveKind::all_reduce) {
    dim = start.dim();
    MESHPLAN_RETURN_IF_ERROR(verifyIndex("dim", dim, input.dims()));
  }
  if (kind == CollectiveKind::all_to_all) {
    fromDim = start.from_dim();
    MESHPLAN_RETURN_IF_ERROR(verifyIndex("from_dim", fromDim, input.dims()));
    if (fromDim == dim)
      return corrupted("dim and from_dim are both ", dim);
    MESHPLAN_RETURN_IF_ERROR(verifySplit(output, input, fromDim, groupSize));
  }
  // The number of shards changes only along the dims of the collective, by the size of the group.
  for (int64_t i = 0; i < static_cast<int64_t>(input.dims()->size()); ++i) {
    if (i == fromDim)
      continue;
    // Along its dim a gather multiplies the shard, and the other kinds divide it. Example: from 6 shards over dp=2 and
    // tp=3, a gather over tp makes 2, and a reduce-scatter over tp makes 6 of 2.
    bool grows = i == dim && kind == CollectiveKind::all_gather;
    int64_t factor = i == dim ? groupSize : 1;
    MESHPLAN_RETURN_IF_ERROR(grows ? verifySplit(output, input, i, factor) : verifySplit(input, output, i, factor));
  }
  return Status();
}

/// A flat slice is a cut of a value with the same dims.
static Status verifyFlatSlice(const artifact::Value &input, const artifact::Value &output) {
  std::vector<AxisRef> before = axesOf(input.flat_axes()), after = axesOf(output.flat_axes());
  if (after.size() < before.size() || !std::equal(before.begin(), before.end(), after.begin()))
    return corrupted("the flat axes of the input are not the first ones of the output");
  return verifyDimsAlike(input, output);
}

Status verifySlice(const artifact::Value &input, const artifact::Value &output) {
  MESHPLAN_RETURN_IF_ERROR(verifySameElements(input, output));
  if (input.routed() || output.routed())
    MESHPLAN_RETURN_IF_ERROR(verifySameRows(input, output));
  if (isFlat(input) || isFlat(output))
    MESHPLAN_RETURN_IF_ERROR(verifyFlatSlice(input, output));
  for (int64_t i = 0; i < static_cast<int64_t>(input.dims()->size()); ++i)
    if (shardsOf(output, i) % shardsOf(input, i) != 0)
      return corrupted("dim ", i, " has ", shardsOf(input, i), " shards and is sliced into ", shardsOf(output, i));
  return verifyPartial(input, output, {});
}

} // namespace meshplan
