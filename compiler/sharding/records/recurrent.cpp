//===- recurrent.cpp - records of recurrent layers ------------------------===//
//
// A step reads all features of the previous step, and sequences are
// independent: only the samples can be divided.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

/// The initial states of a layer: one tensor, or a list.
static SmallVector<std::optional<unsigned>> startStates(const CallView &call) {
  if (std::optional<unsigned> state = call.getOperand("hx"))
    return {state};
  return call.getOperands("hx");
}

/// Ties the samples of input and output to those of the states, which are the second and the third result.
static FactorRule samplesRule(const CallView &call, int64_t inputDim, int64_t outputDim, int64_t stateDim) {
  RuleBuilder builder(call);
  SmallVector<DimRef> samples{builder.operand("input")[inputDim], builder.result()[outputDim]};
  for (std::optional<unsigned> state : startStates(call))
    samples.push_back(builder.operand(state)[stateDim]);
  for (unsigned index = 1; index < call.results.size(); ++index)
    samples.push_back(builder.result(index)[stateDim]);
  builder.tie(samples);
  return builder.finish();
}

/// A layer reads [sequence, samples, features], or samples first; its states are [layers, samples, features]. A single
/// sequence has no samples.
static FactorRule layerRule(const CallView &call) {
  std::optional<unsigned> input = call.getOperand("input");
  if (!input || call.operands[*input].getRank() != 3)
    return undividedRule(call);
  int64_t dim = call.getBool("batch_first", false) ? 0 : 1;
  return samplesRule(call, dim, dim, 1);
}

/// One step on rows of features.
static FactorRule cellRule(const CallView &call) {
  std::optional<unsigned> input = call.getOperand("input");
  if (!input || call.operands[*input].getRank() != 2)
    return undividedRule(call);
  return samplesRule(call, 0, 0, 0);
}

/// Gates of each state: four for lstm, three for gru, one for a plain layer.
static int64_t gateCount(const CallView &call) {
  return call.target.starts_with("aten.lstm") ? 4 : call.target.starts_with("aten.gru") ? 3 : 1;
}

/// Flops of the products of `rows` rows with all weights.
static int64_t weightFlops(const CallView &call, int64_t rows) {
  int64_t weights = 0;
  for (RankedTensorType type : call.operands)
    weights += type.getRank() == 2 ? type.getNumElements() : 0;
  return 2 * rows * weights;
}

/// Bytes of the two matrices of the first direction.
static int64_t directionBytes(const CallView &call) {
  SmallVector<std::optional<unsigned>> params = call.getOperands("params");
  return params.size() > 1 && params[0] && params[1]
             ? tensorBytes(call.operands[*params[0]]) + tensorBytes(call.operands[*params[1]])
             : 0;
}

/// Workspace of the lstm library besides the gates: the weights of a direction, repacked with features in blocks, the
/// states, and a buffer.
static int64_t libraryBytes(const CallView &call, RankedTensorType output, int64_t ways) {
  constexpr int64_t gates = 4, block = 32, states = 10, buffer = 6 * 4096;
  SmallVector<std::optional<unsigned>> params = call.getOperands("params");
  if (params.size() < 2 || !params[0] || !params[1])
    return 0;
  int64_t inputs = 0, features = std::max<int64_t>(output.getShape().back() / ways, 1);
  for (unsigned index : {0, 1})
    if (RankedTensorType matrix = call.operands[*params[index]]; matrix.getRank() == 2)
      inputs += matrix.getDimSize(1);
  int64_t samples = output.getRank() > 2 ? output.getDimSize(call.getBool("batch_first", false) ? 0 : 1) : 1;
  int64_t elements =
      inputs * gates * static_cast<int64_t>(llvm::alignTo(features, block)) + states * samples * features;
  return elements * plan::elementBytes(output.getElementType()) + buffer;
}

/// Measured: the gates of all positions of one direction, and the states of each position before they become one
/// tensor. The lstm library has no such states. With several layers, the output of the previous layer stays live.
static OpCost layerCost(const CallView &call) {
  OpCost cost = copyCost(call);
  std::optional<unsigned> input = call.getOperand("input");
  RankedTensorType output = call.results.front();
  if (!input || output.getRank() == 0)
    return cost;
  int64_t ways = call.getBool("bidirectional", false) ? 2 : 1, outputBytes = tensorBytes(output);
  cost.flops = weightFlops(call, output.getNumElements() / std::max<int64_t>(output.getShape().back(), 1));
  cost.workspaceBytes = gateCount(call) * outputBytes / ways;
  if (gateCount(call) != 4)
    cost.workspaceBytes += ways * outputBytes;
  else
    cost.workspaceBytes += libraryBytes(call, output, ways) +
                           (call.getBool("batch_first", false) ? tensorBytes(call.operands[*input]) : 0);
  if (call.getInt("num_layers", 1) > 1)
    cost.workspaceBytes += outputBytes;
  return cost;
}

