//===- zip_file.cpp - the entries of a mapped zip file --------------------===//

#include "runtime/data/zip_file.h"

#include "runtime/data/block_checksums.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <zlib.h>

namespace meshplan {

namespace {

using Bytes = std::span<const std::byte>;

// Record layouts: PKWARE APPNOTE.TXT 4.3; numbers are little-endian.
constexpr uint32_t localSignature = 0x04034b50, entrySignature = 0x02014b50, endSignature = 0x06054b50;
constexpr uint32_t end64Signature = 0x06064b50, locator64Signature = 0x07064b50;
constexpr size_t localSize = 30, entrySize = 46, endSize = 22, end64Size = 56, locator64Size = 20;
constexpr uint16_t extra64 = 0x0001;
constexpr uint32_t in64 = 0xffffffff; // marks a number that is in the zip64 extra field

Status damaged(const char *what) {
  return Status::error(StatusCode::corrupted, "damaged or truncated zip file: ", what);
}

/// Precondition: the number lies inside `bytes`.
template <typename T> T numberAt(Bytes bytes, uint64_t offset) {
  T number;
  std::memcpy(&number, bytes.data() + offset, sizeof(T));
  return number;
}

std::optional<Bytes> sliceOf(Bytes bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset)
    return std::nullopt;
  return bytes.subspan(offset, size);
}

struct Directory {
  uint64_t offset, size, count;
};

Expected<Directory> findDirectory(Bytes file) {
  // A comment of at most 64 KiB follows the end record. The comment must end at the end of the file; this distinguishes
  // the record from that of a nested archive.
  if (file.size() < endSize)
    return damaged("no directory");
  uint64_t least = file.size() - std::min<size_t>(file.size(), endSize + 0xffff);
  uint64_t end = file.size() - endSize;
  auto isEnd = [&] {
    return numberAt<uint32_t>(file, end) == endSignature &&
           end + endSize + numberAt<uint16_t>(file, end + 20) == file.size();
  };
  while (!isEnd()) {
    if (end == least)
      return damaged("no directory");
    --end;
  }
  Directory directory{numberAt<uint32_t>(file, end + 16), numberAt<uint32_t>(file, end + 12),
                      numberAt<uint16_t>(file, end + 10)};
  if (end < locator64Size || numberAt<uint32_t>(file, end - locator64Size) != locator64Signature)
    return directory;
  uint64_t end64 = numberAt<uint64_t>(file, end - locator64Size + 8);
  if (!sliceOf(file, end64, end64Size) || numberAt<uint32_t>(file, end64) != end64Signature)
    return damaged("no zip64 directory");
  return Directory{numberAt<uint64_t>(file, end64 + 48), numberAt<uint64_t>(file, end64 + 40),
                   numberAt<uint64_t>(file, end64 + 32)};
}

/// Replaces the numbers that do not fit in 32 bits, in the order of the format.
Status readExtra64(Bytes extra, std::initializer_list<uint64_t *> numbers) {
  while (extra.size() >= 4) {
    uint16_t id = numberAt<uint16_t>(extra, 0), size = numberAt<uint16_t>(extra, 2);
    std::optional<Bytes> content = sliceOf(extra, 4, size);
    if (!content)
      return damaged("an extra field reaches outside");
    extra = extra.subspan(4 + size);
    if (id != extra64)
      continue;
    // The field has only the numbers that overflowed, in this order, so each is read only if its 32-bit value says so.
    for (uint64_t *number : numbers) {
      if (*number != in64)
        continue;
      if (content->size() < 8)
        return damaged("a zip64 field is too short");
      *number = numberAt<uint64_t>(*content, 0);
      content = content->subspan(8);
    }
  }
  return Status();
}

Expected<Bytes> dataOf(Bytes file, uint64_t localOffset, uint64_t size) {
  if (!sliceOf(file, localOffset, localSize) || numberAt<uint32_t>(file, localOffset) != localSignature)
    return damaged("an entry has no header");
  // The local header repeats name and extra field, possibly with another length, so its own lengths locate the data.
  uint64_t begin =
      localOffset + localSize + numberAt<uint16_t>(file, localOffset + 26) + numberAt<uint16_t>(file, localOffset + 28);
  std::optional<Bytes> data = sliceOf(file, begin, size);
  if (!data)
    return damaged("an entry reaches outside of the file");
  return *data;
}

/// Reads the entry at the start of `directory` and advances past it.
Expected<ZipEntry> readEntry(Bytes file, Bytes &directory) {
  if (directory.size() < entrySize || numberAt<uint32_t>(directory, 0) != entrySignature)
    return damaged("an entry of the directory is missing");
  uint64_t nameSize = numberAt<uint16_t>(directory, 28), extraSize = numberAt<uint16_t>(directory, 30);
  uint64_t commentSize = numberAt<uint16_t>(directory, 32);
  if (!sliceOf(directory, entrySize, nameSize + extraSize + commentSize))
    return damaged("an entry of the directory is too long");
  uint16_t flags = numberAt<uint16_t>(directory, 8), method = numberAt<uint16_t>(directory, 10);
  uint64_t packed = numberAt<uint32_t>(directory, 20), size = numberAt<uint32_t>(directory, 24);
  uint64_t localOffset = numberAt<uint32_t>(directory, 42);
  ZipEntry entry;
  entry.name.assign(reinterpret_cast<const char *>(directory.data()) + entrySize, nameSize);
  entry.checksum = numberAt<uint32_t>(directory, 16);
  MESHPLAN_RETURN_IF_ERROR(
      readExtra64(directory.subspan(entrySize + nameSize, extraSize), {&size, &packed, &localOffset}));
  if ((flags & 1) || (method != 0 && method != Z_DEFLATED))
    return Status::error(StatusCode::unsupported, "entry '", entry.name, "' is encrypted or packed with method ",
                         method);
  entry.deflated = method == Z_DEFLATED;
  entry.size = size;
  if (!entry.deflated && size != packed)
    return damaged("a stored entry has two sizes");
  MESHPLAN_ASSIGN_OR_RETURN(entry.data, dataOf(file, localOffset, packed));
  directory = directory.subspan(entrySize + nameSize + extraSize + commentSize);
  return entry;
}

/// Inflates raw deflate data in steps, since sizes may exceed zlib's 32-bit counters.
bool inflateAll(Bytes packed, std::span<std::byte> out) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return false;
  constexpr size_t most = std::numeric_limits<uInt>::max();
  int result = Z_OK;
  size_t read = 0, written = 0;
  while (result == Z_OK) {
    stream.next_in = const_cast<Bytef *>(reinterpret_cast<const Bytef *>(packed.data() + read));
    stream.avail_in = static_cast<uInt>(std::min(most, packed.size() - read));
    stream.next_out = reinterpret_cast<Bytef *>(out.data() + written);
    stream.avail_out = static_cast<uInt>(std::min(most, out.size() - written));
    uInt in = stream.avail_in, room = stream.avail_out;
    result = inflate(&stream, Z_NO_FLUSH); // without progress it returns Z_BUF_ERROR, which ends the loop
    read += in - stream.avail_in;
    written += room - stream.avail_out;
  }
  inflateEnd(&stream);
  return result == Z_STREAM_END && written == out.size();
}

} // namespace

