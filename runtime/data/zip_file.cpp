//===- zip_file.cpp - the entries of a mapped zip file --------------------===//

#include "runtime/data/zip_file.h"

#include "runtime/data/block_checksums.h"

#include <algorithm>
#include <cstring>
#include <isa-l/igzip_lib.h>
#include <limits>
#include <zip.h>

namespace meshplan {

/// Deflate compresses at most by this factor. A larger stated size is false and must not be allocated.
static constexpr uint64_t maxDeflateRatio = 1032;

namespace {

using Bytes = std::span<const std::byte>;

template <typename... Parts> Status damaged(const Parts &...what) {
  return Status::error(StatusCode::corrupted, "damaged or truncated zip file: ", what...);
}

/// The mapped file as a source of libzip. libzip has a source for memory, but no function that returns the offset of an
/// entry's data: here the position after a read gives it.
struct MappedSource {
  Bytes file;
  uint64_t position = 0;
  zip_error_t error{};

  static zip_int64_t serve(void *source, void *data, zip_uint64_t size, zip_source_cmd_t command);
};

/// The directory of a zip file while its entries are listed.
class Directory {
public:
  explicit Directory(Bytes file) : source{.file = file} {}
  ~Directory() {
    if (archive)
      zip_discard(archive);
  }

  Status open();
  uint64_t size() const { return static_cast<uint64_t>(zip_get_num_entries(archive, 0)); }
  Expected<ZipEntry> entryAt(uint64_t index);

private:
  Expected<Bytes> dataOf(const zip_stat_t &stat);

