//===- build_pipeline.h - which passes make a phase -------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_PIPELINE_BUILD_PIPELINE_H
#define MESHPLAN_COMPILER_PIPELINE_BUILD_PIPELINE_H

#include "compiler/pipeline/phases.h"
#include "mlir/Pass/PassManager.h"

namespace meshplan {

struct PipelineOptions {
  bool strict = false;        ///< reshards that nothing in the plan implies are errors
  bool gradients = false;     ///< the training step returns the gradients and changes nothing
  bool reference = false;     ///< the imported program is kept, for one rank
  std::string device = "cpu"; ///< whose kernels run, and whose autocast `compute` is: cpu or cuda
};

/// Registers the dialects that the pipeline uses.
void registerDialects(mlir::DialectRegistry &registry);

/// Adds the passes of one phase.
void buildPhase(mlir::OpPassManager &manager, Phase phase, const PipelineOptions &options);

/// Registers every pass of the compiler by its flag, for meshplan-opt.
void registerPasses();

} // namespace meshplan

#endif // MESHPLAN_COMPILER_PIPELINE_BUILD_PIPELINE_H
