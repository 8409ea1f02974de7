//===- zip_file.h - the entries of a mapped zip file ------------*- C++ -*-===//
//
// libzip reads the directory of a mapped zip file; Zip64 is supported. Stored
// entries are used in place, in the mapped file. libisal unpacks deflated ones,
// three times as fast as libzip.
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

/// All entries, in the order of the directory; their data points into the file. `corrupted` if the directory is missing
/// or damaged, or if an entry reaches outside of the file; `unsupported` for encryption and methods other than deflate.
Expected<std::vector<ZipEntry>> readZipDirectory(std::span<const std::byte> file);

/// Unpacks an entry and compares its checksum.
Expected<std::vector<std::byte>> unpack(const ZipEntry &entry);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATA_ZIP_FILE_H
