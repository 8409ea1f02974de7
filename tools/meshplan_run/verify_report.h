//===- verify_report.h - the result of verify --------------------*- C++ -*-===//

#ifndef MESHPLAN_TOOLS_MESHPLAN_RUN_VERIFY_REPORT_H
#define MESHPLAN_TOOLS_MESHPLAN_RUN_VERIFY_REPORT_H

#include "runtime/verify/verdicts.h"
#include "tools/meshplan_run/job.h"

#include <nlohmann/json.hpp>

namespace meshplan {

/// The compared tensors and the verdicts, on rank 0. Empty on other ranks.
struct Verification {
  std::vector<Subject> subjects;
  std::vector<Verdict> verdicts; ///< by subject
  int draws = 0;                 ///< number of batches that LibTorch has run

  bool isRight() const;
};

/// A line for each kind of tensor with its worst tensor, then each wrong tensor with its layout and origin.
std::string verificationText(const Job &job, const Verification &verification);

/// `right`, and the numbers of each tensor. A non-finite error or ratio is null.
nlohmann::json verificationJson(const Job &job, const Verification &verification);

} // namespace meshplan

#endif // MESHPLAN_TOOLS_MESHPLAN_RUN_VERIFY_REPORT_H
