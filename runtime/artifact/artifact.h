//===- artifact.h - a verified schedule ---------------------------*- C++ -*-===//
//
// Loads what the compiler wrote. The file is mapped and verified once, its
// checksum, its bytes and then its meaning; who holds an Artifact trusts every index in it.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_ARTIFACT_ARTIFACT_H
#define MESHPLAN_RUNTIME_ARTIFACT_ARTIFACT_H

#include "runtime/base/file.h"
#include "runtime/base/hash.h"

#include "runtime/schema/format.h"
#include "runtime/schema/schedule_generated.h"

namespace meshplan {

/// Owns the file; the generated types point into it. Move only; thread safe,
/// since nothing in it changes.
class Artifact {
public:
  const artifact::Schedule &schedule() const { return *root; }
  const std::string &path() const { return file.path(); }

  /// Of the whole file: what the ranks compare before the first collective.
  Hash hash() const { return hashBytes(file.bytes()); }

private:
  friend Expected<Artifact> loadSchedule(const std::string &path);
  Artifact(MappedFile file, const artifact::Schedule *root) : file(std::move(file)), root(root) {}

  MappedFile file;
  const artifact::Schedule *root;
};

/// notFound or io: the file cannot be read. corrupted: its checksum, its bytes or
/// its meaning are wrong; for the meaning the message names the table and the
/// index. unsupported: another format.
Expected<Artifact> loadSchedule(const std::string &path);

/// What loadSchedule checks, for the bytes of a file in memory; `bytes` must stay
/// alive as long as the result is used and be aligned to 8.
Expected<const artifact::Schedule *> verifySchedule(std::span<const std::byte> bytes);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_ARTIFACT_ARTIFACT_H
