//===- statements.cpp - which statements a plan has ------------------------===//

#include "compiler/frontend/bind/context.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace meshplan;
using namespace meshplan::bind;

namespace {

template <typename Statements>
void checkOnce(const Statements &statements, llvm::StringRef name, Diagnostics &diagnostics) {
  for (size_t i = 1; i < statements.size(); ++i)
    diagnostics.error(statements[i].range, ("a plan has one '" + name + "' statement").str())
        .note(statements[0].range, "the first one is here")
        .help("keep one of them");
}

} // namespace

void bind::checkStatements(const Syntax &syntax, Diagnostics &diagnostics) {
  checkOnce(syntax.models, "model", diagnostics);
  checkOnce(syntax.meshes, "mesh", diagnostics);
  checkOnce(syntax.losses, "loss", diagnostics);
  checkOnce(syntax.microbatches, "microbatches", diagnostics);
  checkOnce(syntax.precisions, "precision", diagnostics);
  checkOnce(syntax.optimizers, "optimizer", diagnostics);
  checkOnce(syntax.clips, "clip_grad_norm", diagnostics);
  checkOnce(syntax.nonfinites, "nonfinite", diagnostics);
  checkOnce(syntax.inits, "init", diagnostics);
  checkOnce(syntax.weightNames, "weight_names", diagnostics);
  checkOnce(syntax.overlaps, "overlap", diagnostics);
  for (const ReservedStatement &statement : syntax.reserved)
    if (statement.keyword.text == "offload")
      diagnostics.error(statement.keyword.range, "'offload' is about the parameters of a data block")
          .help("write it there: 'data AXES { ...; offload parameters, optimizer }'");
    else
      diagnostics.error(statement.keyword.range, "'" + statement.keyword.text + "' is not implemented yet")
          .help("remove the statement");
}
