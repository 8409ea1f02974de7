//===- inputs.cpp - the inputs of a program as data -----------------------===//

#include "runtime/dataset/inputs.h"

#include "runtime/artifact/sharding.h"
#include "runtime/artifact/vector_range.h"
#include "runtime/base/names.h"
#include "runtime/schema/program_names.h"

namespace meshplan {

static int64_t batchDimOf(const artifact::Value &value) {
  for (flatbuffers::uoffset_t dim = 0; dim < value.dims()->size(); ++dim)
    if (const flatbuffers::String *name = value.dims()->Get(dim)->name();
        name && name->string_view() == program_names::batchDim)
      return dim;
  return 0;
}

std::vector<DataInput> inputsOf(const artifact::Program &program) {
  std::vector<DataInput> inputs;
  for (const artifact::Port &port : elementsOf(program.inputs())) {
    const artifact::Value &value = *program.values()->Get(port.value());
    inputs.push_back({port.name()->str(), dtypeOf(value.dtype()), globalShapeOf(value), batchDimOf(value)});
  }
  return inputs;
}

std::string fieldText(std::string_view name, std::string_view dtype, std::span<const int64_t> shape) {
  return std::string(name) + " " + std::string(dtype) + " " + shapeText(shape);
}

Expected<BatchShape> batchShapeOf(std::span<const DataInput> inputs) {
  if (inputs.empty())
    return Status::error(StatusCode::invalid, "the program has no inputs: there is no data to read");
  BatchShape batch;
  const DataInput &first = inputs.front();
  for (const DataInput &input : inputs) {
    if (input.shape.empty())
      return Status::error(StatusCode::invalid, "input '", input.name,
                           "' has no dims, and data needs a first one for the samples; help: make it a constant or a "
                           "buffer of the model");
    // Samples of a file are its rows, and a batch along another dim would have to be transposed for every step.
    if (input.batchDim != 0)
      return Status::error(StatusCode::invalid, "the plan calls dim ", input.batchDim, " of input '", input.name,
                           "' the batch, and data has samples in the first one; help: export the model with the batch "
                           "as the first dim of its inputs");
    if (input.shape[0] != first.shape[0])
      return Status::error(StatusCode::invalid, "inputs '", first.name, "' and '", input.name, "' have ",
                           first.shape[0], " and ", input.shape[0], " samples in their first dim (shapes ",
                           shapeText(first.shape), " and ", shapeText(input.shape),
                           "), the same number required; help: export the model with one batch dim for all inputs");
    // A sample is what remains of the input without the batch dim.
    batch.fields.push_back({input.name, input.dtype, {input.shape.begin() + 1, input.shape.end()}});
  }
  batch.samples = first.shape[0];
  if (batch.samples == 0)
    return Status::error(StatusCode::invalid, "input '", first.name, "' has shape ", shapeText(first.shape),
                         ", at least one sample required");
  return batch;
}

} // namespace meshplan
