//===- presets.cpp - clusters that are compiled in ------------------------===//

#include "compiler/cluster/presets.h"

#include "llvm/ADT/STLExtras.h"

using namespace meshplan;
using llvm::StringRef;

static constexpr ClusterPreset presets[] = {
    {
        "cpu",
#include "compiler/cluster/presets/cpu.json.inc"
    },
    {
        "h100",
#include "compiler/cluster/presets/h100.json.inc"
    },
    {
        "h200",
#include "compiler/cluster/presets/h200.json.inc"
    },
};

llvm::ArrayRef<ClusterPreset> meshplan::clusterPresets() { return presets; }

const ClusterPreset *meshplan::findClusterPreset(StringRef name) {
  const auto *found = llvm::find_if(presets, [&](const ClusterPreset &preset) { return preset.name == name; });
  return found == std::end(presets) ? nullptr : found;
}

StringRef meshplan::defaultClusterPreset(StringRef device) { return device == "cuda" ? "h100" : "cpu"; }
