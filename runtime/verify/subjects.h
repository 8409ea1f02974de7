//===- subjects.h - what is compared with the reference ----------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_VERIFY_SUBJECTS_H
#define MESHPLAN_RUNTIME_VERIFY_SUBJECTS_H

#include "runtime/verify/optimizer_call.h"

#include <string>
#include <vector>

namespace meshplan {

enum class SubjectKind : uint8_t { output, gradient, norm, parameter };

/// "output", "gradient", "gradient norm", "parameter".
std::string_view kindName(SubjectKind kind);

/// One tensor of the program.
struct Subject {
  SubjectKind kind = SubjectKind::output;
  std::string name;           ///< of the output or the parameter
  int value = -1;             ///< index into Program.values; of a parameter that behind the step
  OptimizerNumbers optimizer; ///< of a parameter
  int gradient = -1;          ///< of a parameter: the value that it was changed by
  int made = -1;              ///< the value whose instruction has made it
  int placed = -1;            ///< of a gradient or parameter: index into Schedule.origins, where the plan divides it
  bool isOne = false;         ///< its largest error is the error of one number
  bool isHalf = false;        ///< its errors are those of 16 bits: see deviationOf
};

/// The program that is verified: "step" where there is one, else "forward". `notFound` without either.
Expected<const artifact::Program *> verifiedProgram(const artifact::Schedule &schedule);

/// All that is compared, in an order that is the same on all ranks: outputs, gradients, their norm where the program
/// computes it, and the parameters that it changes. Each of these parameters is as wide as the program has it; all else
/// is as the parameters of `reference` are, of which some may have 16 bits, whatever the program makes of them.
/// `invalid` when a trained parameter has no gradient.
Expected<std::vector<Subject>> subjectsOf(const artifact::Program &program, const artifact::Program &reference);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_SUBJECTS_H
