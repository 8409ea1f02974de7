//===- slicing.cpp - records of parts of a tensor -------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"
#include <limits>

using namespace mlir;

namespace meshplan {

/// Dim `dim` of all tensors of the call, the operand first.
static SmallVector<DimRef> sameDims(RuleBuilder &builder, const CallView &call, int64_t dim) {
  SmallVector<DimRef> dims{builder.operand("self")[dim]};
  for (unsigned index = 0; index < call.results.size(); ++index)
    dims.push_back(builder.result(index)[dim]);
  return dims;
}

/// True if the slice takes one element of each `step` consecutive elements of the whole dim.
static bool takesOneOfEachRun(const CallView &call, int64_t size) {
  int64_t start = call.getInt("start", 0), step = call.getInt("step", 1);
  int64_t end = call.getInt("end", std::numeric_limits<int64_t>::max());
  return step > 1 && size > step && size % step == 0 && start >= 0 && start < step && end >= size;
}

/// Bounds beyond the end are clamped. So a slice that keeps all of a dim keeps all of any part of it, and a slice with
/// a step takes its elements from any part of whole steps. A dim that is cut in another way is whole.
static FactorRule sliceRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self");
  int64_t cut = normalizeDim(call.getInt("dim", 0), self.getRank());
  for (int64_t dim = 0; dim < self.getRank(); ++dim)
    if (dim != cut || call.getInt("step", 1) == 1)
      builder.tie(sameDims(builder, call, dim));
  if (cut >= 0 && takesOneOfEachRun(call, self[cut].size)) {
    int64_t step = call.getInt("step", 1);
    // x[1::2] of 12 elements: the dim is 6 runs of 2, and a rank on tp=3 has 2 whole runs, of which it takes one
    // element each, with the same start. A part that began in the middle of a run would need another start.
    unsigned runs = builder.add(self[cut].size / step);
    builder.append(self[cut], runs);
    builder.append(self[cut], builder.add(step, FactorKind::whole));
    builder.append(builder.result()[cut], runs);
  }
  return builder.finish();
}

/// The slice on a rank ends where the part of the rank ends.
static LocalCall localizeSlice(const CallView &call, plan::MeshOp) {
  int64_t cut = normalizeDim(call.getInt("dim", 0), call.operands.front().getRank());
  if (call.getInt("step", 1) == 1 || !isDivided(call.operands.front(), cut))
    return unchanged(call);
  Attribute end = intLiteral(call.args.getContext(), std::numeric_limits<int64_t>::max());
  return {call.target.str(), withArg(call.args, "end", end)};
}

/// The slice on a rank is a view.
static Strides sliceStrides(const CallView &call, unsigned) {
  Strides strides = call.getStrides(0);
  int64_t rank = strides.size(), cut = normalizeDim(call.getInt("dim", 0), rank);
  // A step beyond the end leaves one element, whose stride has no meaning.
  if (cut >= 0 && cut < rank)
    strides[cut] *= std::clamp<int64_t>(call.getInt("step", 1), 1, 1 + call.operands.front().getDimSize(cut));
  return strides;
}

/// The operand is the concatenation of the results along the split dim.
static FactorRule splitRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self");
  int64_t cut = normalizeDim(call.getInt("dim", 0), self.getRank());
  for (int64_t dim = 0; dim < self.getRank(); ++dim) {
    SmallVector<DimRef> dims = sameDims(builder, call, dim);
    if (dim == cut)
      // A fused projection [q | k | v] that is split into three: with one factor for the whole dim the first rank would
      // have all of q. With a factor for each piece every rank has its share of all three.
      builder.join(dims.front(), ArrayRef(dims).drop_front());
    else
      builder.tie(dims);
  }
  return builder.finish();
}

/// Each rank splits its own part, which has a share of every result.
static LocalCall localizeSplit(const CallView &call, plan::MeshOp) {
  int64_t cut = normalizeDim(call.getInt("dim", 0), call.operands.front().getRank());
  if (!isDivided(call.operands.front(), cut))
    return unchanged(call);
  MLIRContext *context = call.args.getContext();
  SmallVector<Attribute> sizes;
  for (unsigned index = 0; index < call.results.size(); ++index)
    // A result without elements is not divided.
    sizes.push_back(isDivided(call.results[index], cut)
                        ? Attribute(plan::LocalIntAttr::get(context, 0, /*ofResult=*/true, index, cut, 0, 1))
                        : intLiteral(context, call.results[index].getDimSize(cut)));
  NamedAttrList args;
  args.set("self", call.get("self"));
  args.set("split_sizes", ArrayAttr::get(context, sizes));
  args.set("dim", intLiteral(context, cut));
  return {"aten.split_with_sizes.default", args.getDictionary(context)};
}

/// select and unbind remove a dim by taking single indices.
static FactorRule selectedRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self");
  int64_t taken = normalizeDim(call.getInt("dim", 0), self.getRank());
  for (int64_t dim = 0; dim < self.getRank(); ++dim) {
    SmallVector<DimRef> dims{self[dim]};
    for (unsigned index = 0; index < call.results.size(); ++index)
      dims.push_back(builder.result(index)[dim > taken ? dim - 1 : dim]);
    if (dim != taken)
      builder.tie(dims);
  }
  return builder.finish();
}

static Strides selectedStrides(const CallView &call, unsigned) {
  Strides strides = call.getStrides(0);
  int64_t rank = strides.size(), taken = normalizeDim(call.getInt("dim", 0), rank);
  if (taken >= 0 && taken < rank)
    strides.erase(strides.begin() + taken);
  return strides;
}

