//===- new_folder.cpp - a folder that appears when complete ---------------===//

#include "runtime/checkpoint/new_folder.h"

#include "runtime/base/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

using namespace meshplan;

static std::string withoutSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  return path;
}

Expected<NewFolder> NewFolder::create(const std::string &path) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_empty(path, error))
    return Status::error(StatusCode::invalid, "cannot write '", path,
                         "': it already exists; help: name a folder that does not exist");
  // Takes only the random suffix of these names.
  MESHPLAN_ASSIGN_OR_RETURN(AtomicFile::Names names, AtomicFile::chooseNames(withoutSlash(path) + "/x"));
  NewFolder folder(withoutSlash(path), withoutSlash(path) + names.temporary.substr(names.temporary.rfind('.')));
  if (std::string parent = std::filesystem::path(folder.path).parent_path(); !parent.empty())
    MESHPLAN_RETURN_IF_ERROR(makeFolders(parent));
  std::filesystem::create_directory(folder.temporary, error);
  if (error)
    return Status::error(StatusCode::io, "cannot write '", path, "': ", error.message());
  return folder;
}

NewFolder::~NewFolder() {
  std::error_code ignored;
  if (!temporary.empty())
    std::filesystem::remove_all(temporary, ignored);
}

Status NewFolder::commit() {
  MESHPLAN_RETURN_IF_ERROR(flushFolder(temporary));
  // The files and their entries are durable before the folder has its name, so a crash leaves all of it or nothing. An
  // empty folder of that name is replaced.
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return Status::error(StatusCode::io, "cannot write '", path, "': ", std::strerror(errno));
  temporary.clear();
  return flushParent(path);
}
