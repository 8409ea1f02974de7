//===- zip_archive.h - members of a zip file ---------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_ZIP_ARCHIVE_H
#define MESHPLAN_COMPILER_ARCHIVE_ZIP_ARCHIVE_H

#include "compiler/archive/diagnostic.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct zip;

namespace meshplan::archive {

/// A zip file that is open for reading. Members may be stored or deflated;
/// checksums are verified. Not thread safe.
class ZipArchive {
public:
  struct Member {
    uint64_t index = 0;
    uint64_t size = 0; ///< bytes when inflated
    uint64_t compressedSize = 0;
  };

  /// Opens `path`; on failure returns null and adds to `errors`.
  static std::unique_ptr<ZipArchive> open(const std::string &path, std::vector<Diagnostic> &errors);
  ~ZipArchive();

  const std::string &path() const { return filePath; }
  /// Names in the order of the file.
  const std::vector<std::string> &names() const { return memberNames; }
  const Member *find(llvm::StringRef name) const;
  /// Bytes of a member, which must exist. Adds to `errors` if the member is damaged, or if it is compressed and would
  /// inflate to more than `most` bytes.
  std::optional<std::string> read(llvm::StringRef name, std::vector<Diagnostic> &errors,
                                  uint64_t most = mostUnpacked) const;

  /// Texts are far smaller.
  static constexpr uint64_t mostUnpacked = uint64_t(1) << 30;

private:
  std::string problemOf(const Member &member, uint64_t most) const;
  std::string readAll(const Member &member, std::string &bytes) const;

  ZipArchive(std::string path, uint64_t fileSize, zip *handle);

  std::string filePath;
  uint64_t fileSize;
  zip *handle;
  std::vector<std::string> memberNames;
  llvm::StringMap<Member> members;
};

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_ZIP_ARCHIVE_H
