//===- nonfinite_weights.cpp - weights that are no numbers ----------------===//

#include "runtime/exec/numbers/nonfinite_weights.h"

#include "runtime/base/names.h"
#include "runtime/tensor/elements.h"

#include <algorithm>

using namespace meshplan;

Expected<std::string> meshplan::nonfiniteText(std::string_view what, std::string_view name, const RankView &view,
                                              int value, const Tensor &tensor, bool infinities) {
  MESHPLAN_ASSIGN_OR_RETURN(NonfiniteElements found, nonfiniteIn(tensor, infinities));
  if (found.count == 0)
    return std::string();
  return std::string(what) + " '" + std::string(name) + "': " + std::to_string(found.count) + " of " +
         std::to_string(tensor.elementCount()) + " elements " + (found.count == 1 ? "is" : "are") +
         " not finite, the first at " + shapeText(view.globalPosition(value, found.first));
}

Expected<std::vector<std::string>> meshplan::nonfiniteWeights(const RankView &view, std::span<const Tensor> tensors) {
  std::vector<std::string> texts;
  const auto *parameters = view.program().parameters();
  for (flatbuffers::uoffset_t i = 0; parameters && i < parameters->size(); ++i) {
    const artifact::Parameter &parameter = *parameters->Get(i);
    int value = parameter.value();
    if (!tensors[value].defined() || !view.isFirstHolder(value))
      continue;
    std::string_view name = parameter.names()->Get(0)->string_view();
    MESHPLAN_ASSIGN_OR_RETURN(std::string text,
                              nonfiniteText("parameter", name, view, value, tensors[value], parameter.trainable()));
    if (!text.empty())
      texts.push_back(std::move(text));
  }
  return texts;
}
