//===- bind.h - a plan bound to a model --------------------------*- C++ -*-===//
//
// Resolves the words of a plan against a model: which modules an entry matches, which axes a style names, which extent
// a dim has. The checks use names, shapes and dtypes; whether a module can take its style is checked by phases that
// know its op.
//
// Modules, parameters, inputs and outputs are indices into the ModelOutline, axes as in AxisList. `text` is the
// statement as written, for messages.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_BIND_H
#define MESHPLAN_COMPILER_FRONTEND_BIND_H

#include "compiler/frontend/bound_training.h"
#include "compiler/frontend/evaluate.h"
#include "compiler/frontend/model_outline.h"
#include "compiler/frontend/syntax.h"
#include "runtime/schema/weight_pieces.h"
#include "llvm/ADT/StringMap.h"

#include <compare>
#include <optional>
#include <string>
#include <vector>

namespace meshplan {

enum class StyleKind { Colwise, Rowwise, Sequence, Expert, Within, Replicate };

/// The word of the language for a style: `colwise`.
llvm::StringRef styleName(StyleKind kind);

/// One part of a fused weight: `kv 8` has the name `kv` and the count 8, its size relative to the other parts. Each
/// part of `parts 3` has the count 1 and no name.
struct StylePart {
  std::string name;
  int64_t count = 0;
};

/// `colwise tp parts 3`
struct BoundStyle {
  StyleKind kind = StyleKind::Replicate;
  AxisList axes;                ///< major to minor; empty for `replicate`
  int64_t dim = 1;              ///< for `sequence`: the dim that is split
  std::vector<StylePart> parts; ///< empty if not stated
  SourceRange range;
  std::string text;
};

/// Axes that split one dim of a tensor.
struct DimSplit {
  int64_t dim = 0;
  AxisList axes;
};

/// A layout: the dims that are split. All other dims are whole.
struct BoundLayout {
  std::vector<DimSplit> splits;
  std::optional<size_t> rank;     ///< number of dims, if the plan lists them
  std::vector<std::string> names; ///< names of listed dims; empty for an unnamed dim
  std::vector<StylePart> parts;   ///< for a parameter: parts of the one split dim; empty if not stated
  SourceRange range;
  std::string text;
};

/// `output replicate`: the layout of one input or output of a module.
struct BoundBorder {
  bool isInput = false;
  int64_t index = 0;
  BoundLayout layout;
};

/// A module with its styles. No two styles of a module share an axis.
struct BoundModule {
  size_t module = 0;
  std::vector<BoundStyle> styles;
  std::vector<BoundBorder> borders;
  size_t entry = 0;  ///< index into BoundPlan::entries: the entry of the styles, or of a border without styles
  SourceRange range; ///< of that entry
};

/// A parameter with a layout from `parameter { ... }`.
struct BoundParameter {
  size_t parameter = 0;
  BoundLayout layout;
  size_t entry = 0;
};

/// A parameter under its name in a module.
struct NamedParameter {
  size_t module = 0;
  size_t parameter = 0;

  auto operator<=>(const NamedParameter &) const = default;
};

/// A parameter with a style of its own. The styles of the module around it do not apply to it.
struct BoundParameterStyle {
  NamedParameter name;
  std::vector<BoundStyle> styles;
  size_t entry = 0;
};

/// The modules and parameters that an entry of the plan matches.
struct EntryMatch {
  std::string path; ///< whole pattern, `model.layers.*.mlp.down_proj`, or `rest`
  bool isRest = false;
  bool isOverride = false;
  std::vector<size_t> modules;            ///< modules that the entry applies to, in model order
  std::vector<NamedParameter> parameters; ///< parameters that the path itself names, sorted
  size_t parameterModules = 0;            ///< number of `modules` that hold parameters
  SourceRange range;
};

struct BoundDim {
  std::string name;   ///< empty for an unnamed dim
  int64_t extent = 0; ///< in one call of the model: with `microbatches N mean`, that of one microbatch
  AxisList axes;
  SourceRange range; ///< none if the plan does not declare the value
};

/// A graph input; all inputs of the model are listed, in order.
struct BoundInput {
  size_t input = 0;
  std::vector<BoundDim> dims;
  SourceRange range;
};

/// A graph output with a requested layout.
struct BoundOutput {
  size_t output = 0;
  std::vector<BoundDim> dims;
  SourceRange range;
};

/// The unit over which losses are averaged.
enum class LossUnit {
  Model,    ///< the loss as the model computes it
  Token,    ///< each target of the batch that is not ignored
  Sequence, ///< each sample: the mean over its targets
};

/// The word of the language: `token`; empty for the model's own loss.
llvm::StringRef lossUnitName(LossUnit unit);

/// An explanation of the unit, for messages.
llvm::StringRef lossUnitMeaning(LossUnit unit);

struct BoundLoss {
  size_t output = 0;
  SourceRange range;
  LossUnit unit = LossUnit::Model;
};

/// The statement: `loss loss per token`.
std::string lossText(const BoundLoss &loss, const ModelOutline &model);

struct BoundMicrobatches {
  int64_t count = 1;
  bool mean = false; ///< the model is called for each microbatch, with its part of the batch
  SourceRange range;