namespace {
/// The sizes of what autograd keeps of a layer.
struct Recorded {
  int64_t layers = 1, ways = 1;
  int64_t like = 0;   ///< bytes of the output of one direction
  int64_t inputs = 1; ///< features of the input, at least those of the output, for each of the latter
};
} // namespace

static std::optional<Recorded> readRecorded(const CallView &call) {
  std::optional<unsigned> input = call.getOperand("input");
  Recorded recorded;
  recorded.layers = call.getInt("num_layers", 1);
  recorded.ways = call.getBool("bidirectional", false) ? 2 : 1;
  ArrayRef<int64_t> shape = call.results.front().getShape();
  bool fits = input && !call.getOperands("params").empty() && recorded.layers >= 1 &&
              recorded.layers <= static_cast<int64_t>(call.operands.size()) && !shape.empty() &&
              shape.back() >= recorded.ways && call.operands[*input].getRank() > 0;
  if (!fits)
    return std::nullopt;
  recorded.like = tensorBytes(call.results.front()) / recorded.ways;
  int64_t features = shape.back() / recorded.ways;
  recorded.inputs = std::max(call.operands[*input].getShape().back() / features, recorded.inputs);
  return recorded;
}

/// Measured: the lstm library keeps gates and states of each direction, these as wide as its input. In the backward
/// pass of a layer it holds more, with buffers.
static int64_t lstmBytes(const CallView &call, const Recorded &recorded) {
  int64_t halves = (18 + 15 * recorded.inputs) * recorded.ways +
                   (18 + 15 * recorded.ways) * recorded.ways * (recorded.layers - 1) + 4 + 7 * recorded.ways;
  constexpr int64_t buffers = 10 * 4096;
  return (halves * recorded.like + 5 * directionBytes(call)) / 2 + buffers;
}

/// Measured, in tensors like the output of one direction: the gates, states and products of each position, and after
/// the last layer the gates from its input and the gradients of the directions. Gradients reuse freed memory. Those of
/// weights, which sum over all positions, are live before the tensors of a layer are freed.
int64_t recordedLayerBytes(const CallView &call, int64_t gradientBytes, bool ofWeights) {
  std::optional<Recorded> recorded = readRecorded(call);
  if (!recorded)
    return 0;
  auto [layers, ways, like, inputs] = *recorded;
  int64_t gates = gateCount(call);
  if (gates == 4)
    return std::max<int64_t>(lstmBytes(call, *recorded) - gradientBytes, 0);
  int64_t bytes = gates == 3 ? ((7 * layers + 3) * ways + 1) * like : ((2 * layers + 1) * ways + ways - 1) * like;
  return ofWeights ? std::max(bytes - gradientBytes + gradientBytes / layers, bytes / layers)
                   : std::max<int64_t>(bytes - gradientBytes, 0);
}

/// Measured: the gates (gru has them separately from input and state), and a part of the new states.
static OpCost cellCost(const CallView &call) {
  OpCost cost = copyCost(call);
  RankedTensorType state = call.results.front();
  int64_t gates = gateCount(call);
  cost.flops = weightFlops(call, state.getRank() > 0 ? state.getDimSize(0) : 1);
  cost.workspaceBytes = (gates == 4 ? gates + 2 : gates == 3 ? 2 * gates + 1 : gates + 1) * tensorBytes(state);
  return cost;
}

void addRecurrentRecords(OpRegistry &registry) {
  for (StringRef target : {"aten.lstm.input", "aten.gru.input", "aten.rnn_tanh.input", "aten.rnn_relu.input"})
    registry.add({.target = target, .rule = layerRule, .linearity = notLinear, .cost = layerCost});
  for (StringRef target :
       {"aten.lstm_cell.default", "aten.gru_cell.default", "aten.rnn_tanh_cell.default", "aten.rnn_relu_cell.default"})
    registry.add({.target = target, .rule = cellRule, .linearity = notLinear, .cost = cellCost});
}

} // namespace meshplan
