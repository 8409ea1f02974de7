//===- artifact.h - sched modules as artifacts ------------------*- C++ -*-===//
//
// The artifact is the FlatBuffers form of a sched module. Its schema is runtime/schema/schedule.fbs, and it ends with
// the checksum of runtime/schema/checksum.h. The same module and options give the same bytes. All functions are thread
// safe for separate modules.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TARGET_ARTIFACT_ARTIFACT_H
#define MESHPLAN_COMPILER_TARGET_ARTIFACT_ARTIFACT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <string>
#include <vector>

namespace meshplan {

/// What an artifact says besides the module.
struct ArtifactOptions {
  std::string compilerVersion;
  std::string fingerprint; ///< hash of model, plan, its values, cluster, options and compiler, in hexadecimal
  std::string planName;
  std::string device = "cpu";
};

/// The bytes of a verified sched module. Fails, with a diagnostic, if the module has no mesh, if the schema cannot
/// represent an argument or an element type, or if the module does not have the bytes of a constant.
mlir::FailureOr<std::vector<uint8_t>> serialize(mlir::ModuleOp module, const ArtifactOptions &options);

/// Writes a file atomically: it appears under `path` when it is complete. On failure no new file is left and an
/// existing one is unchanged. The error names the path and the system's reason.
llvm::Error writeArtifact(llvm::StringRef path, llvm::ArrayRef<uint8_t> bytes);

/// Prints the content of an artifact, one line for each entry. Fails if the bytes are not an artifact of this format.
llvm::Error describeArtifact(llvm::ArrayRef<uint8_t> bytes, llvm::raw_ostream &stream);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TARGET_ARTIFACT_ARTIFACT_H
