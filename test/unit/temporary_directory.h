//===- temporary_directory.h - a folder for one test ------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_TEMPORARY_DIRECTORY_H
#define MESHPLAN_TEST_UNIT_TEMPORARY_DIRECTORY_H

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace meshplan {

/// Removed at the end, including its content.
class TemporaryDirectory {
public:
  TemporaryDirectory() {
    std::string pattern = std::filesystem::temp_directory_path() / "meshplan.XXXXXX";
    directory = ::mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(directory); }
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;

  const std::string &path() const { return directory; }
  std::string operator/(const std::string &name) const { return directory + "/" + name; }

  /// The names of its entries, sorted.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto &entry : std::filesystem::directory_iterator(directory))
      found.push_back(entry.path().filename());
    std::sort(found.begin(), found.end());
    return found;
  }

private:
  std::string directory;
};

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_TEMPORARY_DIRECTORY_H
