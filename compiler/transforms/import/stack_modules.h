//===- stack_modules.h - parameters of equal modules --------*- C++ -*-===//
//
// A mixture may have its experts as a list of modules. A style that gives each rank some of them divides the first dim
// of a parameter of all experts, as other mixtures have it. So such a list gets one:
//
//   experts.0.w1.weight [48, 16]       experts.w1.weight [4, 48, 16]
//   experts.1.w1.weight [48, 16]       select(experts.w1.weight, 0, 0)     read instead of experts.0.w1.weight
//   ..                                 ..
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_STACK_MODULES_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_STACK_MODULES_H

#include "compiler/archive/exported_program.h"

namespace meshplan {

/// Stacks the parameters of the modules `list`.0, `list`.1 and so on. Weight files have them as before. Returns why
/// the parameters cannot be stacked, and then changes nothing; empty if they are, or if there are no such modules.
std::string stackModules(archive::ExportedProgram &program, llvm::StringRef list);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_STACK_MODULES_H
