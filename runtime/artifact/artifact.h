//===- artifact.h - a verified schedule -------------------------*- C++ -*-===//
//
// Loads what the compiler wrote. The file is mapped and verified once: its identifier, checksum, bytes, format and
// meaning. Users of an Artifact may trust every index in it.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_ARTIFACT_ARTIFACT_H
#define MESHPLAN_RUNTIME_ARTIFACT_ARTIFACT_H

#include "runtime/base/file.h"
#include "runtime/base/hash.h"

#include "runtime/schema/format.h"
#include "runtime/schema/schedule_generated.h"

namespace meshplan {

/// Owns the mapped file; the generated types point into it. Move only. Thread safe, since nothing in it changes.
class Artifact {
public:
  const artifact::Schedule &schedule() const { return *root; }
  const std::string &path() const { return file.path(); }

  /// Hash of the whole file. The ranks compare it before the first collective.
  Hash hash() const { return hashBytes(file.bytes()); }

private:
  friend Expected<Artifact> loadSchedule(const std::string &path);
  Artifact(MappedFile file, const artifact::Schedule *root) : file(std::move(file)), root(root) {}

  MappedFile file;
  const artifact::Schedule *root;
};

/// notFound or io: the file cannot be read. corrupted: it is not an artifact, or its checksum, bytes or meaning are
/// wrong; for a wrong meaning the message names the table and the index. unsupported: the file has another format.
Expected<Artifact> loadSchedule(const std::string &path);

/// The checks of loadSchedule for a file in memory. `bytes` must be aligned to 8 and outlive the result.
Expected<const artifact::Schedule *> verifySchedule(std::span<const std::byte> bytes);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_ARTIFACT_ARTIFACT_H
