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
  int64_t last = 0, reach = 0, covered = 0;
  // Windows that overlap would need elements of the neighbouring rank, and with padding the first and the last rank
  // would differ from the others. Where windows are apart and cover the dim, rank r's windows read exactly rank r's
  // part: 224 pixels in windows of 16 are 14 windows, and the dim is the factors 14 (divided) and 16 (whole). An
  // archive may contain any numbers: windows that overflow 64 bits tie no dim.
  bool apart = window.padding == 0 && window.stride > 0 && !__builtin_sub_overflow(window.size, 1, &last) &&
               !__builtin_mul_overflow(last, window.dilation, &reach) && reach < window.stride &&
               !__builtin_mul_overflow(result.size, window.stride, &covered);
  if (!input.tensor || !result.tensor || !apart || input.size != covered || result.size <= 1)
    return;
  unsigned position = builder.add(result.size);
  builder.append(input, position);
  builder.append(result, position);
  if (window.stride > 1)
    builder.append(input, builder.add(window.stride, FactorKind::whole));
}

} // namespace meshplan
