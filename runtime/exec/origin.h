//===- origin.h - where an instruction comes from ----------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_ORIGIN_H
#define MESHPLAN_RUNTIME_EXEC_ORIGIN_H

#include "runtime/schema/schedule_generated.h"

#include <string>

namespace meshplan {

/// "smollm2.plan:12:5 rowwise tp, module model.layers.0.mlp": what is known of
/// it; empty when nothing is.
std::string originText(const artifact::Schedule &schedule, const artifact::Instruction &instruction);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_ORIGIN_H
