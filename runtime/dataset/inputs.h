//===- inputs.h - the inputs of a program as data ---------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATASET_INPUTS_H
#define MESHPLAN_RUNTIME_DATASET_INPUTS_H

#include "runtime/artifact/artifact.h"
#include "runtime/dataset/sample_source.h"

namespace meshplan {

/// An input of a program. The rows of its first dim are the samples of a global batch.
struct DataInput {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape; ///< global
  int64_t batchDim = 0;       ///< the dim that the plan names `batch`; 0 if there is none
};

/// The inputs of a program, in its order, which is also the order of the fields of its data.
std::vector<DataInput> inputsOf(const artifact::Program &program);

/// The samples of one step.
struct BatchShape {
  int64_t samples = 0;
  std::vector<SampleField> fields; ///< in the order of the inputs
};

/// `invalid` unless there are inputs and all have the same nonzero number of samples in their first dim.
Expected<BatchShape> batchShapeOf(std::span<const DataInput> inputs);

/// "input_ids i64 [96]".
std::string fieldText(std::string_view name, std::string_view dtype, std::span<const int64_t> shape);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_INPUTS_H
