//===- compile.h - from a plan file to a schedule ---------------*- C++ -*-===//
//
// The compiler as a library: what `meshplan compile` and `check` call. One
// Compilation compiles one plan; separate ones may run on separate threads.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_PIPELINE_COMPILE_H
#define MESHPLAN_COMPILER_PIPELINE_COMPILE_H

#include "compiler/archive/diagnostic.h"
#include "compiler/cluster/cluster.h"
#include "compiler/frontend/bind.h"
#include "compiler/pipeline/phases.h"
#include "compiler/scheduling/algorithms.h"
#include "compiler/support/diagnostics.h"
#include "compiler/timing/step_times.h"
#include "compiler/transforms/import/outline_model.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace meshplan {

struct CompileOptions {
  std::string planFile;
  std::optional<std::string> planText; ///< instead of the file's content; relative paths start at the file's folder
  std::vector<Definition> definitions; ///< -D name=value
  bool strict = false;                 ///< reshards that no statement implies are errors
  std::string device = "cpu";
  std::string cluster;                                  ///< a cluster file or a preset; empty: the preset of the device
  std::string solver = scheduling::defaultSolver.str(); ///< of the schedule: compiler/scheduling/algorithms.h
  bool gradients = false;                               ///< the training step returns the gradients and updates nothing
  bool recompute = true;                                ///< false ignores recompute statements
  bool reference = false;                               ///< include the imported program, to be run on one rank
};

class Compilation {
public:
  explicit Compilation(CompileOptions options);

  /// Runs all phases up to and including `last`, and stops after a phase that reported an error. False if there was
  /// one.
  bool run(Phase last);

  /// The artifact of the scheduled program, marked with the compiler's version. Fails with a diagnostic.
  mlir::FailureOr<std::vector<uint8_t>> artifact(llvm::StringRef version);

  Diagnostics &diagnostics() { return reports; }
  /// The IR after the last phase that ran.
  mlir::ModuleOp module() { return *ir; }
  const BoundPlan &plan() const { return *bound; }
  /// True if `path` is the plan, the model or the cluster file that was read, under any name.
  bool reads(llvm::StringRef path) const;
  const ModelOutline &model() const { return outline.model; }
  /// The cluster that times are estimated for. Only after a run that succeeded.
  const Cluster &cluster() const { return *machines; }
  /// The estimated times of each program that all ranks run. Only after the phase `schedule`.
  const std::vector<ProgramTimes> &times() const { return programTimes; }
  /// True if the program of a step runs two halves of each batch beside each other. Only after the phase `schedule`.
  bool usesHalves() const { return inHalves; }
  /// Digest of the archive: equal for equal archives.
  const std::string &digestOfModel() const { return archiveDigest; }

private:
  bool import();
  /// Stacks the lists of modules that the plan divides as experts.
  bool stackExperts(const Syntax &syntax, archive::ExportedProgram &program);
  /// Reads the cluster and compares it with the mesh.
  bool readCluster();
  bool runPhases(Phase last);
  bool runPasses(Phase phase);
  /// Runs all phases without and with halves, and keeps the form whose step is faster by the estimate.
  bool chooseHalves();
  /// Compares the contracts of the plan with the estimated times. False if one does not hold.
  bool keepsContracts();
  Diagnostic &reportArchive(const archive::Diagnostic &error, SourceRange location);
  /// Reports an error about an extent at the statement that gives it, with a note for each command-line option that it
  /// depends on.
  void reportExtent(const archive::Diagnostic &error, const Syntax &syntax);
  /// Turns a diagnostic of MLIR into one of ours, and shows the plan's text where its location is in the plan.
  Diagnostic &report(mlir::Diagnostic &diagnostic);
  SourceRange locate(mlir::Location location) const;
  /// Hash of the model, the plan, the values of its names and the compiler's version: equal for equal schedules.
  std::string fingerprint(llvm::StringRef version) const;

  CompileOptions options;
  Sources sources;
  Diagnostics reports;
  mlir::MLIRContext context;
  ProgramOutline outline;
  std::optional<BoundPlan> bound;
  std::shared_ptr<const Cluster> machines;
  std::vector<ProgramTimes> programTimes;
  bool inHalves = false;
  std::string archiveDigest;
  std::string modelDigest; ///< digest of the archive and of the buffers' initial values that training starts from
  mlir::OwningOpRef<mlir::ModuleOp> ir;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_PIPELINE_COMPILE_H
