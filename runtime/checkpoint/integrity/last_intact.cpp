//===- last_intact.cpp - the last intact checkpoint -----------------------===//

#include "runtime/checkpoint/integrity/last_intact.h"

#include "runtime/checkpoint/folder.h"
#include "runtime/checkpoint/source.h"

#include <filesystem>
#include <ranges>

using namespace meshplan;

Status meshplan::checkIntact(const std::string &checkpoint) {
  MESHPLAN_ASSIGN_OR_RETURN(CheckpointSource source, CheckpointSource::openSaved(checkpoint));
  return source.checkSaved();
}

/// "`mv run/step-000020 run/damaged-step-000020`", which takes the name of a checkpoint away from it.
static std::string renaming(const std::string &checkpoint) {
  std::filesystem::path path(checkpoint);
  return "`mv " + checkpoint + " " + (path.parent_path() / ("damaged-" + path.filename().string())).string() + "`";
}

Status meshplan::withLastIntact(const Status &failure, const std::string &checkpoint, const std::string &asked) {
  // Reading all checkpoints takes minutes, and helps only against damage.
  if (failure.code() != StatusCode::corrupted)
    return failure;
  std::filesystem::path normal = std::filesystem::path(checkpoint + "/.").lexically_normal().parent_path();
  std::string folder = normal.has_parent_path() ? normal.parent_path().string() : ".";
  bool isFolderAsked = !std::filesystem::exists(asked + "/" + recordName) && asked != checkpoint;
  auto fail = [&](const std::string &help) { return Status(failure.code(), failure.message() + "; help: " + help); };
  std::string damaged = renaming(normal.string());
  auto list = listCheckpoints(folder);
  // Newest first. Damaged ones on the way are listed too: the same command takes the newest, so all of them must be
  // renamed.
  for (const SavedCheckpoint &other : std::views::reverse(list ? *list : std::vector<SavedCheckpoint>())) {
    std::error_code ignored;
    if (std::filesystem::equivalent(other.path, checkpoint, ignored))
      continue;
    if (checkIntact(other.path).ok())
      return fail("the last intact checkpoint there is '" + other.path +
                  "': " + (isFolderAsked ? damaged + "; the same command uses it" : "name that one"));
    damaged += ", " + renaming(other.path);
  }
  return fail("no other checkpoint in '" + folder + "' is intact");
}
