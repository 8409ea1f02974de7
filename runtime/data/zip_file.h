//===- zip_file.h - the entries of a mapped zip file ------------*- C++ -*-===//
//
// Reads the directory of a mapped zip file and unpacks entries, by libzip. Stored entries are used in place, in the
// mapped file; libzip itself can only copy them out. Supports Zip64.
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
  uint64_t index = 0; ///< position in the directory
  bool deflated = false;
  uint32_t checksum = 0;           ///< CRC-32 of the unpacked bytes
  uint64_t size = 0;               ///< size when unpacked
  std::span<const std::byte> data; ///< as stored in the file
};

/// True if the file starts with the signature of a zip file.
bool isZipFile(std::span<const std::byte> file);

/// A zip file and its entries.
class ZipFile {
public:
  /// `file` must outlive the result. `corrupted` if the directory is missing or damaged, or if an entry reaches outside
  /// of the file; `unsupported` for encryption and methods other than deflate.
  static Expected<std::shared_ptr<ZipFile>> open(std::span<const std::byte> file);
  ~ZipFile();

  /// All entries, in the order of the directory; their data points into the file.
  const std::vector<ZipEntry> &entries() const { return list; }

  /// Unpacks an entry and compares its checksum. Threads take turns.
  Expected<std::vector<std::byte>> unpack(const ZipEntry &entry);

private:
  /// The state of libzip's reader of the mapped file.
  struct Source {
    std::span<const std::byte> file;
    uint64_t position = 0;
    zip_error_t error{};
  };

  explicit ZipFile(std::span<const std::byte> file) : source{.file = file} {}

  /// The callback of libzip's source, whose state is a Source.
  static zip_int64_t serve(void *source, void *data, zip_uint64_t size, zip_source_cmd_t command);
  Expected<ZipEntry> entryAt(uint64_t index);
  /// Opens an entry and calls `read` with it, which returns whether it succeeded.
  template <typename Read> Status withOpened(const ZipEntry &entry, zip_flags_t flags, const Read &read);

  Source source;
  zip_t *archive = nullptr;
  std::mutex mutex; // held while libzip unpacks: it is not thread-safe
  std::vector<ZipEntry> list;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATA_ZIP_FILE_H
