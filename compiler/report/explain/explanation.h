//===- explanation.h - why a tensor has its layout --------------*- C++ -*-===//
//
// Plain structs: the explanation of a parameter, a module or a value at the border of one. Filled from a program after
// `partition` (explain), rendered as text and as JSON with stable keys.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_REPORT_EXPLAIN_EXPLANATION_H
#define MESHPLAN_COMPILER_REPORT_EXPLAIN_EXPLANATION_H

#include "compiler/support/diagnostics.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace meshplan {

/// A statement of the plan. Without a range, no statement is known.
struct Statement {
  SourceRange range;
  std::string text; ///< "rowwise tp"
};

/// A mesh axis, or a sub-axis "tp:(1)2", with its number of shards.
struct AxisName {
  std::string name;
  int64_t size = 1;
};

/// One dim of a tensor.
struct DimExplanation {
  int64_t extent = 0;
  std::vector<AxisName> axes;       ///< major to minor; empty: whole
  std::vector<Statement> reasons;   ///< for each axis, the statement that caused it
  std::vector<int64_t> localExtent; ///< for each shard; one entry if all are equal
};

/// A partial tensor: the ranks have not reduced their contributions.
struct PartialExplanation {
  std::string reduction; ///< "sum", "max" or "min"
  std::vector<AxisName> axes;
  std::vector<Statement> reasons;
};

/// The flat shards of data parallelism: the elements that the split dims leave on a rank, in row-major order, in equal
/// pieces.
struct FlatExplanation {
  std::vector<AxisName> axes;
  std::vector<Statement> reasons;
  int64_t elements = 0; ///< elements that the split dims leave on the largest rank
  int64_t piece = 0;    ///< elements of the largest piece
};

struct TensorExplanation {
  std::string dtype;
  std::string layout; ///< "[4 over dp, 96, 576], partial over tp"
  std::vector<DimExplanation> dims;
  std::optional<PartialExplanation> partial;
  int64_t globalBytes = 0;
  int64_t rankBytes = 0; ///< on the largest rank
  std::optional<FlatExplanation> flat;
};

/// The producer or consumer of a value: an operator in a module, or a parameter, constant, input or output of the
/// model.
struct End {
  std::string what; ///< "aten.linear.default", "parameter", ...
  std::string name; ///< path of the module, or the name
  std::string layout;
};

/// One collective, or a slice, of a reshard.
struct StepExplanation {
  std::string kind;           ///< "all_reduce"
  std::vector<AxisName> axes; ///< of the communicator
  int64_t bytes = 0;          ///< sent and received by the largest rank (trafficBytes)
};

/// A reshard: a value whose consumers need another layout than that of its producer.
struct ReshardExplanation {
  End producer;
  std::vector<End> consumers;
  std::vector<StepExplanation> steps;
  Statement statement;          ///< the statement that caused it
  std::vector<Statement> needs; ///< other statements that caused the target axes
  int64_t count = 1;            ///< number of equal reshards in equal layers; the first one is described
};

/// A parameter of a module, or a value at its border.
struct MemberExplanation {
  std::string name; ///< of a parameter; empty at a border
  TensorExplanation tensor;
  Statement statement;   ///< of a parameter
  int64_t count = 1;     ///< of a parameter: number of equal ones in equal layers, named like "layers.*.weight"
  std::vector<End> ends; ///< at a border: the producer of an input, the consumers of an output
};

/// A loss that the plan redefines.
struct LossExplanation {
  Statement statement;
  std::string meaning; ///< the definition of the loss
};

/// What a training step adds for a parameter or a module to the forward pass, in the last microbatch.
struct TrainingExplanation {
  std::optional<TensorExplanation> gradient; ///< of a parameter, before it is reduced over ranks
  std::vector<MemberExplanation> states;     ///< of a parameter: the optimizer states, by name ("exp_avg")
  std::vector<ReshardExplanation> reshards;
};

struct Explanation {
  /// "parameter", "buffer", "input", "output", "module", "module input", "module output"
  std::string kind;
  std::string path;                         ///< as requested
  std::vector<std::string> names;           ///< of a parameter; more than one if the model ties it
  std::optional<TensorExplanation> tensor;  ///< for everything but a module
  Statement statement;                      ///< of a parameter: the style of its module
  std::optional<TensorExplanation> arrives; ///< of a module's input: its producer's layout, if it is not `tensor`'s
  std::vector<End> ends;                    ///< of a module's input or output: see MemberExplanation
  std::vector<MemberExplanation> parameters, inputs, outputs; ///< of a module
  std::optional<LossExplanation> loss; ///< of an output that is a redefined loss; set by the owner of the bound plan
  std::vector<ReshardExplanation> reshards;    ///< of the forward pass
  std::optional<TrainingExplanation> training; ///< of a trained parameter, and of modules
};

/// As text, with the lines of the plan.
void printExplanation(const Explanation &explanation, const Sources &sources, llvm::raw_ostream &stream);

/// As JSON with stable keys.
llvm::json::Value explanationToJson(const Explanation &explanation, const Sources &sources);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_EXPLAIN_EXPLANATION_H
