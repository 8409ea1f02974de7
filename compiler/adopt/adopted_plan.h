//===- adopted_plan.h - the content of a foreign plan -----------*- C++ -*-===//
//
// The common result of all readers of `meshplan init --from`, as plain data: layouts, sizes and numbers in the words of
// the language, each with the foreign setting and the location that it was taken from. Decisions that depend on the
// model, such as which modules are layers or which dtype its parameters have, are made where the draft is written.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_ADOPT_ADOPTED_PLAN_H
#define MESHPLAN_COMPILER_ADOPT_ADOPTED_PLAN_H

#include "compiler/support/diagnostics.h"
#include <optional>

namespace meshplan {

/// Words of the language, and the foreign setting that they were taken from: "bucket 25 MiB", "bucket_cap_mb".
struct AdoptedText {
  std::string text; ///< empty if the setting is absent
  std::string from;
  SourceRange range = {};
};

/// A number, with the setting and the location that it was taken from.
struct AdoptedNumber {
  int64_t value = 1;
  std::string from;
  SourceRange range = {};
};

/// A clause for one module: "colwise tp, output replicate", "parameter { down_proj: split 2 over tp }".
struct AdoptedStyle {
  std::string module;
  std::string clause;
  std::string from;      ///< the foreign word, if it differs
  bool divides = true;   ///< false: the clause replicates the module
  bool sequence = false; ///< splits activations along the sequence
};

/// A module that the foreign plan splits in a way that the language cannot express.
struct AdoptedWhole {
  std::string module;
  std::string reason;
};

/// Sizes of the mesh, as far as they are stated.
struct AdoptedMesh {
  std::optional<AdoptedNumber> data;     ///< total number of ranks with samples of their own
  std::optional<AdoptedNumber> replicas; ///< number of groups of these that hold the same shards
  std::optional<AdoptedNumber> tensor;
};

/// How data-parallel ranks share parameters, gradients and optimizer states.
struct AdoptedData {
  AdoptedText shard;                    ///< "parameters, gradients, optimizer"; empty: nothing is sharded
  bool byUnits = true;                  ///< sharded tensors are gathered and reduced layer by layer
  std::vector<std::string> unitClasses; ///< classes of the modules that are units; empty: the layers
  AdoptedText keep;                     ///< units stay gathered between forward and backward pass
  std::vector<AdoptedText> options;
  AdoptedText reduceEach; ///< "reduce each microbatch" or "last"; written if there are microbatches
};

struct AdoptedPrecision {
  AdoptedText stored;  ///< the stated dtype of parameters: "bf16"
  AdoptedText compute; ///< dtypes
  AdoptedText reduce;
  AdoptedText state;
  AdoptedText master;    ///< "f32": a master copy of 16-bit parameters
  AdoptedText lossScale; ///< the whole option
};

// Recompute of activations in the backward pass.
struct AdoptedRecompute {
  std::string from;
  int64_t layers = 0; ///< the first layers only; 0: all
  std::vector<std::string> keep;
};

struct AdoptedOptimizer {
  std::string kind;
  std::string from;
  std::vector<AdoptedText> options; ///< "lr 3e-4", "schedule cosine { ... }"
  AdoptedText vectorsDoNotDecay;    ///< parameters with at most one dim have no weight decay
};

/// Modules whose parameters are not trained.
struct AdoptedFreeze {
  std::vector<std::string> modules;
  std::string from;
};

struct AdoptedTraining {
  std::optional<AdoptedNumber> globalBatch; ///< samples of a step
  std::optional<AdoptedNumber> microBatch;  ///< samples that a rank computes at once
  AdoptedData data;
  AdoptedPrecision precision;
  std::optional<AdoptedRecompute> recompute;
  std::vector<AdoptedFreeze> freeze;
  std::optional<AdoptedOptimizer> optimizer;
  AdoptedText clip;      ///< "clip_grad_norm 1.0"
  AdoptedText nonfinite; ///< "nonfinite gradients stop"
  AdoptedText lossUnit;  ///< "token"
  AdoptedText capacity;  ///< "capacity 1.5"
  AdoptedText balance;   ///< "balance bias 0.001"
  AdoptedText halves;    ///< "overlap { halves }"
};

struct AdoptedPlan {
  std::vector<std::string> notes;                  ///< comments at the top of the plan
  std::optional<std::vector<AdoptedStyle>> styles; ///< nullopt: styles are chosen from the graph
  std::vector<AdoptedWhole> whole;
  std::vector<std::string> wholeInputs; ///< modules that read their inputs whole
  bool sequence = false;                ///< norms split the sequence
  AdoptedMesh mesh;
  AdoptedTraining training;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_ADOPTED_PLAN_H