bool isZipFile(Bytes file) { return file.size() >= 4 && numberAt<uint32_t>(file, 0) == localSignature; }

Expected<std::vector<ZipEntry>> readZipDirectory(Bytes file) {
  MESHPLAN_ASSIGN_OR_RETURN(Directory directory, findDirectory(file));
  std::optional<Bytes> records = sliceOf(file, directory.offset, directory.size);
  if (!records)
    return damaged("the directory reaches outside of the file");
  std::vector<ZipEntry> entries;
  for (uint64_t i = 0; i < directory.count; ++i) {
    MESHPLAN_ASSIGN_OR_RETURN(ZipEntry entry, readEntry(file, *records));
    entries.push_back(std::move(entry));
  }
  return entries;
}

Expected<std::vector<std::byte>> unpack(const ZipEntry &entry) {
  // Deflate compresses at most 1032 to 1. A larger stated size is false and must not be allocated.
  if (entry.size / 1032 > entry.data.size())
    return damaged("an entry states an impossible size");
  std::vector<std::byte> content(entry.size);
  if (!entry.deflated)
    std::copy(entry.data.begin(), entry.data.end(), content.begin());
  else if (!inflateAll(entry.data, content))
    return damaged("an entry cannot be unpacked");
  if (crc32Of(content) != entry.checksum)
    return damaged("the checksum of an entry is wrong");
  return content;
}

} // namespace meshplan
