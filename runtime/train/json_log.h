//===- json_log.h - one line of JSON per step -------------------*- C++ -*-===//
//
// One JSON object per line, with "kind": "step", "evaluation", "checkpoint" or "note". docs/training.md lists the keys,
// which are stable.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TRAIN_JSON_LOG_H
#define MESHPLAN_RUNTIME_TRAIN_JSON_LOG_H

#include "runtime/train/report.h"

namespace meshplan {

/// Appends to `path` and keeps the lines of the first `steps` steps, which a resumed run has already done. Each line is
/// in the file when the call returns. `io` if the file cannot be read or written; `invalid` if a new training (0 steps)
/// would overwrite lines of another.
Expected<std::unique_ptr<ReportSink>> openJsonLog(const std::string &path, int64_t steps);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TRAIN_JSON_LOG_H
