//===- json_log.h - a line of JSON for each step -----------------*- C++ -*-===//
//
// One object in each line, with "kind": "step", "evaluation", "checkpoint" or
// "note". docs/training.md lists the keys, which stay.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TRAIN_JSON_LOG_H
#define MESHPLAN_RUNTIME_TRAIN_JSON_LOG_H

#include "runtime/train/report.h"

namespace meshplan {

/// Appends to `path`, of which it keeps the lines of the first `steps` steps: those that a run which goes on has done
/// before. A line is in the file when the call returns. `io` when the file cannot be read or written, `invalid` where a
/// training that begins (0 steps) would write over the lines of another.
Expected<std::unique_ptr<ReportSink>> openJsonLog(const std::string &path, int64_t steps);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TRAIN_JSON_LOG_H
