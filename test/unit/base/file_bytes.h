//===- file_bytes.h - contents of files as text -----------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_BASE_FILE_BYTES_H
#define MESHPLAN_TEST_UNIT_BASE_FILE_BYTES_H

#include "runtime/base/file.h"

#include <span>
#include <string>

namespace meshplan {

/// The bytes of a text that outlives them.
inline std::span<const std::byte> bytesOf(const std::string &text) { return std::as_bytes(std::span(text)); }

/// The content of a file; empty if it cannot be read.
inline std::string contentOf(const std::string &path) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return "";
  return std::string(reinterpret_cast<const char *>(file->bytes().data()), file->bytes().size());
}

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_BASE_FILE_BYTES_H
