//===- records.h - the records of each operator family ----------*- C++ -*-===//
//
// One file for each family of operators; OpRegistry::get() calls all functions.
// docs/adding-an-op.md tells how to write a record.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORDS_RECORDS_H
#define MESHPLAN_COMPILER_SHARDING_RECORDS_RECORDS_H

namespace meshplan {

class OpRegistry;
struct OpRecord;

void addElementwiseRecords(OpRegistry &registry);   ///< one element of each result from one of each operand
void addConversionRecords(OpRegistry &registry);    ///< dtype and layout changes, copies, identities
void addContractionRecords(OpRegistry &registry);   ///< matrix products
void addVectorRecords(OpRegistry &registry);        ///< products with vectors
void addMatrixRecords(OpRegistry &registry);        ///< functions of whole matrices
void addSimilarityRecords(OpRegistry &registry);    ///< angles and distances of vectors
void addConvolutionRecords(OpRegistry &registry);   ///< moving windows with weights
void addPoolingRecords(OpRegistry &registry);       ///< moving windows without weights
void addUpsamplingRecords(OpRegistry &registry);    ///< images of another size
void addReshapeRecords(OpRegistry &registry);       ///< same elements in row-major order, other dims
void addDimOrderRecords(OpRegistry &registry);      ///< transposes, dims of size 1, expansion
void addMovementRecords(OpRegistry &registry);      ///< elements at other positions of their dims
void addSlicingRecords(OpRegistry &registry);       ///< parts of a tensor
void addJoiningRecords(OpRegistry &registry);       ///< joins several tensors, or a tensor and a border
void addReductionRecords(OpRegistry &registry);     ///< fewer dims, and scans
void addNormalizationRecords(OpRegistry &registry); ///< softmax and norms
void addRecurrentRecords(OpRegistry &registry);     ///< layers that read their previous state
void addIndexingRecords(OpRegistry &registry);      ///< elements chosen by integer tensors
void addPartRecords(OpRegistry &registry);          ///< lookups in a part of a dim
void addScatterRecords(OpRegistry &registry);       ///< elements written at positions chosen by integer tensors
void addCreationRecords(OpRegistry &registry);      ///< tensors from literals
void addRandomRecords(OpRegistry &registry);        ///< random numbers by the position of an element
void addAttentionRecords(OpRegistry &registry);     ///< meshplan.attention
void addExpertRecords(OpRegistry &registry);        ///< routed tokens, and layers with parameters of each expert
void addLossRecords(OpRegistry &registry);          ///< cross entropy kernels, and losses of single elements

void addElementGradientRecords(OpRegistry &registry);     ///< backward operators of pointwise functions
void addContractionGradientRecords(OpRegistry &registry); ///< gradients of matrices
void addAttentionGradientRecords(OpRegistry &registry);   ///< gradients of meshplan.attention
void addRowGradientRecords(OpRegistry &registry);         ///< gradients of losses, tables and norms
void addConvolutionGradientRecords(OpRegistry &registry); ///< gradients of convolutions
void addOptimizerRecords(OpRegistry &registry);           ///< optimizer steps, in place

/// The record of every "vjp.TARGET".
const OpRecord &runtimeDerivativeRecord();

/// Bytes that a recorded recurrent layer holds besides its gradients, which have `gradientBytes`: those of its weights,
/// or of its input. 0 for other operators.
int64_t recordedLayerBytes(const CallView &call, int64_t gradientBytes, bool ofWeights);

/// Workspace of the kernels that compute the gradients of these operands of a transposed convolution; 0 for other
/// calls.
int64_t transposedGradientBytes(const CallView &call, llvm::ArrayRef<unsigned> wanted);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORDS_RECORDS_H
