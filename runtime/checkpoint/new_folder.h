//===- new_folder.h - a folder that appears when it is whole -----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_NEW_FOLDER_H
#define MESHPLAN_RUNTIME_CHECKPOINT_NEW_FOLDER_H

#include "runtime/base/status.h"

#include <string>
#include <utility>

namespace meshplan {

/// A folder that appears under its name when it is whole, and otherwise not.
class NewFolder {
public:
  /// `invalid` where `path` is there and not an empty folder; `io` where it cannot be made.
  static Expected<NewFolder> create(const std::string &path);

  NewFolder(NewFolder &&other) noexcept : path(std::move(other.path)), temporary(std::exchange(other.temporary, "")) {}
  ~NewFolder();

  /// Where its files are made.
  const std::string &place() const { return temporary; }

  /// Flushes it and gives it its name.
  Status commit();

private:
  NewFolder(std::string path, std::string temporary) : path(std::move(path)), temporary(std::move(temporary)) {}

  std::string path, temporary;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_NEW_FOLDER_H
