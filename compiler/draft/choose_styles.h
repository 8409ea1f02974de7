//===- choose_styles.h - tensor styles from a feature graph -----*- C++ -*-===//
//
// Pure: which modules of a model are divided over a tensor axis, and how.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_DRAFT_CHOOSE_STYLES_H
#define MESHPLAN_COMPILER_DRAFT_CHOOSE_STYLES_H

#include "compiler/draft/feature_graph.h"

namespace meshplan {

enum class DraftStyle {
  colwise,
  rowwise,
  sequence,
  whole, ///< on every rank, from an input that is whole
};

/// A style for a module. Choices of one group stand and fall together.
struct StyleChoice {
  std::string module;
  DraftStyle style = DraftStyle::colwise;
  std::vector<int64_t> parts; ///< of the divided dim of its weights; empty: it is one
  size_t group = 0;
};

/// A module with a weight of two or more dims that stays whole.
struct UndividedModule {
  std::string module;
  std::string reason;
};

struct StyleChoices {
  std::vector<StyleChoice> styles; ///< in program order, one for each module
  std::vector<UndividedModule> undivided;
};

/// Chooses styles:
///
/// - a pair: linear weights that make the features of one class (colwise), and those that contract it (rowwise), if
///   nothing needs the features whole. Where classes share a weight, one that nothing else reduces wins, then the
///   smaller one, then the first one: what a residual stream adds up comes last.
/// - a head: a linear weight whose output features nobody contracts, and which leave the model or are reduced by a loss
///   (colwise)
/// - an embedding that looks up an input of the model (rowwise: its rows are divided), unless it is small beside
/// another
/// - with `sequence`: norms of the features that pairs start from; and weights that stay whole, from whole inputs, if
///   what they make is needed whole where positions meet, as the only key and value head of an attention
StyleChoices chooseStyles(const FeatureGraph &graph, bool sequence);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_CHOOSE_STYLES_H
