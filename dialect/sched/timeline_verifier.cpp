//===- timeline_verifier.cpp - what a run of a program consists of --------===//
//
// Rules have labels (P) that reappear in test/dialect/sched/program_verifier.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialect/sched/program_rules.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::sched;

/// A program of microbatches is in one timeline, and has none of its own.
static LogicalResult verifyMicrobatch(ProgramOp program) {
  if (program.getTimeline()) // P9
    return program.emitOpError("of role 'microbatch' has a timeline");
  int64_t timelines = llvm::count_if(program->getParentOfType<ModuleOp>().getOps<ProgramOp>(), [&](ProgramOp other) {
    return base::instancesIn(other.getTimelineAttr(), program.getSymName()) != 0;
  });
  if (timelines != 1) // P10
    return program.emitOpError() << "of role 'microbatch' is in " << timelines << " timelines, must be in one";
  return success();
}

LogicalResult meshplan::sched::verifyTimeline(ProgramOp program) {
  if (program.getRole() == base::ProgramRole::microbatch)
    return verifyMicrobatch(program);
  std::optional<ArrayAttr> timeline = program.getTimeline();
  if (!timeline)
    return success();
  DenseMap<StringAttr, int64_t> next;
  FlatSymbolRefAttr end;
  for (auto instance : timeline->getAsRange<base::InstanceAttr>()) {
    end = instance.getProgram();
    auto [microbatch, isNew] = next.try_emplace(end.getAttr(), 0);
    if (isNew && end.getValue() != program.getSymName()) {
      auto other = program->getParentOfType<ModuleOp>().lookupSymbol<ProgramOp>(end.getValue());
      if (!other) // P14
        return program.emitOpError() << "has the unknown program " << end << " in its timeline";
      if (other.getRole() != base::ProgramRole::microbatch) // P15
        return program.emitOpError() << "has " << end << " in its timeline, whose role is '"
                                     << base::stringifyProgramRole(other.getRole()) << "', must be 'microbatch'";
    }
    if (instance.getMicrobatch() != microbatch->second) // P16
      return program.emitOpError() << "has microbatch " << instance.getMicrobatch() << " of " << end
                                   << " in its timeline, the next one is " << microbatch->second;
    ++microbatch->second;
  }
  if (!end || end.getValue() != program.getSymName()) // P17
    return program.emitOpError("has a timeline that does not end with the program itself");
  auto isOwn = [&](Attribute each) { return cast<base::InstanceAttr>(each).getProgram() == end; };
  // What an instance of the program defers, the next one resumes.
  if (!std::all_of(llvm::find_if(*timeline, isOwn), timeline->end(), isOwn)) // P19
    return program.emitOpError("has other programs between its own instances in its timeline");
  return success();
}
