//===- zip_archive.cpp - members of a zip file -------------------*- C++ -*-===//
//
// The sizes in the directory of a zip file are untrusted. Memory is allocated for a member only if its size is possible
// for the bytes that it has in the file: the same size if they are stored, a limited multiple if they are deflated.
//
//===----------------------------------------------------------------------===//

#include "compiler/archive/zip_archive.h"

#include "llvm/Support/FileSystem.h"

#include <zip.h>

namespace meshplan::archive {

namespace {

/// Deflate cannot shrink data by more than this factor.
constexpr uint64_t maxDeflateRatio = 1032;

std::string openProblem(int code) {
  switch (code) {
  case ZIP_ER_NOZIP:
    return "is not a zip archive, or is truncated";
  case ZIP_ER_INCONS:
  case ZIP_ER_EOF:
    return "is a truncated or damaged zip archive";
  default:
    break;
  }
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string problem = std::string("cannot be read: ") + zip_error_strerror(&error);
  zip_error_fini(&error);
  return problem;
}

} // namespace

std::unique_ptr<ZipArchive> ZipArchive::open(const std::string &path, std::vector<Diagnostic> &errors) {
  namespace fs = llvm::sys::fs;
  auto fail = [&](const std::string &problem, const char *help) {
    errors.push_back({"'" + path + "' " + problem, {}, help});
    return nullptr;
  };
  fs::file_status status;
  if (std::error_code code = fs::status(path, status))
    return fail("cannot be opened: " + llvm::StringRef(code.message()).lower(),
                "torch.export.save(program, path) writes it; in a plan a relative path starts at the plan's folder");
  if (!fs::is_regular_file(status))
    return fail(fs::is_directory(status) ? "is a folder" : "is not a regular file",
                "name the .pt2 file that torch.export.save wrote");

  int code = ZIP_ER_OK;
  if (zip *handle = zip_open(path.c_str(), ZIP_RDONLY, &code))
    return std::unique_ptr<ZipArchive>(new ZipArchive(path, status.getSize(), handle));
  return fail(openProblem(code), "a model is written by torch.export.save(program, 'model.pt2')");
}

ZipArchive::ZipArchive(std::string path, uint64_t fileSize, zip *handle)
    : filePath(std::move(path)), fileSize(fileSize), handle(handle) {
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

/// The error if the sizes of a member are not plausible.
std::string ZipArchive::problemOf(const Member &member, uint64_t most) const {
  // A header of a few bytes must not make the reader allocate terabytes.
  if (member.compressedSize > fileSize || member.size / maxDeflateRatio > member.compressedSize)
    return "the size in its header cannot be";
  if (member.size > most && member.size > member.compressedSize)
    return "unpacked it is " + std::to_string(member.size) + " bytes, at most " + std::to_string(most) + " are read";
  return "";
}

/// Reads into `bytes`, which has the member's size. Returns an empty text or the error.
std::string ZipArchive::readAll(const Member &member, std::string &bytes) const {
  zip_file_t *file = zip_fopen_index(handle, member.index, 0);
  if (!file)
    return zip_strerror(handle);
  // A read returns less than requested if the request exceeds the range of its counters.
  uint64_t done = 0;
  zip_int64_t count = 1;
  while (done < bytes.size() && (count = zip_fread(file, bytes.data() + done, bytes.size() - done)) > 0)
    done += count;
  // One more read reaches the end of the member, where libzip compares the checksum.
  char last;
  bool isWhole = done == bytes.size(), isEnd = isWhole && zip_fread(file, &last, 1) == 0;
  std::string problem = isEnd        ? ""
                        : count == 0 ? "it ends before the size in its header"
                        : isWhole && zip_error_code_zip(zip_file_get_error(file)) == ZIP_ER_OK
                            ? "it is longer than the size in its header"
                            : zip_file_strerror(file);
  zip_fclose(file);
  return problem;
}

std::optional<std::string> ZipArchive::read(llvm::StringRef name, std::vector<Diagnostic> &errors,
                                            uint64_t most) const {
  Member member = members.lookup(name);
  std::string bytes, problem = problemOf(member, most);
  if (problem.empty()) {
    bytes.resize(member.size);
    problem = readAll(member, bytes);
  }
  if (problem.empty())
    return bytes;
  errors.push_back({"'" + filePath + "': member '" + name.str() + "' cannot be read: " + problem, {}, ""});
  return std::nullopt;
}

} // namespace meshplan::archive
