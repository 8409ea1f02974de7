//===- dim_classes.h - dims that are divided together -----------*- C++ -*-===//
//
// Two dims are of one class if some operator divides them together. Dividing a
// class needs no communication inside it, except the sums where it is reduced.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_DRAFT_DIM_CLASSES_H
#define MESHPLAN_COMPILER_DRAFT_DIM_CLASSES_H

#include "compiler/draft/feature_graph.h"

namespace meshplan {

/// What a class of dims is made of. The numbers are indices into the graph.
struct DimClass {
  std::optional<size_t> wholeAt;    ///< the first call that needs it whole
  std::vector<size_t> producedBy;   ///< linear weights, and tables of the model's own indices, that make its features
  std::vector<size_t> contractedBy; ///< linear weights whose input features are in it
  std::vector<size_t> lookedUpBy;   ///< embeddings whose rows are in it
  bool isReduced = false;           ///< by a call that contracts no weight: a norm, a loss
  bool isOutput = false;            ///< some dim of it leaves the model
};

class DimClasses {
public:
  /// Where groups begin, convolutions in groups make features of their own of what is whole: then their weights produce
  /// them.
  explicit DimClasses(const FeatureGraph &graph, bool beginsAtGroups = false);

  /// The number of the class of a dim.
  size_t find(size_t dim) const;
  const DimClass &operator[](size_t number) const { return classes[number]; }

private:
  void unite(size_t left, size_t right);

  mutable std::vector<size_t> parents;
  std::vector<DimClass> classes; ///< by root
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_DIM_CLASSES_H
