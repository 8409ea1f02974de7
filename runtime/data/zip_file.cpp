//===- zip_file.cpp - the entries of a mapped zip file --------------------===//

#include "runtime/data/zip_file.h"

#include "runtime/data/block_checksums.h"

#include <algorithm>
#include <cstring>
#include <isa-l/igzip_lib.h>
#include <limits>
#include <zip.h>

namespace meshplan {

namespace {

using Bytes = std::span<const std::byte>;

template <typename... Parts> Status damaged(const Parts &...what) {
  return Status::error(StatusCode::corrupted, "damaged or truncated zip file: ", what...);
}

/// The mapped file as a source of libzip. Its own source for memory would do, but libzip has no function that says
/// where the data of an entry begins; here the position of its last read says it.
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
  Expected<Bytes> dataOf(uint64_t index, uint64_t size);

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
  default: // to open, close or free it is to read from the beginning again
    position = 0;
    return 0;
  }
}

Status Directory::open() {
  zip_source_t *reader = zip_source_function_create(MappedSource::serve, &source, &source.error);
  archive = zip_open_from_source(reader, ZIP_RDONLY, &source.error);
  if (archive)
    return Status();
  zip_source_free(reader);
  return damaged("its directory is missing or wrong");
}

Expected<Bytes> Directory::dataOf(uint64_t index, uint64_t size) {
  if (size == 0)
    return Bytes();
  zip_file_t *opened = zip_fopen_index(archive, index, ZIP_FL_COMPRESSED);
  std::byte first; // after which the source is one byte behind where the data begins
  bool isRead = opened && zip_fread(opened, &first, 1) == 1;
  if (opened)
    zip_fclose(opened);
  uint64_t begin = source.position - 1;
  if (!isRead || size > source.file.size() - begin)
    return damaged("an entry reaches outside of the file");
  return source.file.subspan(begin, size);
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
    return damaged("a stored entry has two sizes");
  MESHPLAN_ASSIGN_OR_RETURN(entry.data, dataOf(index, stat.comp_size));
  return entry;
}

/// Raw deflate data, which must fill `out`; sizes may be larger than the 32-bit counters of libisal.
static bool inflateAll(Bytes packed, std::span<std::byte> out) {
  inflate_state state;
  isal_inflate_init(&state);
  constexpr size_t most = std::numeric_limits<uint32_t>::max();
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
  // Deflate packs at most 1032 to 1: a larger size is a lie that must not be allocated.
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
