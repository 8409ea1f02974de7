//===- zip_file.h - the entries of a mapped zip file ------------*- C++ -*-===//
//
// Reads the directory of a mapped zip file, so that stored entries can be used in place; zip libraries can only copy
// them out. Supports Zip64.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_DATA_ZIP_FILE_H
#define MESHPLAN_RUNTIME_DATA_ZIP_FILE_H

#include "runtime/base/status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace meshplan {

struct ZipEntry {
  std::string name;
  bool deflated = false;
  uint32_t checksum = 0;           ///< CRC-32 of the unpacked bytes
  uint64_t size = 0;               ///< size when unpacked
  std::span<const std::byte> data; ///< as stored in the file
};

/// True if the file starts with the signature of a zip file.
bool isZipFile(std::span<const std::byte> file);

/// All entries, in the order of the directory; they point into `file`. `corrupted` if the directory is missing, damaged
/// or out of bounds; `unsupported` for encryption and methods other than deflate.
Expected<std::vector<ZipEntry>> readZipDirectory(std::span<const std::byte> file);

/// Unpacks an entry and compares its checksum.
Expected<std::vector<std::byte>> unpack(const ZipEntry &entry);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATA_ZIP_FILE_H
