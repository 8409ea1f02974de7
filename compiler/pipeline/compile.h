//===- compile.h - from a plan file to a schedule ---------------*- C++ -*-===//
//
// The compiler as a library: what `meshplan compile` and `check` call. One
// Compilation compiles one plan; separate ones may run on separate threads.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_PIPELINE_COMPILE_H
#define MESHPLAN_COMPILER_PIPELINE_COMPILE_H

#include "compiler/archive/diagnostic.h"
#include "compiler/frontend/bind.h"
#include "compiler/pipeline/phases.h"
#include "compiler/support/diagnostics.h"
#include "compiler/transforms/import/outline_model.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace meshplan {

struct CompileOptions {
  std::string planFile;
  std::optional<std::string> planText; ///< instead of what the file holds; paths are seen from the file's folder
  std::vector<Definition> definitions; ///< -D name=value
  bool strict = false;                 ///< reshards that nothing implies are errors
  std::string device = "cpu";
  bool gradients = false; ///< the training step returns the gradients and changes nothing
  bool recompute = true;  ///< false: as if the plan had no such statement
  bool reference = false; ///< the artifact has the imported program too, for one rank
};

class Compilation {
public:
  explicit Compilation(CompileOptions options);

  /// Runs all phases up to and including `last`. False if anything was reported as an error; nothing runs behind it.
  bool run(Phase last);

  /// The artifact of the scheduled program, marked with the compiler's version. Fails with a diagnostic.
  mlir::FailureOr<std::vector<uint8_t>> artifact(llvm::StringRef version);

  Diagnostics &diagnostics() { return reports; }
  /// The IR after the last phase that ran.
  mlir::ModuleOp module() { return *ir; }
  const BoundPlan &plan() const { return *bound; }
  /// True if `path` is the plan or the model that was compiled, under any name.
  bool reads(llvm::StringRef path) const;
  const ModelOutline &model() const { return outline.model; }
  /// Equal for equal archives.
  const std::string &digestOfModel() const { return archiveDigest; }

private:
  bool import();
  bool runPasses(Phase phase);
  Diagnostic &reportArchive(const archive::Diagnostic &error, SourceRange place);
  /// Reports an error about an extent where the plan gives it, with the options of the command line behind it.
  void reportExtent(const archive::Diagnostic &error, const Syntax &syntax);
  /// Turns a diagnostic of MLIR into one of ours, with the plan's text where it speaks of the plan.
  void report(mlir::Diagnostic &diagnostic);
  SourceRange locate(mlir::Location location) const;
  /// Hash of model, plan, values of its names and compiler: equal for equal schedules.
  std::string fingerprint(llvm::StringRef version) const;

  CompileOptions options;
  Sources sources;
  Diagnostics reports;
  mlir::MLIRContext context;
  ProgramOutline outline;
  std::optional<BoundPlan> bound;
  std::string archiveDigest;
  std::string modelDigest; ///< of the archive, and of the values of buffers that a training begins with
  mlir::OwningOpRef<mlir::ModuleOp> ir;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_PIPELINE_COMPILE_H
