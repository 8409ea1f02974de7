//===- why_whole.cpp - why a weight cannot be split -----------------------===//

#include "compiler/draft/why_whole.h"
#include "compiler/support/layer_names.h"

using namespace meshplan;
using Role = WeightUse::Role;

static std::string wholeAt(const FeatureGraph &graph, size_t call, const char *features) {
  const GraphCall &own = graph.calls[call];
  std::string where = own.module.empty() ? "" : " in '" + withoutIndices(own.module) + "'";
  return "'" + own.target + "'" + where + " needs the " + features + " features whole";
}

static std::string whyOtherIsWhole(const FeatureGraph &graph, const WeightUse &weight) {
  if (weight.call >= graph.calls.size())
    return "nothing reads it";
  const GraphCall &own = graph.calls[weight.call];
  if (weight.outputDim && weight.inputDim)
    return "'" + own.target + "' reads it without an input of the model";
  return "no style splits a weight of '" + own.target + "'";
}

static std::string whyTableIsWhole(const FeatureGraph &graph, const DimClass &rows, const WeightUse &weight) {
  if (!weight.looksUpInput)
    return "the indices do not come from an input of the model";
  return rows.wholeAt ? wholeAt(graph, *rows.wholeAt, "input") : "nothing reads it";
}

std::string meshplan::whyWhole(const FeatureGraph &graph, const DimClasses &classes, const WeightUse &weight) {
  if (weight.role == Role::other)
    return whyOtherIsWhole(graph, weight);
  const DimClass &input = classes[classes.find(*weight.inputDim)], &output = classes[classes.find(*weight.outputDim)];
  if (weight.role == Role::embedding)
    return whyTableIsWhole(graph, input, weight);
  if (output.wholeAt)
    return wholeAt(graph, *output.wholeAt, "output");
  if (input.wholeAt)
    return wholeAt(graph, *input.wholeAt, "input");
  return "the features are not those of a pair of linear operators";
}
