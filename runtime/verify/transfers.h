//===- transfers.h - copies between memories --------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_VERIFY_TRANSFERS_H
#define MESHPLAN_RUNTIME_VERIFY_TRANSFERS_H

#include "runtime/artifact/artifact.h"

namespace meshplan {

/// The value that a call copies to host memory or to the device; -1 for any other call.
inline int transferredBy(const artifact::Compute &call) {
  std::string_view target = call.target()->string_view();
  bool isTransfer = target == "meshplan.to_host" || target == "meshplan.to_device";
  return isTransfer && call.args() && call.args()->size() == 1 && call.args()->Get(0)->values()
             ? call.args()->Get(0)->values()->Get(0)
             : -1;
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_TRANSFERS_H
