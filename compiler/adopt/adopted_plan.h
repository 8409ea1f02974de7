//===- adopted_plan.h - what a plan of others says --------------*- C++ -*-===//
//
// The common result of all that `meshplan init --from` reads, as plain data: layouts, sizes and numbers in the words
// of the language, each with the place or the words that it was taken from. What depends on the model, such as which
// modules are layers or which dtype its parameters have, is decided where the draft is written.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ADOPT_ADOPTED_PLAN_H
#define MESHPLAN_COMPILER_ADOPT_ADOPTED_PLAN_H

#include "compiler/support/diagnostics.h"
#include <optional>

namespace meshplan {

/// Words of the language, and what they were taken from: "bucket 25 MiB", "bucket_cap_mb".
struct Taken {
  std::string text; ///< empty where nothing is said
  std::string from;
  SourceRange range = {};
};

/// A number with where it stands.
struct TakenNumber {
  int64_t value = 1;
  std::string from;
  SourceRange range = {};
};

/// A clause for one module: "colwise tp, output replicate", "parameter { down_proj: split 2 over tp }".
struct AdoptedStyle {
  std::string module;
  std::string clause;
  std::string from;      ///< the foreign word where it is another one
  bool divides = true;   ///< false: the clause says that the module stays whole
  bool sequence = false; ///< divides activations along the sequence
};

/// A module that the foreign plan divides in a way that a plan has no word for.
struct AdoptedWhole {
  std::string module;
  std::string reason;
};

/// Sizes of the mesh as far as they are said.
struct AdoptedMesh {
  std::optional<TakenNumber> data;     ///< ranks with samples of their own, in all
  std::optional<TakenNumber> replicas; ///< of them, groups that hold the same shards
  std::optional<TakenNumber> tensor;
};

/// How ranks with samples of their own share what is equal on them.
struct AdoptedData {
  Taken shard;                          ///< "parameters, gradients, optimizer"; empty: nothing is shared out
  bool byUnits = true;                  ///< what is shared out is moved layer by layer
  std::vector<std::string> unitClasses; ///< classes of the modules that are units; none: the layers
  Taken keep;                           ///< units stay gathered between the passes
  std::vector<Taken> options;
  Taken reduceEach; ///< "reduce each microbatch" or "last"; said where there are microbatches
};

struct AdoptedPrecision {
  Taken stored;  ///< the dtype that parameters are said to have: "bf16"
  Taken compute; ///< dtypes
  Taken reduce;
  Taken state;
  Taken master;    ///< "f32": a copy of parameters of 16 bits
  Taken lossScale; ///< the whole option
};

struct AdoptedRecompute {
  std::string from;
  int64_t layers = 0; ///< the first ones; 0: all
  std::vector<std::string> keep;
};

struct AdoptedOptimizer {
  std::string kind;
  std::string from;
  std::vector<Taken> options; ///< "lr 3e-4", "schedule cosine { ... }"
  Taken vectorsDoNotDecay;    ///< parameters of one dim or none have no weight decay
};

/// Modules whose parameters are not trained.
struct AdoptedFreeze {
  std::vector<std::string> modules;
  std::string from;
};

struct AdoptedTraining {
  std::optional<TakenNumber> globalBatch; ///< samples of a step
  std::optional<TakenNumber> microBatch;  ///< of them, those that a rank computes at once
  AdoptedData data;
  AdoptedPrecision precision;
  std::optional<AdoptedRecompute> recompute;
  std::vector<AdoptedFreeze> freeze;
  std::optional<AdoptedOptimizer> optimizer;
  Taken clip;      ///< "clip_grad_norm 1.0"
  Taken nonfinite; ///< "nonfinite gradients stop"
  Taken lossUnit;  ///< "token"
};

struct AdoptedPlan {
  std::vector<std::string> notes;                  ///< comments at the head of the plan
  std::optional<std::vector<AdoptedStyle>> styles; ///< none: styles are found from the graph
  std::vector<AdoptedWhole> whole;
  std::vector<std::string> wholeInputs; ///< modules that read their inputs whole
  bool sequence = false;                ///< norms divide the sequence
  AdoptedMesh mesh;
  AdoptedTraining training;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_ADOPTED_PLAN_H