  MappedSource source;
  zip_t *archive = nullptr;
};

} // namespace

zip_int64_t MappedSource::serve(void *source, void *data, zip_uint64_t size, zip_source_cmd_t command) {
  auto &[file, position, error] = *static_cast<MappedSource *>(source);
  switch (command) {
  case ZIP_SOURCE_READ:
    size = std::min<zip_uint64_t>(size, file.size() - position);
    std::copy_n(file.data() + position, size, static_cast<std::byte *>(data));
    position += size;
    return static_cast<zip_int64_t>(size);
  case ZIP_SOURCE_SEEK: {
    zip_int64_t target = zip_source_seek_compute_offset(position, file.size(), data, size, &error);
    if (target >= 0)
      position = static_cast<uint64_t>(target);
    return target < 0 ? -1 : 0;
  }
  case ZIP_SOURCE_TELL:
    return static_cast<zip_int64_t>(position);
  case ZIP_SOURCE_STAT: {
    auto &stat = *static_cast<zip_stat_t *>(data);
    zip_stat_init(&stat);
    stat.valid = ZIP_STAT_SIZE;
    stat.size = file.size();
    return sizeof stat;
  }
  case ZIP_SOURCE_ERROR:
    return zip_error_to_data(&error, data, size);
  case ZIP_SOURCE_SUPPORTS:
    return ZIP_SOURCE_SUPPORTS_SEEKABLE;
  default: // open, close and free reset the position
    position = 0;
    return 0;
  }
}

Status Directory::open() {
  zip_source_t *reader = zip_source_function_create(MappedSource::serve, &source, &source.error);
  archive = zip_open_from_source(reader, ZIP_RDONLY, &source.error);
  if (archive)
    return Status();
  // An archive that was opened owns its source; after a failure it is still ours.
  zip_source_free(reader);
  return damaged("its directory is missing or wrong");
}

/// The bytes of an entry as stored in the file.
Expected<Bytes> Directory::dataOf(const zip_stat_t &stat) {
  // Nothing to read, so the trick below would find no position.
  if (stat.comp_size == 0)
    return Bytes();
  zip_file_t *opened = zip_fopen_index(archive, stat.index, ZIP_FL_COMPRESSED);
  std::byte first; // once it is read, the source is one byte after the begin of the data
  bool isRead = opened && zip_fread(opened, &first, 1) == 1;
  if (opened)
    zip_fclose(opened);
  uint64_t begin = source.position - 1;
  if (!isRead || stat.comp_size > source.file.size() - begin)
    return damaged("entry '", stat.name, "': it reaches outside of the file");
  return source.file.subspan(begin, stat.comp_size);
}

Expected<ZipEntry> Directory::entryAt(uint64_t index) {
  zip_stat_t stat;
  if (zip_stat_index(archive, index, ZIP_FL_ENC_RAW, &stat) != 0)
    return damaged("an entry of the directory is wrong");
  ZipEntry entry;
  entry.name = stat.name;
  entry.checksum = stat.crc;
  entry.deflated = stat.comp_method == ZIP_CM_DEFLATE;
  entry.size = stat.size;
  if (stat.encryption_method != ZIP_EM_NONE || (stat.comp_method != ZIP_CM_STORE && !entry.deflated))
    return Status::error(StatusCode::unsupported, "entry '", entry.name, "' is encrypted or packed with method ",
                         stat.comp_method);
  if (!entry.deflated && stat.size != stat.comp_size)
    return damaged("entry '", entry.name, "': it is stored and has two sizes");
  MESHPLAN_ASSIGN_OR_RETURN(entry.data, dataOf(stat));
  return entry;
}

/// Unpacks raw deflate data. False if the data is damaged or its unpacked size is not that of `out`. Sizes may exceed
/// the 32-bit counters of libisal.
static bool inflateAll(Bytes packed, std::span<std::byte> out) {
  inflate_state state;
  isal_inflate_init(&state);
  constexpr size_t most = std::numeric_limits<uint32_t>::max();
  // Ends at the last block, or when nothing moves: then the data is truncated, or is more than `out` has room for.
  for (size_t moved = 1; moved > 0 && state.block_state != ISAL_BLOCK_FINISH;) {
    auto in = static_cast<uint32_t>(std::min(most, packed.size())),
         room = static_cast<uint32_t>(std::min(most, out.size()));
    state.next_in = reinterpret_cast<uint8_t *>(const_cast<std::byte *>(packed.data()));
    state.next_out = reinterpret_cast<uint8_t *>(out.data());
    state.avail_in = in;
    state.avail_out = room;
    if (isal_inflate(&state) != ISAL_DECOMP_OK)
      return false;
    packed = packed.subspan(in - state.avail_in);
    out = out.subspan(room - state.avail_out);
    moved = in - state.avail_in + room - state.avail_out;
  }
  return state.block_state == ISAL_BLOCK_FINISH && out.empty();
}

bool isZipFile(Bytes file) { return file.size() >= 4 && std::memcmp(file.data(), "PK\x03\x04", 4) == 0; }

Expected<std::vector<ZipEntry>> readZipDirectory(Bytes file) {
  Directory directory(file);
  MESHPLAN_RETURN_IF_ERROR(directory.open());
  std::vector<ZipEntry> entries;
  for (uint64_t i = 0; i < directory.size(); ++i) {
    MESHPLAN_ASSIGN_OR_RETURN(ZipEntry entry, directory.entryAt(i));
    entries.push_back(std::move(entry));
  }
  return entries;
}

Expected<std::vector<std::byte>> unpack(const ZipEntry &entry) {
  // Before the allocation: a few bytes could state a size that fills the memory.
  if (entry.size / maxDeflateRatio > entry.data.size())
    return damaged("entry '", entry.name, "': it states an impossible size");
  std::vector<std::byte> content(entry.size);
  if (!entry.deflated)
    std::copy(entry.data.begin(), entry.data.end(), content.begin());
  else if (!inflateAll(entry.data, content))
    return damaged("entry '", entry.name, "': it cannot be unpacked");
  if (crc32Of(content) != entry.checksum)
    return damaged("entry '", entry.name, "': its checksum is wrong");
  return content;
}

} // namespace meshplan
