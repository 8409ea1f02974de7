//===- zip_file.h - the entries of a mapped zip file -------------*- C++ -*-===//
//
// libzip reads the directory and unpacks entries. Stored entries are used in
// place, in the mapped file.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_DATA_ZIP_FILE_H
#define MESHPLAN_RUNTIME_DATA_ZIP_FILE_H

#include "runtime/base/status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>
#include <zip.h>

namespace meshplan {

struct ZipEntry {
  std::string name;
  uint64_t index = 0; ///< in the directory
  bool deflated = false;
  uint32_t checksum = 0;           ///< CRC-32 of the unpacked bytes
  uint64_t size = 0;               ///< unpacked
  std::span<const std::byte> data; ///< as stored in the file
};

/// The file begins as a zip file does.
bool isZipFile(std::span<const std::byte> file);

class ZipFile {
public:
  /// `file` must outlive the result. `corrupted` when the directory is missing or damaged, or an entry reaches outside
  /// of the file; `unsupported` for encryption and methods other than deflate.
  static Expected<std::shared_ptr<ZipFile>> open(std::span<const std::byte> file);
  ~ZipFile();

  /// All entries, in the order of the directory; their data points into the file.
  const std::vector<ZipEntry> &entries() const { return list; }

  /// Unpacks an entry and compares its checksum. Threads take turns.
  Expected<std::vector<std::byte>> unpack(const ZipEntry &entry);

private:
  /// The mapped file as libzip reads it.
  struct Source {
    std::span<const std::byte> file;
    uint64_t position = 0;
    zip_error_t error{};
  };

  explicit ZipFile(std::span<const std::byte> file) : source{.file = file} {}

  static zip_int64_t serve(void *source, void *data, zip_uint64_t size, zip_source_cmd_t command);
  Expected<ZipEntry> entryAt(uint64_t index);
  /// Calls `read` with the opened entry; it returns true if all is well.
  template <typename Read> Status withOpened(const ZipEntry &entry, zip_flags_t flags, const Read &read);

  Source source;
  zip_t *archive = nullptr;
  std::mutex mutex; // held while libzip reads after the directory is read
  std::vector<ZipEntry> list;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATA_ZIP_FILE_H