  /// Calls of the model in a step, each with an equal part of the batch.
  int64_t calls() const { return mean ? count : 1; }
};

/// A symbol of the archive and the extent that the plan gives it.
struct BoundSymbol {
  std::string symbol;
  int64_t extent = 0;
  SourceRange range;
};

/// `weight_names { lm_head.weight: output.weight }`: the names of one parameter or buffer in weight files.
struct BoundWeightName {
  std::string tensor;              ///< first name of the parameter, or name of the buffer
  std::optional<size_t> parameter; ///< none for a buffer
  WeightPieces pieces;
  std::string text; ///< the name as written, of all tensors together
  SourceRange range;
};

/// How much of the model the plan's entries name.
struct Coverage {
  size_t parameterModules = 0; ///< modules that hold parameters
  size_t otherModules = 0;     ///< modules that hold none
  size_t byEntries = 0;        ///< modules with parameters that an entry matches
  size_t byRest = 0;           ///< modules with parameters that are left to `rest`
};

struct BoundPlan {
  std::string name;
  std::string modelFile; ///< as written; empty if the plan names none
  SourceRange modelRange;
  Environment environment;
  std::vector<EntryMatch> entries;
  std::vector<BoundModule> modules;                 ///< sorted by module
  std::vector<BoundParameter> parameters;           ///< sorted by parameter
  std::vector<BoundParameterStyle> parameterStyles; ///< sorted by name
  std::vector<BoundInput> inputs;
  std::vector<BoundOutput> outputs;
  std::vector<BoundSymbol> symbols;
  std::vector<BoundWeightName> weightNames; ///< at most one of a tensor
  std::optional<BoundLoss> loss;
  BoundMicrobatches microbatches;
  std::vector<BoundData> data;
  std::optional<BoundPrecision> precision;
  std::vector<BoundRecompute> recomputes;
  std::vector<BoundRouting> routings;
  std::optional<BoundOptimizer> optimizer;
  std::optional<BoundClip> clipGradNorm;
  std::optional<BoundNonfinite> nonfinite; ///< none: gradients are not checked
  std::vector<BoundTrainable> trainable;
  std::vector<ParameterUse> parameterUse;     ///< by parameter; also without training
  std::vector<SourceRange> parameterUseRange; ///< deciding statement; none if trained, or frozen by the archive
  std::optional<BoundInit> init;              ///< none: training needs weights
  std::vector<BoundOverlapClause> overlap;    ///< what the estimated timeline must keep to
  std::optional<BoundSplit> split;            ///< none: nothing is split
  std::optional<SourceRange> halves;          ///< the clause that allows halves of a batch beside each other
  Coverage coverage;
};

/// `tables.1`: the path of a parameter under one of its names.
std::string parameterPath(const ModelOutline &model, const NamedParameter &name);

/// A list of modules whose parameters an entry divides by modules.
struct ListToStack {
  std::string path;
  SourceRange range; ///< of the path in the entry
};

/// Modules without parameters of their own to which an entry gives `expert` or `within`. Before a plan is bound, the
/// parameters of the modules in them are to be stacked, as those of other mixtures are.
std::vector<ListToStack> listsToStack(const Syntax &syntax, const ModelOutline &model);

/// Binds a plan. Reports all errors; the result is empty if there is one.
std::optional<BoundPlan> bindPlan(const Syntax &syntax, const ModelOutline &model,
                                  llvm::ArrayRef<Definition> definitions, Diagnostics &diagnostics);

/// The extent of each dim that an input of the plan names.
llvm::StringMap<int64_t> dimExtents(const BoundPlan &plan);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_BIND_H
