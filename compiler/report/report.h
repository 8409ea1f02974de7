//===- report.h - the costs of a program on a rank --------------*- C++ -*-===//
//
// Plain structs, computed from one program of a sched module. Bytes are exact for parameters, constants and inputs; the
// peak is that of the schedule's memory profile, including temporaries of operators.
//
// "largest" is the rank that holds most, "least" the one that holds least; they differ if a dim does not divide evenly.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_REPORT_REPORT_H
#define MESHPLAN_COMPILER_REPORT_REPORT_H

#include "compiler/report/time_report.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace meshplan {

/// Collectives of one kind. `bytes` is what the largest rank sends and receives, see trafficBytes.
struct CollectiveTotal {
  std::string kind; ///< "all_reduce"
  int64_t count = 0;
  int64_t bytes = 0;
};

/// Collectives of one communicator, by kind in the order of their first occurrence.
struct CommunicatorReport {
  std::string name;
  std::vector<std::string> axes; ///< names of the mesh axes
  int64_t ranks = 1;
  std::vector<CollectiveTotal> collectives;
};

/// Collectives whose communicator includes this axis. One over two axes counts for both.
struct AxisReport {
  std::string name;
  int64_t size = 1;
  std::vector<CollectiveTotal> collectives;
  bool dividesWork = false; ///< some result of the forward pass is split or partial over it
};

/// Collectives of one kind and communicator that one plan statement causes.
struct StatementReport {
  std::string file; ///< empty if no statement is known
  int64_t line = 0;
  int64_t column = 0;
  std::string text; ///< "rowwise tp"
  std::string communicator;
  CollectiveTotal total;
};

/// Partial sums of activations of one 16-bit type, which `precision { activations DTYPE }` applies to.
struct ActivationSums {
  std::string dtype, otherDtype; ///< the type in which they are sent, and the alternative
  int64_t count = 0;             ///< number of collectives
  int64_t bytes = 0;             ///< sent and received by the largest rank
  int64_t otherBytes = 0;        ///< the same in the other type
};

/// A weight or buffer of the model.
struct ParameterReport {
  std::vector<std::string> names;
  std::string dtype;
  std::string layout; ///< "[49152 over tp, 576]"
  int64_t globalBytes = 0;
  int64_t rankBytes = 0; ///< on the largest rank
  bool trainable = false;
  std::vector<int64_t> shape;
  bool buffer = false;
  /// Its treatment by the optimizer, "adamw, group **.*norm"; empty if none, and from buildReport: set by the owner of
  /// the bound plan.
  std::string optimizer;
};

/// Number of elements of the model's weights; a tied weight counts once.
struct WeightCounts {
  int64_t parameters = 0; ///< including trained ones
  int64_t trained = 0;    ///< those with an `optimizer`
  int64_t buffers = 0;
};

struct BytesRange {
  int64_t largest = 0;
  int64_t least = 0;
};

/// Tensors of one kind that a rank holds. Those of equal layers are merged, with `*` for their numbers.
struct HeldReport {
  std::string tensor; ///< name of a parameter, state or input, or the operator that computed it
  std::string module; ///< empty for the root
  int64_t count = 0;
  int64_t bytes = 0; ///< total bytes
};

/// The tensors that the largest rank holds on its device at its peak.
struct PeakReport {
  std::string target; ///< the operator or collective at the peak; sched::peakAtEnd if it is the return of outputs
  std::string module;
  std::vector<HeldReport> held; ///< the ten largest kinds
  HeldReport others;            ///< all others
};

struct MemoryReport {
  BytesRange parameters, constants, inputs, peak, states, accumulators; ///< on the device
  BytesRange hostParameters, hostStates;                                ///< in host memory
  int64_t hostPeak = 0;                                                 ///< of the largest rank
  BytesRange evaluation = {}; ///< of a step: peak of an evaluation between steps, on the device
  std::optional<PeakReport> atPeak = std::nullopt;
};

/// The rows of experts of a rank in one case.
struct ExpertLoad {
  int64_t rows = 0;          ///< of the layer in which a rank has most rows, in one microbatch
  int64_t exchangeBytes = 0; ///< sent and received by the largest rank, in all exchanges of rows
  int64_t peak = 0;          ///< of the device memory of the largest rank
};

