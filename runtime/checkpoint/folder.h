//===- folder.h - the folder of the checkpoints of a training ----*- C++ -*-===//
//
// Each checkpoint is a folder in it: `step-000010`. It is made under another name and renamed when all of it is on the
// disk, and gets another name before it is removed, so that whatever has the name of a checkpoint is whole. Which one
// is the last follows from the names alone.
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

/// The checkpoints in a folder, those of earlier steps first. notFound or io, with path and reason, where the folder
/// cannot be read.
Expected<std::vector<SavedCheckpoint>> listCheckpoints(const std::string &folder);

/// `path` itself where it is a checkpoint, or a folder without one that has such a name, else the last one in it.
/// notFound if there is none.
Expected<std::string> findCheckpoint(const std::string &path);

/// True if a checkpoint is one of those in a folder, whatever way the paths name it.
bool isOfFolder(const std::string &checkpoint, const std::string &folder);

/// Where the checkpoint of a step is, and where it is made.
std::string checkpointPath(const std::string &folder, int64_t step);
std::string incompletePath(const std::string &folder, int64_t step);

/// A folder that this run alone writes checkpoints into; other runs may read them. Move only. Belongs to rank 0.
class CheckpointFolder {
public:
  /// Makes the folder where there is none, and removes what a run that was killed has left in it. The last `keep`
  /// checkpoints stay, all of them for 0. `invalid` where another run, which the message names, has it open; io, with
  /// path and reason, where it cannot be written.
  static Expected<CheckpointFolder> open(const std::string &path, int64_t keep);

  CheckpointFolder(CheckpointFolder &&other) noexcept;
  CheckpointFolder &operator=(CheckpointFolder &&) = delete;
  ~CheckpointFolder();

  /// `invalid` where it has checkpoints of later steps than the one in it that the run goes on from (0: the run goes on
  /// from none of them): they are of another training, and would count as the last ones.
  Status checkGoesOn(int64_t step) const;

  /// Call when all files of the incomplete checkpoint are on the disk: it appears under its name, in the place of one
  /// of that step, and those that are not kept are removed. All or nothing at every moment.
  Status commit(int64_t step);

  /// Removes an incomplete checkpoint.
  Status discard(int64_t step);

private:
  CheckpointFolder(std::string path, int64_t keep, int lock) : path(std::move(path)), keep(keep), lock(lock) {}

  Status removeLeftovers() const;
  Status removeOld(int64_t newest) const;

  std::string path;
  int64_t keep;
  int lock; // descriptor
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_FOLDER_H
