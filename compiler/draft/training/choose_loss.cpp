//===- choose_loss.cpp - the output that is the loss ----------------------===//

#include "compiler/draft/training/choose_loss.h"
#include "compiler/support/nearest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace meshplan;
using archive::ScalarType;

static bool isFloat(ScalarType type) {
  return type == ScalarType::Float16 || type == ScalarType::BFloat16 || type == ScalarType::Float32 ||
         type == ScalarType::Float64;
}

/// True if the value is a scalar, which the language requires of a loss; a tensor of shape [1] is not.
static bool isOneFloat(const archive::Value &value) { return isFloat(value.type) && value.dims.empty(); }

static std::optional<std::string> noLoss(LossRequest request, SourceRange location, const std::string &message,
                                         const std::string &help, Diagnostics &diagnostics) {
  if (request == LossRequest::ifNamed)
    return "";
  if (request == LossRequest::required) {
    diagnostics.error(location, message).help(help);
    return std::nullopt;
  }
  diagnostics.warning(location, message + ": statements of training are left out").help(help);
  return "";
}

std::optional<std::string> meshplan::chooseLoss(const archive::ExportedProgram &program, const std::string &name,
                                                LossRequest request, int32_t file, Diagnostics &diagnostics) {
  std::vector<std::string> all, floats;
  for (const archive::Output &output : program.outputs) {
    all.push_back(output.name);
    if (isOneFloat(program.value(output.value)))
      floats.push_back(output.name);
  }
  std::string wanted = name.empty() ? "loss" : name;
  if (llvm::is_contained(floats, wanted))
    return wanted;
  if (!name.empty() && !llvm::is_contained(all, name)) {
    diagnostics.error({file}, "has no output '" + name + "'").help(suggest(name, all, "outputs"));
    return std::nullopt;
  }
  if (!name.empty()) {
    diagnostics.error({file}, "output '" + name + "' is not a float scalar, as a loss must be")
        .help(floats.empty() ? "export the model with its loss as an output"
                             : "outputs that are: " + quotedList(floats, ","));
    return std::nullopt;
  }
  // A scalar of another name is taken only where a loss is wanted: a model that is not trained may return any number.
  if (floats.size() == 1 && request != LossRequest::ifNamed)
    return floats.front();
  if (floats.empty())
    return noLoss(request, {file}, "the model has no output that is a float scalar, as a loss must be",
                  "export the model with its loss as an output", diagnostics);
  return noLoss(request, {file}, "several outputs are float scalars: " + quotedList(floats, ","),
                "--loss=NAME names the loss", diagnostics);
}
