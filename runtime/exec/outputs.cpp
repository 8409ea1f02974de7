//===- outputs.cpp - whole tensors from the parts of the ranks ------------===//

#include "runtime/exec/outputs.h"

using namespace meshplan;

std::vector<TensorSpec> meshplan::outputSpecs(const artifact::Program &program) {
  std::vector<TensorSpec> specs;
  if (program.outputs())
    for (const artifact::Port *port : *program.outputs()) {
      const artifact::Value &value = *program.values()->Get(port->value());
      specs.push_back({port->name()->str(), dtypeOf(value.dtype()), globalShapeOf(value)});
    }
  return specs;
}

Status meshplan::writeOutputParts(const RankView &view, std::span<const Tensor> values,
                                  const SafetensorsWriter &writer) {
  if (!view.program().outputs())
    return Status();
  for (const artifact::Port *port : *view.program().outputs()) {
    if (!view.isFirstHolder(port->value()))
      continue;
    MESHPLAN_ASSIGN_OR_RETURN(Tensor own, contiguous(values[port->value()]));
    MESHPLAN_ASSIGN_OR_RETURN(Tensor part, onHost(own));
    std::span<const std::byte> bytes(part.data(), part.byteSize());
    MESHPLAN_RETURN_IF_ERROR(writer.write(port->name()->str(), view.ranges(port->value()), bytes));
  }
  return Status();
}
