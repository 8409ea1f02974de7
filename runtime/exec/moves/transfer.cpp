//===- transfer.cpp - copying overlaps of tensors -------------------------===//

#include "runtime/exec/moves/transfer.h"

#include "runtime/data/slice.h"

using namespace meshplan;

/// The number of copies is the product of the numbers of runs of the dims, mostly 1: a split dim has one run, a dim
/// with three parts has three. Each copy is of a strided view, and its elements are left to the library, so that it is
/// one kernel on a device.
static Status copyRuns(std::span<const std::vector<CommonRun>> dims, int64_t dim, const Tensor &source,
                       const Tensor &target) {
  if (dim == static_cast<int64_t>(dims.size()))
    return copyElements(source, target);
  for (const CommonRun &run : dims[dim]) {
    // A whole dim needs no views, and its run is the only one.
    if (run.size == source.shape()[dim] && run.size == target.shape()[dim])
      return copyRuns(dims, dim + 1, source, target);
    MESHPLAN_ASSIGN_OR_RETURN(Tensor from, narrow(source, dim, run.source, run.size));
    MESHPLAN_ASSIGN_OR_RETURN(Tensor into, narrow(target, dim, run.target, run.size));
    MESHPLAN_RETURN_IF_ERROR(copyRuns(dims, dim + 1, from, into));
  }
  return Status();
}

Status meshplan::copyOverlap(const Overlap &overlap, const Tensor &source, const Tensor &target) {
  return copyRuns(overlap.dims, 0, source, target);
}

Expected<Tensor> meshplan::flatten(const Tensor &tensor) {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor whole, contiguous(tensor));
  int64_t count = whole.elementCount();
  return reshape(whole, {&count, 1});
}

Status meshplan::copyRun(const Tensor &from, int64_t source, const Tensor &into, int64_t target, int64_t count) {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor run, narrow(from, 0, source, count));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor overwritten, narrow(into, 0, target, count));
  return copyElements(run, overwritten);
}

Status meshplan::packRun(const Tensor &from, Range run, const Tensor &into, int64_t target) {
  if (from.isContiguous()) {
    MESHPLAN_ASSIGN_OR_RETURN(Tensor elements, flatten(from));
    return copyRun(elements, run.offset, into, target, run.size);
  }
  // A copy of the whole tensor would take as much memory as the tensor. The boxes of a run are few: elements 2 to 7 of
  // a [3, 3] tensor are the end of row 0, row 1, and two elements of row 2.
  for (const SliceRanges &box : slicesOfRun(wholeTensor(from.shape()), run)) {
    Tensor part = from;
    for (size_t dim = 0; dim < box.size(); ++dim) {
      MESHPLAN_ASSIGN_OR_RETURN(part, narrow(part, static_cast<int64_t>(dim), box[dim][0].offset, box[dim][0].size));
    }
    int64_t count = part.elementCount();
    MESHPLAN_ASSIGN_OR_RETURN(Tensor elements, narrow(into, 0, target, count));
    MESHPLAN_ASSIGN_OR_RETURN(elements, reshape(elements, part.shape()));
    MESHPLAN_RETURN_IF_ERROR(copyElements(part, elements));
    target += count;
  }
  return Status();
}

/// The elements of a packed overlap, in its shape.
static Expected<Tensor> packedOverlap(const Overlap &overlap, const Tensor &packed, int64_t begin) {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor flat, narrow(packed, 0, begin, overlap.elementCount()));
  return reshape(flat, overlap.shape());
}

Status meshplan::packPiece(const TensorPiece &piece, const Tensor &from, const Tensor &packed, int64_t begin) {
  const auto *overlap = std::get_if<Overlap>(&piece);
  if (!overlap)
    return packRun(from, std::get<Range>(piece), packed, begin);
  MESHPLAN_ASSIGN_OR_RETURN(Tensor target, packedOverlap(*overlap, packed, begin));
  return copyOverlap(overlap->intoPiece(), from, target);
}

Status meshplan::unpackPiece(const TensorPiece &piece, const Tensor &packed, int64_t begin, const Tensor &into) {
  if (const auto *overlap = std::get_if<Overlap>(&piece)) {
    MESHPLAN_ASSIGN_OR_RETURN(Tensor source, packedOverlap(*overlap, packed, begin));
    return copyOverlap(overlap->fromPiece(), source, into);
  }
  MESHPLAN_ASSIGN_OR_RETURN(Tensor elements, flatten(into));
  Range run = std::get<Range>(piece);
  return copyRun(packed, begin, elements, run.offset, run.size);
}
