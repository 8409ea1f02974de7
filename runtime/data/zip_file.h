//===- zip_file.h - where the entries of a mapped zip file are ---*- C++ -*-===//
//
// libzip reads the directory of an archive that is mapped, so that stored entries
// can be used in place; libisal unpacks the others, three times as fast as libzip.
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
  uint64_t size = 0;               ///< unpacked
  std::span<const std::byte> data; ///< as stored in the file
};

/// The file begins as a zip file does.
bool isZipFile(std::span<const std::byte> file);

/// All entries, in the order of the directory; they point into `file`.
/// `corrupted` when the directory is missing, damaged or reaches outside of the
/// file; `unsupported` for encryption and methods other than deflate.
Expected<std::vector<ZipEntry>> readZipDirectory(std::span<const std::byte> file);

/// Unpacks an entry and compares its checksum.
Expected<std::vector<std::byte>> unpack(const ZipEntry &entry);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATA_ZIP_FILE_H
