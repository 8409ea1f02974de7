//===- print_artifact.cpp - the artifact of a module as text --------------===//
//
// Prints from the serialized bytes, so that the text shows what a reader of the artifact finds.
//
//===----------------------------------------------------------------------===//

#include "compiler/target/artifact/artifact.h"
#include "compiler/target/artifact/passes.h"

using namespace mlir;

namespace meshplan {

#define GEN_PASS_DEF_PRINTARTIFACT
#include "compiler/target/artifact/passes.h.inc"

namespace {
struct PrintArtifact : public impl::PrintArtifactBase<PrintArtifact> {
  using PrintArtifactBase::PrintArtifactBase;

  void runOnOperation() final {
    markAllAnalysesPreserved();
    FailureOr<std::vector<uint8_t>> bytes = serialize(getOperation(), {});
    if (failed(bytes))
      return signalPassFailure();
    if (llvm::Error error = describeArtifact(*bytes, llvm::outs())) {
      getOperation().emitError() << llvm::toString(std::move(error));
      signalPassFailure();
    }
  }
};
} // namespace

} // namespace meshplan
