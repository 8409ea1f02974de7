//===- file_bytes.h - contents of files as text ------------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_BASE_FILE_BYTES_H
#define MESHPLAN_TEST_UNIT_BASE_FILE_BYTES_H

#include "runtime/base/file.h"

#include <span>
#include <string>

namespace meshplan {

/// Of a text that lives on.
inline std::span<const std::byte> bytesOf(const std::string &text) { return std::as_bytes(std::span(text)); }

/// What is in a file; nothing if it cannot be read.
inline std::string contentOf(const std::string &path) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return "";
  return std::string(reinterpret_cast<const char *>(file->bytes().data()), file->bytes().size());
}

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_BASE_FILE_BYTES_H