/// select_scatter: self with one index of a dim replaced by src, which does not have that dim.
static FactorRule selectScatterRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self"), src = builder.operand("src"), result = builder.result();
  int64_t taken = normalizeDim(call.getInt("dim", 0), result.getRank());
  for (int64_t dim = 0; dim < result.getRank(); ++dim)
    if (dim != taken)
      builder.tie({self[dim], src[dim > taken ? dim - 1 : dim], result[dim]});
  return builder.finish();
}

/// The kept elements and their replacement, together.
static Linearity inBoth(const CallView &call) {
  Linearity linearity = linearIn(call, {{"self", "src"}});
  linearity.movesElements = llvm::all_of(call.operands, [&](RankedTensorType type) {
    return type.getElementType() == call.results.front().getElementType();
  });
  return linearity;
}

/// unfold: windows over one dim; the elements of a window become the last dim.
static FactorRule unfoldRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self"), result = builder.result();
  int64_t cut = normalizeDim(call.getInt("dimension", 0), self.getRank());
  for (int64_t dim = 0; dim < self.getRank(); ++dim)
    if (dim != cut)
      builder.tie({self[dim], result[dim]});
  return builder.finish();
}

static Strides unfoldStrides(const CallView &call, unsigned) {
  Strides strides = call.getStrides(0);
  int64_t rank = strides.size(), cut = normalizeDim(call.getInt("dimension", 0), rank);
  if (cut < 0 || cut >= rank)
    return strides;
  int64_t step = std::clamp<int64_t>(call.getInt("step", 1), 1, 1 + call.operands.front().getDimSize(cut));
  strides.push_back(strides[cut]);
  strides[cut] *= step;
  return strides;
}

/// The two dims of diagonal. The diagonal becomes the last dim.
static std::pair<int64_t, int64_t> diagonalDims(const CallView &call, int64_t rank) {
  return {normalizeDim(call.getInt("dim1", 0), rank), normalizeDim(call.getInt("dim2", 1), rank)};
}

static FactorRule diagonalRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self"), result = builder.result();
  auto [first, second] = diagonalDims(call, self.getRank());
  for (int64_t dim = 0, to = 0; dim < self.getRank(); ++dim)
    if (dim != first && dim != second)
      builder.tie({self[dim], result[to++]});
  return builder.finish();
}

static Strides diagonalStrides(const CallView &call, unsigned) {
  Strides own = call.getStrides(0), strides;
  auto [first, second] = diagonalDims(call, own.size());
  for (auto [dim, stride] : llvm::enumerate(own))
    if (static_cast<int64_t>(dim) != first && static_cast<int64_t>(dim) != second)
      strides.push_back(stride);
  if (first >= 0 && second >= 0)
    // A step along the diagonal is a step along both dims.
    strides.push_back(own[first] + own[second]);
  return strides;
}

/// diag_embed: the last dim becomes the diagonal of two dims; the other dims keep their order.
static FactorRule diagonalOfRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self"), result = builder.result();
  int64_t rank = result.getRank();
  int64_t first = normalizeDim(call.getInt("dim1", -2), rank), second = normalizeDim(call.getInt("dim2", -1), rank);
  for (int64_t dim = 0, from = 0; dim < rank && rank == self.getRank() + 1; ++dim)
    if (dim != first && dim != second)
      builder.tie({self[from++], result[dim]});
  return builder.finish();
}

/// tril and triu compare the indices of the last two dims. Elements outside of the triangle become 0.
static FactorRule triangleRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self"), result = builder.result();
  int64_t rank = result.getRank();
  builder.tieAligned({rank - 2, rank - 1});
  for (int64_t dim : {-2, -1})
    builder.tie({self[dim], result[dim]}, FactorKind::whole);
  return builder.finish();
}

void addSlicingRecords(OpRegistry &registry) {
  registry.add({.target = "aten.slice.Tensor",
                .rule = sliceRule,
                .linearity = movesOperand,
                .cost = viewCost,
                .strides = sliceStrides,
                .localize = localizeSlice});
  for (StringRef target : {"aten.split.Tensor", "aten.split_with_sizes.default", "aten.chunk.default",
                           "aten.tensor_split.sections", "aten.tensor_split.indices"})
    registry.add({.target = target,
                  .rule = splitRule,
                  .linearity = movesOperand,
                  .cost = viewCost,
                  .strides = likeFirst,
                  .localize = localizeSplit});
  for (StringRef target : {"aten.select.int", "aten.unbind.int"})
    registry.add({.target = target,
                  .rule = selectedRule,
                  .linearity = movesOperand,
                  .cost = viewCost,
                  .strides = selectedStrides});
  registry.add({.target = "aten.slice_scatter.default",
                .rule = wholeDimRule<0>,
                .linearity = inBoth,
                .cost = copyCost,
                .strides = likeCopy});
  registry.add({.target = "aten.select_scatter.default",
                .rule = selectScatterRule,
                .linearity = inBoth,
                .cost = copyCost,
                .strides = likeCopy});
  struct View {
    StringRef target;
    FactorRule (*rule)(const CallView &);
    Strides (*strides)(const CallView &, unsigned);
  };
  for (View view : {View{"aten.unfold.default", unfoldRule, unfoldStrides},
                    View{"aten.diagonal.default", diagonalRule, diagonalStrides}})
    registry.add({.target = view.target,
                  .rule = view.rule,
                  .linearity = movesOperand,
                  .cost = viewCost,
                  .strides = view.strides});
  registry.add({.target = "aten.diag_embed.default", .rule = diagonalOfRule, .linearity = inSelf, .cost = copyCost});
  for (StringRef target : {"aten.tril.default", "aten.triu.default"})
    registry.add({.target = target, .rule = triangleRule, .linearity = inSelf, .cost = rowMajorCopyCost});
}

} // namespace meshplan
