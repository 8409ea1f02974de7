//===- prepare.h - from instructions to steps -------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_PREPARE_H
#define MESHPLAN_RUNTIME_EXEC_PREPARE_H

#include "runtime/comm/communicator.h"
#include "runtime/exec/rank_view.h"
#include "runtime/exec/steps/asked_outputs.h"
#include "runtime/exec/steps/step.h"
#include "runtime/tensor/copy_lane.h"

namespace meshplan {

/// One per communicator, by index into Schedule.communicators.
using Groups = std::vector<std::unique_ptr<Group>>;

/// The steps of all instructions of the program, in order. `groups`, `lanes` and the artifact must outlive them. With
/// `asked`, steps that only other outputs need do nothing, and these outputs are freed after their last use. Fails for
/// unknown operators and arguments, and with `corrupted` for collectives whose ranks do not hold what the output needs.
Expected<std::vector<std::unique_ptr<Step>>> prepareSteps(const RankView &view, const Groups &groups, CopyLanes &lanes,
                                                          const OutputNames *asked = nullptr);

/// The first instruction that updates a parameter or a state in place; the number of instructions if there is none.
size_t firstUpdateOf(const artifact::Program &program);

/// "rank 2: aten.mm.default (smollm2.plan:12:5 rowwise tp, module lm_head)": the prefix of an instruction's failures.
std::string instructionContext(const RankView &view, std::string_view what, const artifact::Instruction &instruction);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_PREPARE_H
