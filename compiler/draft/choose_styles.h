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

/// A style for a module, or for one parameter of a module whose weights need several. Choices of one group stand and
/// fall together.
struct StyleChoice {
  std::string path;
  DraftStyle style = DraftStyle::colwise;
  std::vector<int64_t> parts; ///< of the divided dim of its weights; empty: it is one
  size_t group = 0;
  bool isOfHeads = false; ///< an attention reads or makes the divided features
};

/// A module with a weight of two or more dims that stays whole, or such a weight beside others that do not.
struct UndividedModule {
  std::string path;
  std::string reason;
};

struct StyleChoices {
  std::vector<StyleChoice> styles; ///< in program order, one for each path
  std::vector<UndividedModule> undivided;
};

/// Chooses styles:
///
/// - a pair: linear weights that make the features of one class (colwise), and those that contract it (rowwise), if
///   nothing needs the features whole. Where classes share a weight, one that nothing else reduces wins (what a
///   residual stream adds up comes last), then one that is no bottleneck, of whose weights all have several times as
///   many features on their other side (a pair of an adapter would leave whole what it adapts), then heads of an
///   attention, then the smaller class, then the first one. Other weights of two or more dims that have these features
///   as their own, such as those of a depthwise convolution between the two, go with them
///   (colwise).
/// - a pair that begins with convolutions in groups, of features that are whole
/// - a head: a linear weight whose output features nobody contracts, and which leave the model or are reduced by a loss
///   (colwise)
/// - an embedding that looks up an input of the model (rowwise: its rows are divided), unless it is small beside
/// another
/// - with `sequence`: norms of the features that pairs start from; and weights that stay whole, from whole inputs, if
///   what they make is needed whole where positions meet, as the only key and value head of an attention
StyleChoices chooseStyles(const FeatureGraph &graph, bool sequence);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_CHOOSE_STYLES_H
