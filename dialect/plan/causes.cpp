//===- causes.cpp - causes of axes, kept in locations ---------------------===//

#include "dialect/plan/plan.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace meshplan::plan {

static bool isCauseList(Attribute metadata) {
  auto list = dyn_cast_or_null<ArrayAttr>(metadata);
  return list && llvm::all_of(list, llvm::IsaPred<CauseAttr>);
}

/// The causes in a location, or null, and the location without them.
static std::pair<ArrayAttr, Location> splitCauses(Location location) {
  auto fused = dyn_cast<FusedLoc>(location);
  if (!fused || !isCauseList(fused.getMetadata()))
    return {nullptr, location};
  return {cast<ArrayAttr>(fused.getMetadata()), FusedLoc::get(location.getContext(), fused.getLocations())};
}

Location withCauses(Location location, ArrayRef<CauseAttr> causes) {
  Location own = splitCauses(location).second;
  if (causes.empty())
    return own;
  SmallVector<Attribute> list(causes.begin(), causes.end());
  // In the location and not in an attribute: passes that know nothing of causes keep locations when they replace an op.
  return FusedLoc::get({own}, ArrayAttr::get(location.getContext(), list), location.getContext());
}

SmallVector<CauseAttr> getCauses(Location location) {
  ArrayAttr causes = splitCauses(location).first;
  return causes ? llvm::map_to_vector(causes.getAsRange<CauseAttr>(), [](CauseAttr cause) { return cause; })
                : SmallVector<CauseAttr>();
}

} // namespace meshplan::plan
