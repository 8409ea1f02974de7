//===- dim_classes.h - dims that are split together -------------*- C++ -*-===//
//
// Two dims are in one class if some operator splits them together. Splitting a class needs no communication inside it,
// except a sum where it is reduced. A union-find over the links of the graph.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_DRAFT_DIM_CLASSES_H
#define MESHPLAN_COMPILER_DRAFT_DIM_CLASSES_H

#include "compiler/draft/feature_graph.h"

namespace meshplan {

/// Members and uses of a class. Numbers are indices into the graph.
struct DimClass {
  std::optional<size_t> wholeAt;    ///< the first call that needs the class whole
  std::vector<size_t> producedBy;   ///< linear weights, and embeddings not of inputs, that produce its features
  std::vector<size_t> contractedBy; ///< linear weights whose input features are in it
  std::vector<size_t> lookedUpBy;   ///< embeddings whose rows are in it
  bool isReduced = false;           ///< by a call that contracts no weight: a norm, a loss
  bool isOutput = false;            ///< one of its dims is an output of the model
};

class DimClasses {
public:
  /// With `beginsAtGroups`, a grouped convolution starts a new class: its output features are not linked to its input
  /// features, which are whole, and its weights count as producers.
  explicit DimClasses(const FeatureGraph &graph, bool beginsAtGroups = false);

  /// The number of the class of a dim.
  size_t find(size_t dim) const;
  const DimClass &operator[](size_t number) const { return classes[number]; }

private:
  void unite(size_t left, size_t right);

  mutable std::vector<size_t> parents;
  std::vector<DimClass> classes; ///< by root
};

/// The reason why no style fits a weight, as a comment of the plan. Equal layers have equal reasons. Pure.
std::string whyWhole(const FeatureGraph &graph, const DimClasses &classes, const WeightUse &weight);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_DIM_CLASSES_H
