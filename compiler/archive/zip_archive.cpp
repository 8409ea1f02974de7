//===- zip_archive.cpp - members of a zip file -------------------*- C++ -*-===//

#include "compiler/archive/zip_archive.h"

#include <zip.h>

namespace meshplan::archive {

namespace {

/// Deflate cannot shrink data by more than this factor.
constexpr uint64_t maxDeflateRatio = 1032;

std::string openProblem(zip_error_t &error) {
  switch (zip_error_code_zip(&error)) {
  case ZIP_ER_NOZIP:
    return "not a zip archive, or truncated";
  case ZIP_ER_INCONS:
  case ZIP_ER_EOF:
    return "truncated or damaged zip archive";
  default:
    return zip_error_strerror(&error);
  }
}

} // namespace

std::unique_ptr<ZipArchive> ZipArchive::open(const std::string &path, std::vector<Diagnostic> &errors) {
  zip_error_t error;
  zip_error_init(&error);
  zip *handle = nullptr;
  // A directory opens but has no readable bytes; the source reports that on open too.
  if (zip_source_t *source = zip_source_file_create(path.c_str(), 0, -1, &error)) {
    handle = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (!handle)
      zip_source_free(source);
  }
  if (!handle) {
    int code = zip_error_code_zip(&error);
    bool unreadable = code == ZIP_ER_OPEN || code == ZIP_ER_NOENT || code == ZIP_ER_READ;
    std::string help = unreadable ? "" : "a model is exported with torch.export.save(ep, 'model.pt2')";
    std::string problem = code == ZIP_ER_OPEN || code == ZIP_ER_NOENT
                              ? std::string("cannot be opened: ") + strerror(zip_error_code_system(&error))
                              : openProblem(error);
    errors.push_back({"'" + path + "': " + problem, {}, help});
    zip_error_fini(&error);
    return nullptr;
  }
  zip_error_fini(&error);
  return std::unique_ptr<ZipArchive>(new ZipArchive(path, handle));
}

ZipArchive::ZipArchive(std::string path, zip *handle) : filePath(std::move(path)), handle(handle) {
  zip_int64_t count = zip_get_num_entries(handle, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    if (zip_stat_index(handle, i, 0, &stat) != 0 || !(stat.valid & ZIP_STAT_NAME))
      continue;
    memberNames.push_back(stat.name);
    members[stat.name] = {uint64_t(i), stat.size, stat.comp_size};
  }
}

ZipArchive::~ZipArchive() { zip_discard(handle); }

const ZipArchive::Member *ZipArchive::find(llvm::StringRef name) const {
  auto it = members.find(name);
  return it == members.end() ? nullptr : &it->second;
}

std::optional<std::string> ZipArchive::read(llvm::StringRef name, std::vector<Diagnostic> &errors) const {
  Member member = members.lookup(name);
  std::string problem;
  // The size is checked before memory is taken: it is outside data.
  if (member.size > (member.compressedSize + 1) * maxDeflateRatio) {
    problem = "its size of " + std::to_string(member.size) + " bytes cannot be";
  } else if (zip_file_t *file = zip_fopen_index(handle, member.index, 0)) {
    std::string bytes(member.size, '\0');
    zip_int64_t count = zip_fread(file, bytes.data(), bytes.size());
    // One more read reaches the end of the member, where its checksum is compared.
    char last;
    bool complete = count == zip_int64_t(bytes.size()) && zip_fread(file, &last, 1) == 0;
    problem = complete ? "" : zip_file_strerror(file);
    zip_fclose(file);
    if (complete)
      return bytes;
  } else {
    problem = zip_strerror(handle);
  }
  errors.push_back({"'" + filePath + "': member '" + name.str() + "' cannot be read: " + problem, {}, ""});
  return std::nullopt;
}

} // namespace meshplan::archive
