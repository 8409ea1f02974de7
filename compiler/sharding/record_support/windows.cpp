//===- windows.cpp - dims over which a window moves -----------------------===//

#include "compiler/sharding/record_support/windows.h"

using namespace mlir;

namespace meshplan {

std::optional<int64_t> windowArgument(const CallView &call, StringRef name, unsigned index, unsigned count,
                                      int64_t otherwise) {
  Attribute argument = call.get(name);
  if (!argument)
    return otherwise;
  if (isa<IntegerAttr>(argument) && !isa<BoolAttr>(argument))
    return call.getInt(name, otherwise);
  std::optional<SmallVector<int64_t>> list = call.getInts(name);
  if (!list || (!list->empty() && list->size() != 1 && list->size() != count))
    return std::nullopt;
  if (list->empty())
    return otherwise;
  return (*list)[list->size() == 1 ? 0 : index];
}

void tieWindows(RuleBuilder &builder, DimRef input, DimRef result, Window window) {
  int64_t reach = (window.size - 1) * window.dilation + 1;
  bool apart = window.padding == 0 && window.stride > 0 && reach <= window.stride;
  if (!input.tensor || !result.tensor || !apart || input.size != result.size * window.stride || result.size <= 1)
    return;
  unsigned place = builder.add(result.size);
  builder.append(input, place);
  builder.append(result, place);
  if (window.stride > 1)
    builder.append(input, builder.add(window.stride, FactorKind::whole));
}

} // namespace meshplan
