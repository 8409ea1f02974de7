//===- training_step.cpp - the programs of one step -----------------------===//

#include "runtime/exec/training_step.h"

using namespace meshplan;

Expected<TrainingStep> TrainingStep::create(const Artifact &artifact, World &world) {
  MESHPLAN_ASSIGN_OR_RETURN(const artifact::Program *step, findProgram(artifact.schedule(), "step"));
  TrainingStep made;
  for (const artifact::Program *program : *artifact.schedule().programs())
    if (program->runs() > 0) {
      MESHPLAN_ASSIGN_OR_RETURN(auto executor, Executor::create(artifact, *program, world));
      made.passes.push_back({std::move(executor), program->runs()});
    }
  MESHPLAN_ASSIGN_OR_RETURN(made.last, Executor::create(artifact, *step, world));
  MESHPLAN_RETURN_IF_ERROR(made.last->clearAccumulators());
  return made;
}

void TrainingStep::share() {
  for (Pass &pass : passes)
    pass.program->share(*last);
}

Status TrainingStep::loadParameters(const Feed &feed) {
  MESHPLAN_RETURN_IF_ERROR(last->loadParameters(feed));
  share();
  return Status();
}

Status TrainingStep::loadInputs(const Feed &feed) {
  MESHPLAN_RETURN_IF_ERROR(last->loadInputs(feed));
  share();
  return Status();
}

Status TrainingStep::setNumber(std::string_view name, double number) {
  for (Pass &pass : passes)
    if (Status status = pass.program->setNumber(name, number); !status.ok() && status.code() != StatusCode::notFound)
      return status;
  return last->setNumber(name, number);
}

Status TrainingStep::run(Trace *trace) {
  MESHPLAN_RETURN_IF_ERROR(last->clearAccumulators());
  int64_t microbatches = 1, number = last->steps();
  for (Pass &pass : passes) {
    for (int64_t microbatch = 0; microbatch < pass.runs; ++microbatch) {
      pass.program->begin(number, microbatch);
      MESHPLAN_RETURN_IF_ERROR(pass.program->run(trace));
    }
    // The last pass leaves the last microbatch to the step.
    microbatches = pass.runs + 1;
  }
  last->begin(number, microbatches - 1);
  return last->run(trace);
}
