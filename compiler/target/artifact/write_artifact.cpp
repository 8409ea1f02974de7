//===- write_artifact.cpp - the artifact as a file ------------------------===//

#include "compiler/support/write_file.h"
#include "compiler/target/artifact/artifact.h"
#include "llvm/ADT/StringExtras.h"

llvm::Error meshplan::writeArtifact(llvm::StringRef path, llvm::ArrayRef<uint8_t> bytes) {
  return writeFileAtomically(path, llvm::toStringRef(bytes));
}
