//===- zip_file.cpp - the entries of a mapped zip file --------------------===//

#include "runtime/data/zip_file.h"

#include <algorithm>
#include <cstring>

namespace meshplan {

/// Deflate compresses at most by this factor. A larger stated size is false and must not be allocated.
static constexpr uint64_t maxDeflateRatio = 1032;

template <typename... Parts> static Status damaged(const Parts &...what) {
  return Status::error(StatusCode::corrupted, "damaged or truncated zip file: ", what...);
}

bool isZipFile(std::span<const std::byte> file) {
  return file.size() >= 4 && std::memcmp(file.data(), "PK\x03\x04", 4) == 0;
}

// A source of our own, because libzip has no function that returns the offset of an entry's data: after a read, the
// source's position gives it.
zip_int64_t ZipFile::serve(void *state, void *data, zip_uint64_t size, zip_source_cmd_t command) {
  auto &[file, position, error] = *static_cast<Source *>(state);
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

ZipFile::~ZipFile() {
  if (archive)
    zip_discard(archive);
}

template <typename Read> Status ZipFile::withOpened(const ZipEntry &entry, zip_flags_t flags, const Read &read) {
  zip_file_t *opened = zip_fopen_index(archive, entry.index, flags);
  if (!opened)
    return damaged("entry '", entry.name, "': ", zip_strerror(archive));
  Status status;
  if (!read(opened))
    status = damaged("entry '", entry.name, "': ",
                     zip_error_code_zip(zip_file_get_error(opened)) == ZIP_ER_OK ? "it has another size than stated"
                                                                                 : zip_file_strerror(opened));
  zip_fclose(opened);
  return status;
}

Expected<ZipEntry> ZipFile::entryAt(uint64_t index) {
  zip_stat_t stat;
  if (zip_stat_index(archive, index, ZIP_FL_ENC_RAW, &stat) != 0)
    return damaged(zip_strerror(archive));
  ZipEntry entry{.name = stat.name,
                 .index = index,
                 .deflated = stat.comp_method == ZIP_CM_DEFLATE,
                 .checksum = stat.crc,
                 .size = stat.size,
                 .data = {}};
  if (stat.encryption_method != ZIP_EM_NONE || (stat.comp_method != ZIP_CM_STORE && !entry.deflated))
    return Status::error(StatusCode::unsupported, "entry '", entry.name, "' is encrypted or packed with method ",
                         stat.comp_method);
  if (!entry.deflated && stat.size != stat.comp_size)
    return damaged("entry '", entry.name, "': it is stored and has two sizes");
  if (stat.comp_size == 0)
    return entry;
  std::byte first;
  MESHPLAN_RETURN_IF_ERROR(withOpened(entry, ZIP_FL_COMPRESSED, [&](zip_file_t *opened) {
    return zip_fread(opened, &first, 1) == 1; // the source is then one byte after the begin of the data
  }));
  uint64_t begin = source.position - 1;
  if (stat.comp_size > source.file.size() - begin)
    return damaged("entry '", entry.name, "': it reaches outside of the file");
  entry.data = source.file.subspan(begin, stat.comp_size);
  return entry;
}

Expected<std::shared_ptr<ZipFile>> ZipFile::open(std::span<const std::byte> file) {
  std::shared_ptr<ZipFile> zip(new ZipFile(file));
  zip_source_t *reader = zip_source_function_create(serve, &zip->source, &zip->source.error);
  zip->archive = zip_open_from_source(reader, ZIP_RDONLY, &zip->source.error);
  if (!zip->archive) {
    zip_source_free(reader);
    return damaged("its directory is missing or wrong");
  }
  auto count = static_cast<uint64_t>(zip_get_num_entries(zip->archive, 0));
  for (uint64_t i = 0; i < count; ++i) {
    MESHPLAN_ASSIGN_OR_RETURN(ZipEntry entry, zip->entryAt(i));
    zip->list.push_back(std::move(entry));
  }
  return zip;
}

Expected<std::vector<std::byte>> ZipFile::unpack(const ZipEntry &entry) {
  if (entry.size / maxDeflateRatio > entry.data.size())
    return damaged("entry '", entry.name, "': it states an impossible size");
  std::vector<std::byte> content(entry.size);
  std::lock_guard lock(mutex);
  MESHPLAN_RETURN_IF_ERROR(withOpened(entry, 0, [&](zip_file_t *opened) {
    // A read returns fewer bytes than requested if the request exceeds libzip's counters.
    uint64_t done = 0;
    for (zip_int64_t count = 1; done < content.size() && count > 0; done += std::max<zip_int64_t>(count, 0))
      count = zip_fread(opened, content.data() + done, content.size() - done);
    std::byte last; // one more read reaches the end of the entry, where libzip compares the checksum
    return done == content.size() && zip_fread(opened, &last, 1) == 0;
  }));
  return content;
}

} // namespace meshplan
