//===- training_syntax.h - training in a plan as it is written ---*- C++ -*-===//
//
// The statements of syntax.h for training: sharding over data-parallel ranks, dtypes, the optimizer, trained parameters
// and their initial values.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_TRAINING_SYNTAX_H
#define MESHPLAN_COMPILER_FRONTEND_TRAINING_SYNTAX_H

#include "compiler/frontend/syntax_values.h"

#include <optional>
#include <string>
#include <vector>

namespace meshplan {

/// `data dp on model.layers.** { ... }`
struct DataStatement {
  std::vector<Word> axes;
  std::vector<PathPattern> paths; ///< empty: all parameters that no other block names
  std::vector<Option> options;
  SourceRange range;
};

/// `precision { master f32 }`
struct PrecisionStatement {
  std::vector<Option> options;
  SourceRange range;
};

/// `recompute model.layers.* keep attention`
struct RecomputeStatement {
  std::vector<PathPattern> paths;
  std::vector<Word> keep;
  SourceRange range;
};

/// `reserve 1.25`, `capacity 1.5 on model.layers.*`, `balance bias 0.001 on model.layers.*`
struct RoutingStatement {
  Word keyword;
  std::optional<Word> subject; ///< of `balance`: `bias`
  Number number;
  std::vector<PathPattern> paths; ///< empty: all layers with experts
  std::string text;               ///< without the paths
  SourceRange range;
};

/// `optimizer adamw { lr 3e-4 }`
struct OptimizerStatement {
  Word name;
  std::vector<Option> options;
  SourceRange range;
};

/// `clip_grad_norm 1.0`
struct ClipGradNormStatement {
  Number norm;
  SourceRange range;
};

/// `nonfinite gradients stop`
struct NonfiniteStatement {
  Word subject; ///< `gradients`
  Word action;  ///< `stop`, `skip`
  SourceRange range;
};

/// `freeze P`, `train only P`, `unused P`
struct TrainableStatement {
  enum class Kind { Freeze, TrainOnly, Unused };
  Kind kind = Kind::Freeze;
  std::vector<PathPattern> paths;
  SourceRange range;
};

/// `override lm_head.weight normal 0.01` inside `init { ... }`; `rest` has no path.
struct InitEntry {
  std::optional<PathPattern> path;
  bool isOverride = false;
  std::vector<Operand> distribution; ///< empty if it is not a sequence of words and numbers
  SourceRange range;
  std::string text; ///< as written, spaces normalized
};

/// `init { **.*norm.weight ones; rest normal 0.02 }`
struct InitStatement {
  std::vector<InitEntry> entries;
  SourceRange range;
};

/// `overlap { require gradients hidden >= 90 %; forbid exposed > 5 ms }`
struct OverlapStatement {
  std::vector<Option> clauses;
  SourceRange range;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_TRAINING_SYNTAX_H
