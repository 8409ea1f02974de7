//===- verify_report.h - what verify has found -------------------*- C++ -*-===//

#ifndef MESHPLAN_TOOLS_MESHPLAN_RUN_VERIFY_REPORT_H
#define MESHPLAN_TOOLS_MESHPLAN_RUN_VERIFY_REPORT_H

#include "runtime/verify/verdicts.h"
#include "tools/meshplan_run/job.h"

#include <nlohmann/json.hpp>

namespace meshplan {

/// What was compared, on rank 0, and how it ended. Empty on the other ranks.
struct Verification {
  std::vector<Subject> subjects;
  std::vector<Verdict> verdicts; ///< by subject
  int draws = 0;                 ///< batches that LibTorch has run

  bool isRight() const;
};

/// A line for each kind of tensor with the worst of them, then what is wrong: its layout and where it was made.
std::string verificationText(const Job &job, const Verification &verification);

/// `right`, and of each tensor its numbers. An error or ratio that is no finite number is null.
nlohmann::json verificationJson(const Job &job, const Verification &verification);

} // namespace meshplan

#endif // MESHPLAN_TOOLS_MESHPLAN_RUN_VERIFY_REPORT_H