/// Layers whose experts are divided: a rank has other numbers of rows in each step.
struct ExpertsReport {
  ExpertLoad balanced;                ///< all experts are chosen equally often
  std::optional<ExpertLoad> reserved; ///< as `reserve` allows; none if no layer has one
  ExpertLoad worst;                   ///< all tokens choose the experts of one rank
};

/// An operator of one target, "aten.gru.input", and how often it runs.
struct RepeatedOperator {
  std::string target;
  int64_t count = 0; ///< in a step, or in one run of another program
};

/// A line of the section "coverage", set by the owner of the bound plan: "58 of 61 modules".
struct CoverageLine {
  std::string location;  ///< "smollm2.plan:12", may be empty
  std::string statement; ///< "model.layers.*.mlp.down_proj: rowwise tp"
  int64_t matched = 0;
  int64_t total = 0;
  std::string what; ///< "modules"
};

/// A loss that the plan redefines, set by the owner of the bound plan.
struct LossLine {
  std::string location;  ///< "smollm2.plan:6"
  std::string statement; ///< "loss loss per token"
  std::string meaning;   ///< the definition of the loss
};

/// A decision of a plan besides layouts: inputs, the loss, the optimizer, precision and the structure of a step. If the
/// plan does not state it, the default.
struct Setting {
  enum class Of { run, parameter, module };

  std::string name;                   ///< "lr", "precision compute"
  std::string value;                  ///< empty if the plan does not state it and the default depends on the model
  std::string location;               ///< "smollm2.plan:12:5"; empty if the plan does not state it
  std::pair<Of, std::string> of = {}; ///< the parameter or module that it applies to, by name
  std::string container = {};         ///< name of the setting (same subject or run) that it depends on
};

struct Settings {
  std::vector<Setting> all;
  int64_t parameters = 0; ///< number of parameters of the model
};

struct Report {
  std::string program;
  bool trains = false;          ///< the program is a training step
  std::vector<AxisReport> axes; ///< all axes of the mesh, in order
  int64_t worldSize = 1;
  std::vector<CoverageLine> coverage; ///< empty from buildReport
  std::optional<LossLine> loss;       ///< none from buildReport, and if the loss is the model's own
  Settings settings;                  ///< none from buildReport
  MachineReport machine;              ///< none from buildReport
  MemoryReport memory;
  std::optional<ExpertsReport> experts; ///< none if all ranks have all experts
  TimeReport time;
  std::vector<CommunicatorReport> communicators; ///< those of the module, in order
  std::vector<StatementReport> statements;       ///< by file and line
  std::vector<ActivationSums> activationSums;    ///< one for each 16-bit type of the model's that has some
  std::vector<ParameterReport> parameters;       ///< in the order of the program
  std::vector<RepeatedOperator> derivatives;     ///< recomputed by the runtime for their derivatives, in program order
  std::vector<RepeatedOperator> withoutCost;     ///< operators without a cost, in program order
};

/// The report of a program. Fails, with a diagnostic, if the module has no mesh or no program of this name.
mlir::FailureOr<Report> buildReport(mlir::ModuleOp module, llvm::StringRef program);

/// The name of the main program of a plan (sched::mainProgramOf).
llvm::StringRef mainProgram(mlir::ModuleOp module);

WeightCounts countWeights(const Report &report);

/// Bytes that a rank sends and receives in one run of the program.
int64_t totalTraffic(const Report &report);

/// Prints the report as text: totals, then tables with aligned columns; parameters of equal layers share a line.
void printReport(const Report &report, llvm::raw_ostream &stream);

/// The operators whose time is estimated from bytes, as a table with a heading; nothing without one.
void printWithoutCost(const Report &report, llvm::raw_ostream &stream);

/// The report as JSON with stable keys.
llvm::json::Value reportToJson(const Report &report);

/// "1.5 MiB": bytes with a unit and one decimal, exact below 1 KiB.
std::string formatBytes(int64_t bytes);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_REPORT_H
