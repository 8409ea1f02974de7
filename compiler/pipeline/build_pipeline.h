//===- build_pipeline.h - which passes make a phase -------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_PIPELINE_BUILD_PIPELINE_H
#define MESHPLAN_COMPILER_PIPELINE_BUILD_PIPELINE_H

#include "compiler/cluster/cluster.h"
#include "compiler/pipeline/phases.h"
#include "compiler/scheduling/algorithms.h"
#include "compiler/timing/step_times.h"
#include "mlir/Pass/PassManager.h"

namespace meshplan {

struct PipelineOptions {
  bool strict = false;                                  ///< reshards that no statement of the plan implies are errors
  bool gradients = false;                               ///< the training step returns the gradients and updates nothing
  bool reference = false;                               ///< keep the imported program, to be run on one rank
  std::string device = "cpu";                           ///< whose kernels and autocast rules apply: cpu or cuda
  std::shared_ptr<const Cluster> cluster;               ///< whose durations the schedule has; null: the preset cpu
  std::string solver = scheduling::defaultSolver.str(); ///< of the schedule
  int64_t mostParts = 1;                                ///< into which the schedule may split products; 1: none
  bool halves = false;                                  ///< one program runs two microbatches
  std::vector<ProgramTimes> *times = nullptr;           ///< gets the estimated times of each program; may be null
};

/// Registers the dialects that the pipeline uses.
void registerDialects(mlir::DialectRegistry &registry);

/// Adds the passes of one phase.
void buildPhase(mlir::OpPassManager &manager, Phase phase, const PipelineOptions &options);

/// Registers every pass of the compiler by its flag, for meshplan-opt.
void registerPasses();

} // namespace meshplan

#endif // MESHPLAN_COMPILER_PIPELINE_BUILD_PIPELINE_H
