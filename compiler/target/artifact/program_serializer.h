//===- program_serializer.h - one program as an artifact's table *- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TARGET_ARTIFACT_PROGRAM_SERIALIZER_H
#define MESHPLAN_COMPILER_TARGET_ARTIFACT_PROGRAM_SERIALIZER_H

#include "compiler/target/artifact/origin_table.h"
#include "dialect/sched/sched.h"
#include "llvm/ADT/StringMap.h"

namespace meshplan {

/// Tables that the programs of a module share.
struct ModuleTables {
  llvm::StringMap<int32_t> communicators;
  llvm::StringMap<int32_t> programs;
  OriginTable origins;
};

/// The table of a program. Fails, with a diagnostic, where serialize() does.
mlir::FailureOr<std::unique_ptr<artifact::ProgramT>> serializeProgram(sched::ProgramOp program, ModuleTables &tables);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TARGET_ARTIFACT_PROGRAM_SERIALIZER_H
