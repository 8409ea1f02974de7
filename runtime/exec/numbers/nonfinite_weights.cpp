//===- nonfinite_weights.cpp - non-finite weights -------------------------===//

#include "runtime/exec/numbers/nonfinite_weights.h"

#include "runtime/artifact/vector_range.h"
#include "runtime/base/names.h"
#include "runtime/tensor/elements.h"

#include <algorithm>

using namespace meshplan;

static std::string textOf(std::string_view what, std::string_view name, const RankView &view, int value,
                          const Tensor &tensor, const NonfiniteElements &found) {
  return std::string(what) + " '" + std::string(name) + "': " + std::to_string(found.count) + " of " +
         std::to_string(tensor.elementCount()) + " elements " + (found.count == 1 ? "is" : "are") +
         " not finite, the first at " + shapeText(view.globalPosition(value, found.first));
}

Expected<std::string> meshplan::nonfiniteText(std::string_view what, std::string_view name, const RankView &view,
                                              int value, const Tensor &tensor, bool infinities) {
  MESHPLAN_ASSIGN_OR_RETURN(NonfiniteElements found, nonfiniteIn(tensor, infinities));
  return found.count == 0 ? std::string() : textOf(what, name, view, value, tensor, found);
}

Expected<std::vector<NonfiniteWeight>> meshplan::nonfiniteWeights(const RankView &view,
                                                                  std::span<const Tensor> tensors) {
  std::vector<NonfiniteWeight> weights;
  for (const artifact::Parameter &parameter : elementsOf(view.program().parameters())) {
    int value = parameter.value();
    if (!tensors[value].defined())
      continue;
    MESHPLAN_ASSIGN_OR_RETURN(NonfiniteElements found, nonfiniteIn(tensors[value], parameter.trainable()));
    if (found.count > 0)
      weights.push_back(
          {value, found.count,
           textOf("parameter", parameter.names()->Get(0)->string_view(), view, value, tensors[value], found)});
  }
  return weights;
}

std::vector<std::string> meshplan::textsOfFirstHolder(const RankView &view, std::span<const NonfiniteWeight> weights) {
  std::vector<std::string> texts;
  for (const NonfiniteWeight &weight : weights)
    if (view.isFirstHolder(weight.value))
      texts.push_back(weight.text);
  return texts;
}
