//===- explanation.h - why a tensor has its layout --------------*- C++ -*-===//
//
// Plain structs: what `meshplan explain` says of a parameter, a module or a
// value at the border of one. Filled from a program behind `partition`
// (explain), rendered as text and as JSON with stable keys.
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

/// A statement of the plan. Without a place nothing in the plan is known to say so.
struct Statement {
  SourceRange range;
  std::string text; ///< "rowwise tp"
};

/// A mesh axis, or "tp:(1)2", with the number of shards that it makes.
struct AxisName {
  std::string name;
  int64_t size = 1;
};

/// One dim of a tensor.
struct DimExplanation {
  int64_t extent = 0;
  std::vector<AxisName> axes;       ///< major to minor; empty: whole
  std::vector<Statement> reasons;   ///< for each axis the statement behind it
  std::vector<int64_t> localExtent; ///< for each shard; a single one if all are equal
};

/// What ranks hold of a tensor whose parts they have not added up.
struct PartialExplanation {
  std::string reduction; ///< "sum", "max" or "min"
  std::vector<AxisName> axes;
  std::vector<Statement> reasons;
};

/// What data parallelism shards: the elements that the dims leave to a rank, in row-major order, in even pieces.
struct FlatExplanation {
  std::vector<AxisName> axes;
  std::vector<Statement> reasons;
  int64_t elements = 0; ///< that the dims leave to the largest rank
  int64_t piece = 0;    ///< elements of the largest piece
};

struct TensorExplanation {
  std::string dtype;
  std::string layout; ///< "[4 over dp, 96, 576], partial over tp"
  std::vector<DimExplanation> dims;
  std::optional<PartialExplanation> partial;
  int64_t globalBytes = 0;
  int64_t rankBytes = 0; ///< of the largest rank
  std::optional<FlatExplanation> flat;
};

/// Who makes or takes a value: an operator in a module, or a parameter, constant, input or output of the model.
struct End {
  std::string what; ///< "aten.linear.default", "parameter", ...
  std::string name; ///< path of the module, or the name
  std::string layout;
};

/// One collective, or a slice, of a reshard.
struct StepExplanation {
  std::string kind;           ///< "all_reduce"
  std::vector<AxisName> axes; ///< of the communicator
  int64_t bytes = 0;          ///< that the largest rank sends and receives (trafficBytes)
};

/// A value that moves between the layout of its producer and that which consumers need.
struct ReshardExplanation {
  End producer;
  std::vector<End> consumers;
  std::vector<StepExplanation> steps;
  Statement statement;          ///< that caused it
  std::vector<Statement> needs; ///< other statements behind the places to which axes move
  int64_t count = 1;            ///< equal ones in equal layers, which are described as the first of them
};

/// A parameter of a module or a value at its border.
struct MemberExplanation {
  std::string name; ///< of a parameter; empty at a border
  TensorExplanation tensor;
  Statement statement;   ///< of a parameter
  int64_t count = 1;     ///< of a parameter: equal ones in equal layers, under a name like "layers.*.weight"
  std::vector<End> ends; ///< at a border: the producer of an input, the consumers of an output
};

/// A loss that the plan redefines.
struct LossExplanation {
  Statement statement;
  std::string meaning; ///< what the loss is
};

/// What a training step has of a parameter or a module behind the forward pass, in the last microbatch.
struct TrainingExplanation {
  std::optional<TensorExplanation> gradient; ///< of a parameter, as ranks make it
  std::vector<MemberExplanation> states;     ///< of a parameter: what the optimizer keeps, by its name ("exp_avg")
  std::vector<ReshardExplanation> reshards;
};

struct Explanation {
  /// "parameter", "buffer", "input", "output", "module", "module input", "module output"
  std::string kind;
  std::string path;                         ///< as asked for
  std::vector<std::string> names;           ///< of a parameter; more than one if the model ties it
  std::optional<TensorExplanation> tensor;  ///< of everything but a module
  Statement statement;                      ///< of a parameter: the style of its module
  std::optional<TensorExplanation> arrives; ///< of a module's input: as its producer leaves it, if that is not `tensor`
  std::vector<End> ends;                    ///< of a module's input or output: see MemberExplanation
  std::vector<MemberExplanation> parameters, inputs, outputs; ///< of a module
  std::optional<LossExplanation> loss; ///< of that output, where the plan redefines it; given by who has bound the plan
  std::vector<ReshardExplanation> reshards;    ///< of the forward pass
  std::optional<TrainingExplanation> training; ///< of a parameter that is trained, and of modules where any is
};

/// As people read it, with the lines of the plan.
void printExplanation(const Explanation &explanation, const Sources &sources, llvm::raw_ostream &stream);

/// With stable keys.
llvm::json::Value explanationToJson(const Explanation &explanation, const Sources &sources);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_EXPLAIN_EXPLANATION_H
