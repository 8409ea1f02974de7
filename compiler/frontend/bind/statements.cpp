//===- statements.cpp - which statements a plan has ------------------------===//

#include "compiler/frontend/bind/context.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <tuple>

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
  for (const ReservedStatement &statement : syntax.reserved)
    if (statement.keyword.text == "offload")
      diagnostics.error(statement.keyword.range, "'offload' is about the parameters of a data block")
          .help("write it there: 'data AXES { ...; offload parameters, optimizer }'");
    else
      diagnostics.error(statement.keyword.range, "'" + statement.keyword.text + "' is not implemented yet")
          .help("remove the statement");
}

std::vector<LaterStatement> bind::laterStatements(const Syntax &syntax, const BoundPlan &plan) {
  std::vector<LaterStatement> result;
  auto add = [&](const auto &statements, llvm::StringRef name, llvm::StringRef help) {
    for (const auto &statement : statements)
      result.push_back({name.str(), help.str(), statement.range});
  };
  if (plan.microbatches.count > 1 && plan.microbatches.mean)
    add(syntax.microbatches, "microbatches N mean",
        "leave 'mean' out where no operator mixes samples: the mean is then that of the whole batch");
  llvm::stable_sort(result, [](const LaterStatement &a, const LaterStatement &b) {
    return std::tie(a.range.line, a.range.column) < std::tie(b.range.line, b.range.column);
  });
  return result;
}
