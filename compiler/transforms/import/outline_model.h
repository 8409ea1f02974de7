//===- outline_model.h - what a plan can name in an archive -----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_OUTLINE_MODEL_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_OUTLINE_MODEL_H

#include "compiler/archive/exported_program.h"
#include "compiler/frontend/model_outline.h"

namespace meshplan {

/// The outline of a program and how its parameters map to the program's.
struct ProgramOutline {
  ModelOutline model;
  /// For each outline parameter the program parameters that are one tensor, in the order of named_parameters(). Nodes
  /// read one of them, which may be any.
  std::vector<std::vector<size_t>> parameterNames;
};

/// Lists modules, parameters, inputs and outputs. Parameters are tied if the archive stores them in one entry, or if a
/// parameter that no node reads belongs to a module whose nodes read another one of the same shape (archives written
/// on the meta device store nothing).
ProgramOutline outlineModel(const archive::ExportedProgram &program);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_OUTLINE_MODEL_H
