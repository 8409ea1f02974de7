//===- syntax.h - a plan as it is written ------------------------*- C++ -*-===//
//
// The statements of a `.plan` file as plain values, each with its location in the file. Names are not resolved: options
// and styles are words that may be unknown. `bind.h` resolves them against a model.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_SYNTAX_H
#define MESHPLAN_COMPILER_FRONTEND_SYNTAX_H

#include "compiler/frontend/syntax_values.h"
#include "compiler/frontend/training_syntax.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace meshplan {

/// `model "smollm2.pt2"`
struct ModelStatement {
  std::string file;
  SourceRange fileRange;
  SourceRange range;
};

/// `dp = world / tp`
struct AxisDefinition {
  Word name;
  Expression size;
};

/// `mesh dp = world / tp, tp = 3`, outermost first.
struct MeshStatement {
  std::vector<AxisDefinition> axes;
  SourceRange range;
};

/// `fold (dp, tp) as (edp = 4, ep = 8)`, major to minor.
struct FoldStatement {
  std::vector<Word> axes; ///< of the mesh
  std::vector<AxisDefinition> names;
  SourceRange range;
};

/// `let name = value`
struct LetStatement {
  Word name;
  Expression value;
  SourceRange range;
};

/// `batch = 16 over dp` in a list of dims. The name is `_` for an unnamed dim.
struct DimSyntax {
  Word name;
  std::optional<Expression> extent;
  std::vector<Word> axes; ///< empty: not split
  SourceRange range;
};

/// `input input_ids, labels: [batch over dp, seq]`; `output` likewise.
struct ValueStatement {
  bool isInput = true;
  std::vector<Word> names;
  std::vector<DimSyntax> dims;
  SourceRange range;
};

/// `loss loss`, `loss 0 per token`
struct LossStatement {
  Word output;
  std::optional<Word> unit; ///< none: the loss as the model computes it
  SourceRange range;
};

/// `microbatches 4 mean`
struct MicrobatchesStatement {
  Expression count;
  bool mean = false;
  SourceRange range;
};

/// A layout at the border of a module: `replicate`, `split 1 over tp` or a list
/// of dims.
struct LayoutSyntax {
  struct Split {
    Expression dim;
    std::vector<Word> axes;
  };
  std::variant<Word, Split, std::vector<DimSyntax>> layout;
  SourceRange range;
};

/// `kv 8` of `parts (heads 64, kv 8)`; the name may be empty.
struct PartSyntax {
  std::string name;
  Expression count;
  SourceRange range;
};

/// `parts 3`, `parts (heads 64, kv 8, kv 8)`, `dim 2`: one value, or a list.
struct StyleOption {
  Word name;
  std::optional<Expression> value;
  std::vector<PartSyntax> list;
  SourceRange range;
};

/// `colwise tp parts 3`
struct StyleClause {
  Word style;
  std::vector<Word> axes;
  std::vector<StyleOption> options;
  SourceRange range;
  std::string text; ///< as written, spaces normalized
};

/// `output replicate`, `input 1 split 1 over tp`
struct BorderClause {
  bool isInput = false;
  std::optional<Word> index; ///< number of the input or output; none: the first
  LayoutSyntax layout;
  SourceRange range;
  std::string text;
};

/// `weight: split 0 over tp parts 3` inside `parameter { ... }`
struct PlacementSyntax {
  Word parameter;
  LayoutSyntax layout;
  std::optional<StyleOption> parts;
  SourceRange range;
  std::string text;
};

/// `parameter { weight: split 0 over tp }`
struct ParameterClause {
  std::vector<PlacementSyntax> placements;
  SourceRange range;
};

using Clause = std::variant<StyleClause, BorderClause, ParameterClause>;

/// `override self_attn.o_proj: rowwise tp, output replicate`. `blocks` are the patterns of the enclosing blocks,
/// outermost first; `rest` has no path.
struct EntryStatement {
  std::vector<PathPattern> blocks;
  std::optional<PathPattern> path; ///< none for `rest`
  bool isOverride = false;
  std::vector<Clause> clauses;
  SourceRange pathRange; ///< of the path, or of the word `rest`
  SourceRange range;
};

/// `model.layers.* { ... }`. The entries inside are in Syntax::entries. The block itself is kept so that binding can
/// report one that matches nothing.
struct BlockStatement {
  std::vector<PathPattern> blocks; ///< the enclosing blocks and, last, its own pattern
  SourceRange range;
};

/// `model.layers.*.mlp.experts.down_proj: stack model.layers.*.experts.*.w2.weight` inside `weight_names { ... }`
struct WeightName {
  PathPattern parameters;
  std::optional<Word> how; ///< `stack`
  PathPattern name;
  std::vector<StyleOption> options;
  SourceRange range;
};

/// `weight_names { lm_head.weight: output.weight }`
struct WeightNamesStatement {
  std::vector<WeightName> entries;
  SourceRange range;
};

/// A statement that the language reserves for later. It parses; binding refuses it, and the error names its keyword.
struct ReservedStatement {
  Word keyword;
  SourceRange range;
};

/// A whole plan. Statements of one kind are in the order of the file.
struct Syntax {
  Word name;
  std::vector<ModelStatement> models;
  std::vector<MeshStatement> meshes;
  std::vector<FoldStatement> folds;
  std::vector<LetStatement> lets;
  std::vector<ValueStatement> values;
  std::vector<LossStatement> losses;
  std::vector<MicrobatchesStatement> microbatches;
  std::vector<EntryStatement> entries;
  std::vector<BlockStatement> blocks;
  std::vector<DataStatement> data;
  std::vector<PrecisionStatement> precisions;
  std::vector<RecomputeStatement> recomputes;
  std::vector<RoutingStatement> routings;
  std::vector<OptimizerStatement> optimizers;
  std::vector<ClipGradNormStatement> clips;
  std::vector<NonfiniteStatement> nonfinites;
  std::vector<TrainableStatement> trainable;
  std::vector<InitStatement> inits;
  std::vector<OverlapStatement> overlaps;
  std::vector<WeightNamesStatement> weightNames;
  std::vector<ReservedStatement> reserved;
  SourceRange range; ///< of `plan NAME`
};

/// Reads a plan. Reports every syntax error; then the result is empty.
std::optional<Syntax> parsePlan(const SourceBuffer &source, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_SYNTAX_H
