//===- report.h - what a program costs a rank -------------------*- C++ -*-===//
//
// Plain structs, computed from one program of a sched module. Bytes are exact
// for parameters, constants and inputs; the peak is the schedule's memory
// profile, temporaries of operators included.
//
// "largest" is the rank that holds most, "least" the one that holds fewest;
// they differ where a dim does not divide evenly.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_REPORT_REPORT_H
#define MESHPLAN_COMPILER_REPORT_REPORT_H

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

/// Collectives of one communicator, by kind in the order in which the schedule names them first.
struct CommunicatorReport {
  std::string name;
  std::vector<std::string> axes; ///< names of the mesh axes
  int64_t ranks = 1;
  std::vector<CollectiveTotal> collectives;
};

/// Collectives whose communicator has this axis. One over two axes counts for both.
struct AxisReport {
  std::string name;
  int64_t size = 1;
  std::vector<CollectiveTotal> collectives;
  bool dividesWork = false; ///< some result of the forward pass is divided or partial over it
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

/// Partial sums of activations of one 16-bit type: what `precision { activations DTYPE }` chooses.
struct ActivationSums {
  std::string dtype, otherDtype; ///< in which they are sent, and could be instead
  int64_t count = 0;             ///< collectives
  int64_t bytes = 0;             ///< sent and received by the largest rank
  int64_t otherBytes = 0;        ///< the same in the other type
};

/// A weight or buffer of the model.
struct ParameterReport {
  std::vector<std::string> names;
  std::string dtype;
  std::string layout; ///< "[49152 over tp, 576]"
  int64_t globalBytes = 0;
  int64_t rankBytes = 0; ///< of the largest rank
  bool trainable = false;
  std::vector<int64_t> shape;
  bool buffer = false;
  std::string optimizer; ///< how the optimizer treats it, "adamw, group **.*norm"; empty: it does not
};

/// Elements of the model's weights, each tied one once.
struct WeightCounts {
  int64_t parameters = 0; ///< trained ones included
  int64_t trained = 0;
  int64_t buffers = 0;
};

struct BytesRange {
  int64_t largest = 0;
  int64_t least = 0;
};

/// Tensors of one kind that a rank holds: of equal layers together, whose numbers are `*`.
struct HeldReport {
  std::string tensor; ///< name of a parameter, state or input, or the operator that has made them
  std::string module; ///< empty for the root
  int64_t count = 0;
  int64_t bytes = 0; ///< of all together
};

/// What the largest rank holds on its device when it holds most.
struct PeakReport {
  std::string target; ///< the operator or collective that runs then; "end" where the outputs are taken
  std::string module;
  std::vector<HeldReport> held; ///< the ten kinds that take most
  HeldReport others;            ///< all else
};

struct MemoryReport {
  BytesRange parameters, constants, inputs, peak, states, accumulators; ///< on the device
  BytesRange hostParameters, hostStates;                                ///< in the memory of the host
  int64_t hostPeak = 0;                                                 ///< of the largest rank
  BytesRange evaluation = {}; ///< of a step: the peak of an evaluation between steps, on the device
  std::optional<PeakReport> atPeak = std::nullopt;
};

/// Nanoseconds of the rank with the most work, as compiler/scheduling/machine.h estimates them. What overlaps is in
/// both.
struct TimeReport {
  int64_t compute = 0;
  int64_t communication = 0;
};

/// An operator that the runtime computes again for its derivative, "aten.gru.input".
struct RepeatedOperator {
  std::string target;
  int64_t count = 0; ///< in a step, or in a run of another program
};

/// A line of the section "coverage", given by who has bound the plan: "58 of 61 modules".
struct CoverageLine {
  std::string place;     ///< "smollm2.plan:12", may be empty
  std::string statement; ///< "model.layers.*.mlp.down_proj: rowwise tp"
  int64_t matched = 0;
  int64_t total = 0;
  std::string what; ///< "modules"
};

/// A loss that the plan redefines, given by who has bound the plan.
struct LossLine {
  std::string place;     ///< "smollm2.plan:6"
  std::string statement; ///< "loss loss per token"
  std::string meaning;   ///< what the loss is
};

/// What a plan decides besides layouts: of inputs, the loss, the optimizer, precision and how a step is made. Where the
/// plan says nothing, what then holds.
struct Setting {
  enum class Of { run, parameter, module };

  std::string name;  ///< "lr", "precision compute"
  std::string value; ///< empty where the plan does not state it, and what then holds depends on the model
  std::string place; ///< "smollm2.plan:12:5"; empty where the plan does not state it
  std::pair<Of, std::string> of = {}; ///< of which parameter or module, by its name
  std::string container = {};         ///< name of the setting of the same subject, or of the run, that brings it
};

struct Settings {
  std::vector<Setting> all;
  int64_t parameters = 0; ///< of the model
};

struct Report {
  std::string program;
  bool trains = false;          ///< the program is a training step
  std::vector<AxisReport> axes; ///< all axes of the mesh, in order
  int64_t worldSize = 1;
  std::vector<CoverageLine> coverage; ///< empty from buildReport
  std::optional<LossLine> loss;       ///< none from buildReport, and where the loss is as the model makes it
  Settings settings;                  ///< none from buildReport
  MemoryReport memory;
  TimeReport time;
  std::vector<CommunicatorReport> communicators; ///< those of the module, in order
  std::vector<StatementReport> statements;       ///< by file and line
  std::vector<ActivationSums> activationSums;    ///< one for each 16-bit type of the model's that has some
  std::vector<ParameterReport> parameters;       ///< in the order of the program
  std::vector<RepeatedOperator> derivatives;     ///< found by the runtime, in the order of the program
};

/// The report of a program. Fails, with a diagnostic, if the module has no mesh or no program of this name.
mlir::FailureOr<Report> buildReport(mlir::ModuleOp module, llvm::StringRef program);

/// The program that a plan is for: the training step if it trains, else the forward program.
llvm::StringRef mainProgram(mlir::ModuleOp module);

WeightCounts countWeights(const Report &report);

/// Bytes that a rank sends and receives in one run of the program.
int64_t totalTraffic(const Report &report);

/// What the estimated times hold for: "on nodes of eight H100, nothing overlapped".
extern const char *const timeBasis;

/// The report as people read it: totals, then tables with aligned columns, parameters of repeated blocks on one line.
void printReport(const Report &report, llvm::raw_ostream &stream);

/// The report with stable keys.
llvm::json::Value reportToJson(const Report &report);

/// "1.5 ms": nanoseconds with a unit and one decimal, exact below a microsecond.
std::string formatTime(int64_t nanoseconds);

/// "1.5 MiB": bytes with a unit and one decimal, exact below 1 KiB.
std::string formatBytes(int64_t bytes);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_REPORT_H
