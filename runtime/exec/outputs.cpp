//===- outputs.cpp - writing whole tensors from shards --------------------===//

#include "runtime/exec/outputs.h"

#include "runtime/artifact/vector_range.h"

using namespace meshplan;

namespace {
/// A tensor to write, and its name.
struct Named {
  std::string name;
  int value;
};
} // namespace

static std::vector<Named> outputsOf(const artifact::Program &program) {
  std::vector<Named> list;
  for (const artifact::Port &output : elementsOf(program.outputs()))
    list.push_back({output.name()->str(), output.value()});
  return list;
}

static std::vector<Named> heldOf(const artifact::Program &program) {
  std::vector<Named> list;
  for (const artifact::Parameter &parameter : elementsOf(program.parameters()))
    list.push_back({parameter.names()->Get(0)->str(), parameter.value()});
  for (const artifact::State &state : elementsOf(program.states()))
    list.push_back({state.name()->str(), state.value()});
  return list;
}

static std::vector<TensorSpec> specsOf(const artifact::Program &program, std::span<const Named> list) {
  std::vector<TensorSpec> specs;
  for (const Named &named : list) {
    const artifact::Value &value = *program.values()->Get(named.value);
    specs.push_back({named.name, dtypeOf(value.dtype()), globalShapeOf(value)});
  }
  return specs;
}

Status meshplan::writePart(const RankView &view, int value, const std::string &name, std::span<const std::byte> bytes,
                           const SafetensorsWriter &writer) {
  // Copies of a shared block may differ in their last bits, so only the first holder's copy is written.
  SliceRanges held = view.firstHeld(value);
  const SliceRanges *only = held == view.ranges(value) ? nullptr : &held;
  for (const SliceRanges &slice : view.slices(value)) {
    // The slices of a rank's shard follow one another in its tensor, so each takes the next bytes.
    size_t size = elementCount(sliceShape(slice)) * dtypeSize(view.dtype(value));
    MESHPLAN_RETURN_IF_ERROR(writer.write(name, slice, bytes.first(size), only));
    bytes = bytes.subspan(size);
  }
  return Status();
}

static Status writeParts(const RankView &view, std::span<const Named> list, std::span<const Tensor> values,
                         const SafetensorsWriter &writer, const std::string &prefix = "") {
  for (const Named &named : list) {
    // Replicas are equal, so one rank writes for all.
    if (!view.isFirstHolder(named.value))
      continue;
    MESHPLAN_ASSIGN_OR_RETURN(Tensor own, contiguous(values[named.value]));
    MESHPLAN_ASSIGN_OR_RETURN(Tensor part, onHost(own));
    std::span<const std::byte> bytes(part.data(), part.byteSize());
    MESHPLAN_RETURN_IF_ERROR(writePart(view, named.value, prefix + named.name, bytes, writer));
  }
  return Status();
}

std::vector<TensorSpec> meshplan::outputSpecs(const artifact::Program &program) {
  return specsOf(program, outputsOf(program));
}

Status meshplan::writeOutputParts(const RankView &view, std::span<const Tensor> values, const SafetensorsWriter &writer,
                                  const std::string &prefix) {
  return writeParts(view, outputsOf(view.program()), values, writer, prefix);
}

std::vector<TensorSpec> meshplan::heldSpecs(const artifact::Program &program) {
  return specsOf(program, heldOf(program));
}

Status meshplan::writeHeldParts(const RankView &view, std::span<const Tensor> held, const SafetensorsWriter &writer) {
  return writeParts(view, heldOf(view.program()), held, writer);
}
