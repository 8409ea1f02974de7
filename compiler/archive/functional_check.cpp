//===- functional_check.cpp - refuse graphs that write in place --*- C++ -*-===//

#include "compiler/archive/functional_check.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace meshplan::archive {

namespace {

constexpr size_t maxNotes = 3;

/// Operators that update running statistics although their name does not say so.
llvm::StringRef trainingFlag(llvm::StringRef target) {
  return llvm::StringSwitch<llvm::StringRef>(target)
      .Cases({"aten.batch_norm.default", "aten.native_batch_norm.default", "aten.cudnn_batch_norm.default"}, "training")
      .Cases({"aten._native_batch_norm_legit.default", "aten.miopen_batch_norm.default"}, "training")
      .Case("aten.instance_norm.default", "use_input_stats")
      .Default("");
}

bool updatesStatistics(const Node &node) {
  llvm::StringRef flag = trainingFlag(node.target);
  if (flag.empty())
    return false;
  const Argument *training = node.find(flag), *mean = node.find("running_mean");
  const bool *on = training ? std::get_if<bool>(training) : nullptr;
  return on && *on && mean && std::holds_alternative<ValueId>(*mean);
}

bool isInstanceNorm(const Node &node) { return node.target == "aten.instance_norm.default"; }

/// One note for each of the first nodes, and the number of the others.
void addNotes(const ExportedProgram &program, llvm::ArrayRef<const Node *> nodes, const std::string &before,
              Diagnostic &error) {
  for (const Node *node : nodes.take_front(maxNotes))
    error.notes.push_back(before + describeNode(program, *node));
  if (nodes.size() > maxNotes)
    error.notes.push_back("and " + std::to_string(nodes.size() - maxNotes) + " more");
}

template <typename Predicate>
void report(const ExportedProgram &program, const std::string &message, const std::string &help, Predicate matches,
            std::vector<Diagnostic> &errors) {
  llvm::SmallVector<const Node *> nodes;
  for (const Node &node : program.nodes)
    if (matches(node))
      nodes.push_back(&node);
  if (nodes.empty())
    return;
  Diagnostic error{message, {}, help};
  addNotes(program, nodes, "", error);
  errors.push_back(std::move(error));
}

/// The same, for errors that decompositions resolve.
template <typename Predicate>
void reportUndecomposed(const ExportedProgram &program, const std::string &message, Predicate matches,
                        std::vector<Diagnostic> &errors) {
  report(program, message,
         program.isDecomposed ? "write it without changes in place, or call 'model.eval()' before torch.export.export"
                              : "call 'ep = ep.run_decompositions({})' before torch.export.save",
         matches, errors);
}

} // namespace

std::string describeNode(const ExportedProgram &program, const Node &node) {
  std::string text = "'" + node.target + "'";
  if (!program.modulePath(node).empty())
    text += " in module '" + program.modulePath(node).str() + "'";
  if (!node.source.empty())
    text += ", " + node.source;
  return text;
}

bool writesOperand(llvm::StringRef target) {
  llvm::StringRef qualified = target.split('.').second;
  auto [name, overload] = qualified.split('.');
  if (overload == "out" || overload.ends_with("_out"))
    return true;
  // Torch also treats detach_, which only changes how gradients flow, as in place; the elements do not change.
  if (name == "detach_")
    return false;
  // Python's operators end with underscores, too: __and__ returns a new tensor, __iand__ writes.
  if (name.starts_with("__") && name.ends_with("__"))
    return llvm::is_contained({"__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__"}, name);
  return name.ends_with("_");
}

void checkFunctional(const ExportedProgram &program, const std::string &path, std::vector<Diagnostic> &errors) {
  std::string prefix = "'" + path + "': ";
  // Decomposed, it would write to its table all the same.
  auto isRenorm = [](const Node &node) { return llvm::StringRef(node.target).starts_with("aten.embedding_renorm"); };
  report(program, prefix + "an embedding with 'max_norm' changes its table in the forward pass",
         "leave max_norm out and scale the rows that are looked up, 'x * (max_norm / x.norm(dim=-1, "
         "keepdim=True)).clamp(max=1)', or scale the table between steps",
         isRenorm, errors);
  reportUndecomposed(
      program, prefix + "the graph writes in place",
      [&](const Node &node) { return writesOperand(node.target) && !isRenorm(node); }, errors);
  reportUndecomposed(
      program, prefix + "the graph updates running statistics of a normalization as a side effect",
      [](const Node &node) { return updatesStatistics(node) && !isInstanceNorm(node); }, errors);
  // Decompositions keep it, and no signature lists the buffers that it updates.
  report(
      program, prefix + "the graph updates running statistics of an instance norm, which no archive lists",
      "create the module with 'track_running_stats=False', or call 'model.eval()' before torch.export.export",
      [](const Node &node) { return updatesStatistics(node) && isInstanceNorm(node); }, errors);
  // The tensors of a rank, and results of collectives, have another memory layout than the traced one.
  report(
      program, prefix + "the graph reads elements by their position in memory",
      "write it with slices, unfold or gather instead of as_strided",
      [](const Node &node) { return llvm::StringRef(node.target).starts_with("aten.as_strided"); }, errors);
}

} // namespace meshplan::archive
