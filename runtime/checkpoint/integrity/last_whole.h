//===- last_whole.h - which checkpoint is not damaged ------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_INTEGRITY_LAST_WHOLE_H
#define MESHPLAN_RUNTIME_CHECKPOINT_INTEGRITY_LAST_WHOLE_H

#include "runtime/base/status.h"

#include <string>

namespace meshplan {

/// Reads all of a checkpoint. `corrupted`, with file and tensor, unless it is as it was written; of one of format 1,
/// which has no checksums, unless its files are complete.
Status checkWhole(const std::string &checkpoint);

/// A failure to read `checkpoint`, which the user has named by `asked`: itself, or the folder that it is in. Where it
/// is damaged, the way out is added: the last checkpoint of the folder that is whole, for which all of them are read
/// until one is found. Other failures stay as they are.
Status withLastWhole(const Status &failure, const std::string &checkpoint, const std::string &asked);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_INTEGRITY_LAST_WHOLE_H
