//===- slice_step.cpp - slicing a replicated value ------------------------===//

#include "runtime/exec/steps/step.h"

#include "runtime/exec/moves/row_overlap.h"
#include "runtime/exec/moves/transfer.h"
#include "runtime/exec/prepare.h"
#include "runtime/schema/packing.h"

#include <algorithm>

using namespace meshplan;

namespace {

class SliceStep final : public Step {
public:
  /// `ofRows`: the overlap is that of the features of rows of experts, whose number is known when the step runs.
  SliceStep(int input, int output, Overlap overlap, bool isCopied, bool ofRows)
      : input(input), output(output), overlap(std::move(overlap)), isCopied(isCopied), ofRows(ofRows) {}

  Status run(std::span<Tensor> values) override {
    const Tensor &whole = values[input];
    MESHPLAN_ASSIGN_OR_RETURN(values[output], part(whole, ofRows ? withRows(overlap, whole.shape().front()) : overlap));
    return Status();
  }

  std::string name() const override { return "slice"; }

private:
  Expected<Tensor> part(Tensor tensor, const Overlap &overlap) const {
    // A view needs one range of each dim. Without elements there is none.
    bool isView = std::ranges::all_of(overlap.dims, [](const auto &runs) { return runs.size() == 1; });
    if (isCopied || !isView) {
      MESHPLAN_ASSIGN_OR_RETURN(Tensor copy, allocateTensor(overlap.shape(), tensor.dtype()));
      MESHPLAN_RETURN_IF_ERROR(copyOverlap(overlap.intoPiece(), tensor, copy));
      return copy;
    }
    for (size_t dim = 0; dim < overlap.dims.size(); ++dim) {
      const CommonRun &run = overlap.dims[dim].front();
      MESHPLAN_ASSIGN_OR_RETURN(tensor, narrow(tensor, dim, run.source, run.size));
    }
    return tensor;
  }

  int input, output;
  Overlap overlap;
  bool isCopied, ofRows;
};

} // namespace

namespace {

/// Copies a run of elements.
class FlatSliceStep final : public Step {
public:
  FlatSliceStep(int input, int output, Range part) : input(input), output(output), part(part) {}

  Status run(std::span<Tensor> values) override {
    MESHPLAN_ASSIGN_OR_RETURN(Tensor elements, flatten(values[input]));
    MESHPLAN_ASSIGN_OR_RETURN(values[output], allocateTensor({&part.size, 1}, elements.dtype()));
    return copyRun(elements, part.offset, values[output], 0, part.size);
  }

  std::string name() const override { return "slice"; }

private:
  int input, output;
  Range part;
};

} // namespace

static std::unique_ptr<Step> prepareFlatSlice(const RankView &view, const artifact::Slice &action) {
  // Both runs count the elements of the same box, which the dims leave to the rank, so their difference is the offset
  // in the tensor.
  Range whole = view.run(action.input()), part = view.run(action.output());
  return std::make_unique<FlatSliceStep>(action.input(), action.output(), Range{part.offset - whole.offset, part.size});
}

static std::vector<DimSharding> dimShardingsOf(const artifact::Value &value) {
  std::vector<DimSharding> dims;
  for (const artifact::Dim *dim : *value.dims())
    dims.push_back(dimShardingOf(*dim));
  return dims;
}

Expected<std::unique_ptr<Step>> meshplan::prepareSlice(const RankView &view, const artifact::Instruction &instruction) {
  const artifact::Slice &action = *instruction.action_as_Slice();
  if (isFlat(view.value(action.output())))
    return prepareFlatSlice(view, action);
  // Example: mesh dp=2, tp=3, and rows of [6, 4] that are replicated are sliced over tp. Rank (d, 1) holds rows 0-5 and
  // needs rows 2-3: one run with source 2, target 0 and size 2.
  Overlap overlap = overlapOf(view.ranges(action.input()), view.ranges(action.output()));
  std::vector<int64_t> shape = view.shape(action.output());
  bool ofRows = isRows(view.value(action.output()));
  if (ofRows) {
    overlap = withoutRows(std::move(overlap), view.value(action.output()).routed()->dims());
    shape.erase(shape.begin());
  }
  if (overlap.shape() != shape)
    return Status(StatusCode::corrupted,
                  instructionContext(view, "slice", instruction) + ": the rank does not hold the whole slice");
  bool isCopied =
      sliceIsCopied(dimShardingsOf(view.value(action.input())), dimShardingsOf(view.value(action.output())));
  return std::unique_ptr<Step>(
      std::make_unique<SliceStep>(action.input(), action.output(), std::move(overlap), isCopied, ofRows));
}
