//===- new_folder.h - a folder that appears when complete -------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_NEW_FOLDER_H
#define MESHPLAN_RUNTIME_CHECKPOINT_NEW_FOLDER_H

#include "runtime/base/status.h"

#include <string>
#include <utility>

namespace meshplan {

/// A folder that appears under its name when it is complete, and otherwise not at all.
class NewFolder {
public:
  /// `invalid` if `path` exists and is not an empty folder; `io` if it cannot be created.
  static Expected<NewFolder> create(const std::string &path);

  NewFolder(NewFolder &&other) noexcept : path(std::move(other.path)), temporary(std::exchange(other.temporary, "")) {}
  ~NewFolder();

  /// The folder to create its files in, until commit.
  const std::string &temporaryPath() const { return temporary; }

  /// Flushes it and renames it to its name, durably.
  Status commit();

private:
  NewFolder(std::string path, std::string temporary) : path(std::move(path)), temporary(std::move(temporary)) {}

  std::string path, temporary;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_NEW_FOLDER_H
