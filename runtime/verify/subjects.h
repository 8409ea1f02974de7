//===- subjects.h - what is compared with the reference ----------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_VERIFY_SUBJECTS_H
#define MESHPLAN_RUNTIME_VERIFY_SUBJECTS_H

#include "runtime/verify/optimizer_call.h"

#include <string>
#include <vector>

namespace meshplan {

enum class SubjectKind : uint8_t { output, gradient, norm, master, parameter };

/// All kinds, in the order of subjectsOf.
inline constexpr SubjectKind subjectKinds[] = {SubjectKind::output, SubjectKind::gradient, SubjectKind::norm,
                                               SubjectKind::master, SubjectKind::parameter};

/// "output", "gradient", "gradient norm", "master", "parameter".
std::string_view kindName(SubjectKind kind);

/// One tensor of the program.
struct Subject {
  SubjectKind kind = SubjectKind::output;
  std::string name;           ///< of the output, the parameter, or the state that is the master
  int value = -1;             ///< index into Program.values; of a parameter or master that behind the step
  OptimizerNumbers optimizer; ///< of a parameter or master
  int gradient = -1;          ///< of a parameter or master: the value that it was changed by
  int held = -1;              ///< of the same: the value that the optimizer changes; it may be a part, or the master
  std::string master;         ///< of a parameter: the state that it has to be, rounded; empty for none
  int made = -1;              ///< the value whose instruction has made it
  int placed = -1;     ///< of a gradient, parameter or master: index into Schedule.origins, where the plan divides it
  bool isHalf = false; ///< its errors are those of 16 bits: see deviationOf

  /// The optimizer makes it, so that the numbers about it come from the ranks.
  bool isOfOptimizer() const { return kind == SubjectKind::master || kind == SubjectKind::parameter; }
};

/// The program that is verified: "step" where there is one, else "forward". `notFound` without either.
Expected<const artifact::Program *> verifiedProgram(const artifact::Schedule &schedule);

/// All that is compared, in an order that is the same on all ranks: outputs, gradients, their norm where the program
/// computes it, the masters and the parameters that it changes. Each of these is as wide as the program has it; all
/// else is as the parameters of `reference` are, of which some may have 16 bits, whatever the program makes of them.
/// `invalid` when a trained parameter has no gradient.
Expected<std::vector<Subject>> subjectsOf(const artifact::Program &program, const artifact::Program &reference);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_SUBJECTS_H
