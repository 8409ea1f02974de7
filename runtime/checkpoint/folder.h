//===- folder.h - the checkpoints of a training on disk ---------*- C++ -*-===//
//
// Layout on disk. The folder of a training has one folder per checkpoint:
//
//   run/.lock                     locked by the run that writes
//   run/step-000010/              a complete checkpoint
//   run/step-000020/checkpoint.json, model.safetensors, optimizer.safetensors
//   run/.step-000030.incomplete/  being written
//   run/.step-000010.removed/     being removed
//
// A checkpoint is written under the hidden name and renamed when all of it is on disk, and renamed again before it is
// removed. So whatever has the name of a checkpoint is complete, and the names alone say which one is the last.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_FOLDER_H
#define MESHPLAN_RUNTIME_CHECKPOINT_FOLDER_H

#include "runtime/base/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace meshplan {

struct SavedCheckpoint {
  int64_t step;
  std::string path;
};

/// The checkpoints in a folder, earliest step first. notFound or io, with path and reason, if the folder cannot be
/// read.
Expected<std::vector<SavedCheckpoint>> listCheckpoints(const std::string &folder);

/// `path` itself if it is a checkpoint, or is named like one; else the last checkpoint in it. notFound if there is
/// none.
Expected<std::string> findCheckpoint(const std::string &path);

/// True if the checkpoint lies in the folder, however the paths are written.
bool isOfFolder(const std::string &checkpoint, const std::string &folder);

/// The paths of the checkpoint of a step: complete, and while it is written.
std::string checkpointPath(const std::string &folder, int64_t step);
std::string incompletePath(const std::string &folder, int64_t step);

/// A folder that only this run writes checkpoints to; other runs may read them. Move only. Used by rank 0.
class CheckpointFolder {
public:
  /// Creates the folder if necessary, and removes what a killed run has left in it. The last `keep` checkpoints are
  /// kept; 0: all. `invalid` if another run, which the message names, has it open; io, with path and reason, if it is
  /// not writable.
  static Expected<CheckpointFolder> open(const std::string &path, int64_t keep);

  CheckpointFolder(CheckpointFolder &&other) noexcept;
  CheckpointFolder &operator=(CheckpointFolder &&) = delete;
  ~CheckpointFolder();

  /// The run resumes from the checkpoint of `step` in this folder, or from none in it (0). `invalid` if the folder has
  /// checkpoints of later steps: they are of another training, and the last of them would be taken for the newest of
  /// this one.
  Status checkGoesOn(int64_t step) const;

  /// Call when all files of the incomplete checkpoint are on disk. The checkpoint appears under its name, replacing an
  /// earlier one of the same step; then those that are not kept are removed. Atomic: at every moment the old or the new
  /// state is complete.
  Status commit(int64_t step);

  /// Removes an incomplete checkpoint.
  Status discard(int64_t step);

private:
  CheckpointFolder(std::string path, int64_t keep, int lock) : path(std::move(path)), keep(keep), lock(lock) {}

  Status removeLeftovers() const;
  Status removeOld(int64_t newest) const;

  std::string path;
  int64_t keep;
  int lock; // file descriptor of the lock file
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_FOLDER_H
