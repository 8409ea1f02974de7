//===- choose_styles.h - tensor styles from a feature graph -----*- C++ -*-===//
//
// Pure: which modules of a model are split over a tensor axis, and how.
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
  expert, ///< the experts of a mixture
  whole,  ///< replicated, computed from a replicated input
};

/// A style for a module, or for one parameter of a module whose weights need different styles. Choices of one group are
/// kept or dropped together.
struct StyleChoice {
  std::string path;
  DraftStyle style = DraftStyle::colwise;
  std::vector<int64_t> parts; ///< sizes of the parts of the split dim of its weights; empty: one part
  size_t group = 0;
  bool isOfHeads = false; ///< an attention reads or produces the split features
};

/// A module with a weight of two or more dims that is replicated, or such a weight of a module whose other weights are
/// split.
struct UndividedModule {
  std::string path;
  std::string reason;
};

struct StyleChoices {
  std::vector<StyleChoice> styles; ///< in program order, one for each path
  std::vector<UndividedModule> undivided;
  std::vector<Mixture> fewExperts; ///< of which not every rank could have some, although samples are split
};

/// What the axes of the mesh allow.
struct StyleRequest {
  std::optional<int64_t> tensorRanks; ///< over which weights may be split; nothing if the mesh has no axis for them
  int64_t dataRanks = 1;              ///< over which samples are split
  bool sequence = false;              ///< norms split the sequence

  /// True if each rank can have some of so many experts.
  bool dividesExperts(int64_t experts) const { return dataRanks > 1 && experts / dataRanks >= tensorRanks.value_or(1); }
};

/// Chooses styles. The rules, in order:
///
/// - Experts of a mixture, if samples are split: each rank has some of them, and rows go to the ranks of their experts.
///   Where there are fewer experts than ranks, the features of experts are a pair as below. Without tensor axes this is
///   the only rule.
/// - A pair: linear weights that produce the features of one class (colwise), and linear weights that contract them
///   (rowwise), if no call needs the features whole. Only the contraction communicates, by one sum.
/// - The same for pairs that begin with grouped convolutions, whose input is whole.
/// - A head: a linear weight whose output features no weight contracts, and which are an output of the model or are
///   reduced by a loss (colwise).
/// - An embedding whose indices are an input of the model (rowwise: its rows are split), unless it has few rows
///   compared with another one.
/// - With `sequence`: norms of the features that pairs start from; and linear weights that stay replicated, with
///   replicated inputs, if their output is needed whole along the sequence, such as a single key and value head of an
///   attention.
///
/// Example: an MLP with `up: [h, e]`, `down: [e, h]` between residual additions. The rows of `up`, the activation and
/// the columns of `down` are one class H (size h); the residual stream is another, E (size e). H is produced by `up`
/// and contracted by `down`: a pair, so `up` is colwise and `down` is rowwise. E is a pair too (produced by `down`,
/// contracted by the next `up`), but norms reduce it, so it is considered last, and the weights are already taken.
///
/// Where pairs share a weight, they are tried in this order: classes that nothing but their weights reduces (a residual
/// stream comes last); classes that are not a bottleneck, that is, whose weights do not all have at least four times as
/// many features on the other side (splitting an adapter's inner dim would leave the adapted weights replicated); heads
/// of an attention; classes with fewer weights; program order. Other weights of two or more dims whose own features are
/// in the class, such as those of a depthwise convolution between the two, become colwise with the pair.
StyleChoices chooseStyles(const FeatureGraph &graph, const StyleRequest &request);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_CHOOSE_STYLES_H
