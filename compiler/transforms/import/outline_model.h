//===- outline_model.h - names of an archive for a plan ---------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_OUTLINE_MODEL_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_OUTLINE_MODEL_H

#include "compiler/archive/exported_program.h"
#include "compiler/frontend/model_outline.h"

namespace meshplan {

/// The outline of a program, and the mapping of its parameters to those of the program.
struct ProgramOutline {
  ModelOutline model;
  /// For each outline parameter, the program parameters that are the same tensor, in the order of named_parameters().
  /// Nodes may read any one of them.
  std::vector<std::vector<size_t>> parameterNames;
};

/// Lists modules, parameters, inputs and outputs. Parameters are tied if the archive stores them in one entry, or if a
/// parameter that no node reads belongs to a module whose nodes read another parameter of the same shape (archives
/// written on the meta device store no payloads).
ProgramOutline outlineModel(const archive::ExportedProgram &program);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_OUTLINE_MODEL_H
