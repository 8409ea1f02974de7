//===- input_names.cpp - which dims of inputs are samples -----------------===//

#include "compiler/draft/input_names.h"
#include "compiler/draft/dim_classes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <set>

using namespace meshplan;

/// Classes that a call of one of the accepted targets needs whole.
static std::set<size_t> neededWhole(const FeatureGraph &graph, const DimClasses &classes,
                                    llvm::function_ref<bool(llvm::StringRef target)> counts) {
  std::set<size_t> needed;
  for (const DimLink &link : graph.links)
    if (link.kind == DimLink::Kind::whole && counts(graph.calls[link.call].target))
      needed.insert(classes.find(link.dims.front()));
  return needed;
}

/// The target is an attention or a softmax. Losses of pairs need the samples whole, too, so other calls do not count.
static bool attends(llvm::StringRef target) { return target.contains("attention") || target.contains("softmax"); }

/// A view that merges a dim with others does not tell what the dim is.
static bool isNoView(llvm::StringRef target) { return !target.contains("view") && !target.contains("reshape"); }

std::vector<std::vector<std::string>> meshplan::positionsFirst(const FeatureGraph &graph) {
  auto first = llvm::find_if(graph.inputs, [](const std::vector<size_t> &dims) { return !dims.empty(); });
  if (first == graph.inputs.end() || first->size() < 2)
    return {};
  DimClasses classes(graph);
  size_t positions = classes.find((*first)[0]), samples = classes.find((*first)[1]);
  auto isFeatures = [](const DimClass &own) { return !own.producedBy.empty() || !own.contractedBy.empty(); };
  // Batch first is the default. The opposite is concluded only from both signs: attention needs dim 0 whole, and
  // nothing needs dim 1 whole.
  if (positions == samples || !neededWhole(graph, classes, attends).count(positions) ||
      neededWhole(graph, classes, isNoView).count(samples) || isFeatures(classes[positions]) ||
      isFeatures(classes[samples]))
    return {};
  std::vector<std::vector<std::string>> names;
  for (const std::vector<size_t> &dims : graph.inputs) {
    std::vector<std::string> &own = names.emplace_back();
    for (size_t dim : dims) {
      size_t number = classes.find(dim);
      std::string name = number == samples ? "batch" : number == positions ? "seq" : "_";
      own.push_back(llvm::is_contained(own, name) ? "_" : name);
    }
    // Labels of positions and samples are merged into rows, through which the graph does not follow the samples.
    if (own.size() == 2 && own[0] == "seq" && graph.extents[dims[1]] == graph.extents[(*first)[1]])
      own[1] = "batch";
  }
  return names;
}
