//===- recurrent.cpp - records of recurrent layers ------------------------===//
//
// A step reads all features of the one before it, and sequences pass through
// without each other: only the samples can be divided.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

/// The states that a layer starts with: one tensor, or a list.
static SmallVector<std::optional<unsigned>> startStates(const CallView &call) {
  if (std::optional<unsigned> state = call.getOperand("hx"))
    return {state};
  return call.getOperands("hx");
}

/// Ties the samples of input and output with those of the states, which are the second result and the third.
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

/// One step of rows of features.
static FactorRule cellRule(const CallView &call) {
  std::optional<unsigned> input = call.getOperand("input");
  if (!input || call.operands[*input].getRank() != 2)
    return undividedRule(call);
  return samplesRule(call, 0, 0, 0);
}

/// Gates of each state: four of lstm, three of gru, one of a plain layer.
static int64_t gateCount(const CallView &call) {
  return call.target.starts_with("aten.lstm") ? 4 : call.target.starts_with("aten.gru") ? 3 : 1;
}

/// Flops of the products with all weights for so many rows, and of the functions of the gates.
static int64_t weightFlops(const CallView &call, int64_t rows) {
  int64_t weights = 0;
  for (RankedTensorType type : call.operands)
    weights += type.getRank() == 2 ? type.getNumElements() : 0;
  return 2 * rows * weights;
}

/// As metered: the gates of all places of one direction, and the states of each place before they become one tensor.
/// The library for lstm lays the weights of a direction out anew instead. Of several layers the output before stays.
static OpCost layerCost(const CallView &call) {
  OpCost cost = copyCost(call);
  std::optional<unsigned> input = call.getOperand("input");
  SmallVector<std::optional<unsigned>> params = call.getOperands("params");
  RankedTensorType output = call.results.front();
  if (!input || output.getRank() == 0)
    return cost;
  int64_t ways = call.getBool("bidirectional", false) ? 2 : 1, outputBytes = tensorBytes(output);
  cost.flops = weightFlops(call, output.getNumElements() / std::max<int64_t>(output.getShape().back(), 1));
  cost.workspaceBytes = gateCount(call) * outputBytes / ways;
  if (gateCount(call) != 4)
    cost.workspaceBytes += ways * outputBytes;
  else if (params.size() > 1 && params[0] && params[1])
    cost.workspaceBytes += 2 * (tensorBytes(call.operands[*params[0]]) + tensorBytes(call.operands[*params[1]])) +
                           (call.getBool("batch_first", false) ? tensorBytes(call.operands[*input]) : 0);
  if (call.getInt("num_layers", 1) > 1)
    cost.workspaceBytes += outputBytes;
  return cost;
}

/// As metered: the gates, of gru from input and state apart, and a part of the new states.
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
