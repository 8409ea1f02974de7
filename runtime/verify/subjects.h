//===- subjects.h - subjects of a comparison --------------------*- C++ -*-===//

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

/// One tensor to compare.
struct Subject {
  SubjectKind kind = SubjectKind::output;
  std::string name;           ///< name of the output, the parameter, or the state of the master weight
  int value = -1;             ///< index into Program.values
  OptimizerNumbers optimizer; ///< parameter or master weight: its optimizer
  int gradient = -1;          ///< parameter or master weight: the gradient it is updated with
  int held = -1;              ///< of these: the value that the optimizer updates, maybe a slice or the master
  std::string master;         ///< parameter: its master weight, of which it must be the rounding; empty: none
  int made = -1;              ///< the value of the instruction that made it
  int placed = -1;            ///< index into Schedule.origins: the statement that shards the parameter
  bool isHalf = false;        ///< bounded as 16-bit results, see deviationOf

  /// True if the optimizer computes it. The ranks then measure PyTorch's own error.
  bool isOfOptimizer() const { return kind == SubjectKind::master || kind == SubjectKind::parameter; }
};

/// The program to verify: that of the role step if there is one, else that of forward. `notFound` without either.
Expected<const artifact::Program *> verifiedProgram(const artifact::Schedule &schedule);

/// All tensors to compare, in an order that is the same on all ranks: outputs, gradients, their norm if the program
/// computes it, then the master weights and parameters that it updates. For master weights and parameters, isHalf
/// follows their dtype in the program; for the others, it is true if `reference` has 16-bit floats, whatever the
/// program uses. `invalid` if a trained parameter has no gradient.
Expected<std::vector<Subject>> subjectsOf(const artifact::Program &program, const artifact::Program &reference);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_SUBJECTS_H
