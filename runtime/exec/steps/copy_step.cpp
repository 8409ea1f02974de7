//===- copy_step.cpp - packing and unpacking for collectives --------------===//
//
// A buffer has the pieces for one rank after those for another, and within a rank one tensor after the other. Example:
// tensors A and B are reduce-scattered over 2 ranks: A0 B0 A1 B1, where A1 is the piece of A that rank 1 gets. What
// rank 0 receives, A0 B0, is its two outputs one after the other: where a buffer of the program has them in this order,
// they are taken without a copy (in place).
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/steps/copy_step.h"

#include "runtime/artifact/vector_range.h"
#include "runtime/exec/moves/transfer.h"
#include "runtime/exec/prepare.h"

using namespace meshplan;

namespace {

/// Copies the pieces of all tensors, rank by rank, and returns the bytes. `copy` is called with a piece, the tensor
/// that it is of, and where it begins in the packed elements.
template <typename Copy>
Expected<int64_t> forEachPiece(const Pieces &pieces, std::vector<TensorPiece> MovedTensor::*side, const Copy &copy) {
  int64_t begin = 0;
  for (size_t rank = 0; rank < (pieces.tensors.front().*side).size(); ++rank)
    for (const MovedTensor &moved : pieces.tensors) {
      const TensorPiece &piece = (moved.*side)[rank];
      MESHPLAN_RETURN_IF_ERROR(copy(piece, moved, begin));
      begin += elementCount(piece);
    }
  return begin;
}

class PackStep final : public Step {
public:
  PackStep(int output, DType dtype, std::shared_ptr<const Pieces> pieces)
      : output(output), dtype(dtype), pieces(std::move(pieces)) {}

  Status run(std::span<Tensor> values) override {
    int64_t count = pieces->sent();
    MESHPLAN_ASSIGN_OR_RETURN(Tensor packed, allocateTensor({&count, 1}, dtype));
    MESHPLAN_ASSIGN_OR_RETURN(int64_t elements,
                              forEachPiece(*pieces, &MovedTensor::sends,
                                           [&](const TensorPiece &piece, const MovedTensor &moved, int64_t begin) {
                                             return packPiece(piece, values[moved.input], packed, begin);
                                           }));
    bytes += elements * dtypeSize(dtype);
    values[output] = std::move(packed);
    return Status();
  }

  int64_t packedBytes() const override { return bytes; }
  std::string name() const override { return "pack"; }

private:
  int output;
  DType dtype;
  std::shared_ptr<const Pieces> pieces;
  int64_t bytes = 0;
};

/// The members are adjacent in a buffer of the program.
class PackInPlaceStep final : public Step {
public:
  PackInPlaceStep(std::vector<int> inputs, int output) : inputs(std::move(inputs)), output(output) {}

  Status run(std::span<Tensor> values) override {
    std::vector<Tensor> tensors;
    for (int input : inputs)
      tensors.push_back(values[input]);
    MESHPLAN_ASSIGN_OR_RETURN(values[output], joined(tensors));
    // Programs that share tensors have the same buffers, so this cannot happen in a verified artifact.
    return values[output].defined() ? Status()
                                    : Status(StatusCode::internal, "tensors of a buffer are not adjacent in memory");
  }

  std::string name() const override { return "pack in place"; }

private:
  std::vector<int> inputs;
  int output;
};

class UnpackStep final : public Step {
public:
  UnpackStep(const RankView &view, const artifact::UnpackRun &action, std::shared_ptr<const Pieces> pieces)
      : view(view), action(action), pieces(std::move(pieces)) {}

  Status run(std::span<Tensor> values) override {
    for (flatbuffers::uoffset_t i = 0; i < action.outputs()->size(); ++i) {
      MESHPLAN_ASSIGN_OR_RETURN(values[action.outputs()->Get(i)], target(i, values));
    }
    const Tensor packed = values[action.input()];
    MESHPLAN_ASSIGN_OR_RETURN(int64_t elements,
                              forEachPiece(*pieces, &MovedTensor::receives,
                                           [&](const TensorPiece &piece, const MovedTensor &moved, int64_t begin) {
                                             return unpackPiece(piece, packed, begin, values[moved.output]);
                                           }));
    bytes += elements * dtypeSize(packed.dtype());
    return Status();
  }

  int64_t packedBytes() const override { return bytes; }
  std::string name() const override { return "unpack"; }

private:
  Expected<Tensor> target(flatbuffers::uoffset_t index, std::span<const Tensor> values) const {
    int output = action.outputs()->Get(index);
    if (!action.targets() || action.targets()->size() == 0)
      return allocateTensor(view.shape(output), view.dtype(output));
    const Tensor &tensor = values[action.targets()->Get(index)];
    // Otherwise the elements would be written to a copy.
    return tensor.isContiguous() ? Expected<Tensor>(tensor)
                                 : Status::error(StatusCode::internal, "target ", index, " is not contiguous");
  }

  RankView view;
  const artifact::UnpackRun &action;
  std::shared_ptr<const Pieces> pieces;
  int64_t bytes = 0;
};

/// The outputs are consecutive parts of what was received.
class UnpackInPlaceStep final : public Step {
public:
  UnpackInPlaceStep(const RankView &view, const artifact::UnpackRun &action) : view(view), action(action) {}

  Status run(std::span<Tensor> values) override {
    int64_t begin = 0;
    for (int32_t output : *action.outputs()) {
      std::vector<int64_t> shape = view.shape(output);
      int64_t count = elementCount(shape);
      MESHPLAN_ASSIGN_OR_RETURN(Tensor run, narrow(values[action.input()], 0, begin, count));
      MESHPLAN_ASSIGN_OR_RETURN(values[output], reshape(run, shape));
      begin += count;
    }
    return Status();
  }

  std::string name() const override { return "unpack in place"; }

private:
  RankView view;
  const artifact::UnpackRun &action;
};

Status notInOrder(const RankView &view, const artifact::Instruction &instruction, std::string_view what) {
  return Status(StatusCode::corrupted,
                instructionContext(view, what, instruction) + ": the pieces do not follow one another in memory");
}

} // namespace

Expected<std::unique_ptr<Step>> meshplan::preparePack(const RankView &view, const artifact::Instruction &instruction,
                                                      std::shared_ptr<const Pieces> pieces) {
  const artifact::PackRun &action = *instruction.action_as_PackRun();
  if (!action.in_place())
    return std::unique_ptr<Step>(
        std::make_unique<PackStep>(action.output(), view.dtype(action.output()), std::move(pieces)));
  return std::unique_ptr<Step>(std::make_unique<PackInPlaceStep>(
      std::vector<int>(action.inputs()->begin(), action.inputs()->end()), action.output()));
}

Expected<std::unique_ptr<Step>> meshplan::prepareUnpack(const RankView &view, const artifact::Instruction &instruction,
                                                        std::shared_ptr<const Pieces> pieces) {
  const artifact::UnpackRun &action = *instruction.action_as_UnpackRun();
  if (!action.in_place())
    return std::unique_ptr<Step>(std::make_unique<UnpackStep>(view, action, std::move(pieces)));
  if (pieces->needsUnpacking)
    return notInOrder(view, instruction, "unpack in place");
  return std::unique_ptr<Step>(std::make_unique<UnpackInPlaceStep>(view, action));
}
