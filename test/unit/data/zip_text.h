//===- zip_text.h - a zip file written by hand ------------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_DATA_ZIP_TEXT_H
#define MESHPLAN_TEST_UNIT_DATA_ZIP_TEXT_H

#include <string>
#include <zlib.h>

namespace meshplan {

/// The lowest bytes of a number, in little-endian order.
inline void append(std::string &text, uint64_t number, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i, number >>= 8)
    text += static_cast<char>(number);
}

/// A zip file with stored entries, written by hand.
struct ZipText {
  std::string files, directory;
  uint64_t count = 0;

  /// `unpacked`: the size in the directory, if it is not that of the content; `wide`: 64-bit sizes.
  void add(const std::string &name, const std::string &content, uint16_t method = 0, bool wide = false,
           uint64_t unpacked = 0) {
    wide |= unpacked != 0;
    uint64_t offset = files.size();
    uint32_t checksum = crc32_z(0, reinterpret_cast<const Bytef *>(content.data()), content.size());
    append(files, 0x04034b50, 4);
    append(files, 0, 10);
    append(files, checksum, 4);
    append(files, content.size(), 4);
    append(files, content.size(), 4);
    append(files, name.size(), 2);
    append(files, 3, 2); // an extra field that only the local header has
    files += name + "xyz" + content;

    append(directory, 0x02014b50, 4);
    append(directory, 0, 6);
    append(directory, method, 2);
    append(directory, 0, 4);
    append(directory, checksum, 4);
    append(directory, wide ? 0xffffffff : content.size(), 4);
    append(directory, wide ? 0xffffffff : content.size(), 4);
    append(directory, name.size(), 2);
    append(directory, wide ? 28 : 0, 2);
    append(directory, 0, 10);
    append(directory, wide ? 0xffffffff : offset, 4);
    directory += name;
    if (wide) {
      append(directory, 1, 2);
      append(directory, 24, 2);
      append(directory, unpacked ? unpacked : content.size(), 8);
      append(directory, content.size(), 8);
      append(directory, offset, 8);
    }
    ++count;
  }

  std::string text(bool wide = false) const {
    std::string result = files + directory;
    if (wide) {
      append(result, 0x06064b50, 4);
      append(result, 44, 8);
      append(result, 0, 12);
      append(result, count, 8);
      append(result, count, 8);
      append(result, directory.size(), 8);
      append(result, files.size(), 8);
      append(result, 0x07064b50, 4);
      append(result, 0, 4);
      append(result, files.size() + directory.size(), 8);
      append(result, 1, 4);
    }
    append(result, 0x06054b50, 4);
    append(result, 0, 4);
    append(result, wide ? 0xffff : count, 2);
    append(result, wide ? 0xffff : count, 2);
    append(result, wide ? 0xffffffff : directory.size(), 4);
    append(result, wide ? 0xffffffff : files.size(), 4);
    append(result, 7, 2);
    return result + "comment";
  }
};

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_DATA_ZIP_TEXT_H
