//===- presets.h - clusters that are compiled in ----------------*- C++ -*-===//
//
// The cluster files of presets/, as texts. Each has the public source of its numbers in `source`.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_CLUSTER_PRESETS_H
#define MESHPLAN_COMPILER_CLUSTER_PRESETS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace meshplan {

struct ClusterPreset {
  llvm::StringLiteral name, text;
};

/// All presets: cpu, h100 and h200.
llvm::ArrayRef<ClusterPreset> clusterPresets();

/// The preset of this name, or null.
const ClusterPreset *findClusterPreset(llvm::StringRef name);

/// The preset that is assumed for a device if the user names no cluster: cpu for "cpu", h100 for "cuda".
llvm::StringRef defaultClusterPreset(llvm::StringRef device);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_CLUSTER_PRESETS_H
