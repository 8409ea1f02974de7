//===- last_intact.h - the last intact checkpoint ---------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_INTEGRITY_LAST_INTACT_H
#define MESHPLAN_RUNTIME_CHECKPOINT_INTEGRITY_LAST_INTACT_H

#include "runtime/base/status.h"

#include <string>

namespace meshplan {

/// Reads and checks all of a checkpoint. `corrupted`, with file and tensor, if it is damaged. Format 1 has no
/// checksums; there only the completeness of the files is checked.
Status checkIntact(const std::string &checkpoint);

/// Adds a hint to a failure to read `checkpoint`, which the user has named by `asked`: itself or its folder. If the
/// checkpoint is damaged, the message names the last intact one of the folder; to find it, checkpoints are read
/// completely, newest first. Other failures stay as they are.
Status withLastIntact(const Status &failure, const std::string &checkpoint, const std::string &asked);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_INTEGRITY_LAST_INTACT_H
