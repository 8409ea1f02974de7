//===- statement_forms.cpp - the form of each statement --------------------===//

#include "compiler/frontend/statement_forms.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

using namespace meshplan;

namespace {

struct Form {
  llvm::StringRef keyword;
  llvm::StringRef form;
};

/// The form of each statement.
constexpr Form forms[] = {
    {"model", "model \"FILE.pt2\""},
    {"mesh", "mesh NAME = SIZE, NAME = SIZE"},
    {"let", "let NAME = VALUE"},
    {"input", "input NAME, NAME: [NAME = SIZE over AXIS, NAME, _]"},
    {"output", "output NAME: [NAME over AXIS, _]"},
    {"loss", "loss OUTPUT [per token | sequence]"},
    {"microbatches", "microbatches NUMBER [mean]"},
    {"override", "override PATH: STYLE AXIS"},
    {"rest", "rest: STYLE"},
    {"data", "data AXES [on PATHS] { OPTIONS }"},
    {"precision", "precision { NAME DTYPE }"},
    {"recompute", "recompute PATHS [keep NAMES]"},
    {"reserve", "reserve NUMBER [on PATHS]"},
    {"capacity", "capacity NUMBER [on PATHS]"},
    {"balance", "balance bias RATE [on PATHS]"},
    {"optimizer", "optimizer NAME { OPTIONS }"},
    {"clip_grad_norm", "clip_grad_norm NUMBER"},
    {"nonfinite", "nonfinite gradients stop | skip"},
    {"freeze", "freeze PATHS"},
    {"train", "train only PATHS"},
    {"unused", "unused PATHS"},
    {"pipeline", "pipeline AXIS { OPTIONS }"},
    {"context", "context AXIS { OPTIONS }"},
    {"fold", "fold (AXIS, AXIS) as (NAME = SIZE, NAME = SIZE)"},
    {"overlap", "overlap { require GROUP hidden >= N %; forbid exposed > TIME }"},
    {"init", "init { PATH DISTRIBUTION }"},
    {"weight_names", "weight_names { PATH: [stack] NAME [dim N] [parts (N, N)] }"},
    {"offload", "offload parameters, optimizer' in 'data AXES { ... }"},
    {"tie", "tie PATHS"},
    {"shapes", "shapes { OPTIONS }"},
};

/// The options of each statement with a block; no option has the name of a statement.
constexpr std::pair<llvm::StringRef, llvm::StringRef> homes[] = {
    {"shard", "data AXES"},       {"unit", "data AXES"},           {"keep", "data AXES"},
    {"bucket", "data AXES"},      {"prefetch", "data AXES"},       {"reduce", "data AXES"},
    {"average", "data AXES"},     {"contiguous", "data AXES"},     {"register", "data AXES"},
    {"group", "optimizer NAME"},  {"schedule", "optimizer NAME"},  {"lr", "optimizer NAME"},
    {"eps", "optimizer NAME"},    {"dampening", "optimizer NAME"}, {"nesterov", "optimizer NAME"},
    {"betas", "optimizer NAME"},  {"momentum", "optimizer NAME"},  {"weight_decay", "optimizer NAME"},
    {"master", "precision"},      {"storage", "precision"},        {"gather", "precision"},
    {"state", "precision"},       {"compute", "precision"},        {"loss_scale", "precision"},
    {"activations", "precision"}, {"require", "overlap"},          {"forbid", "overlap"},
    {"split", "overlap"},
};

} // namespace

std::string meshplan::keywordForm(llvm::StringRef keyword) {
  for (const Form &form : forms)
    if (form.keyword == keyword)
      return "the form is '" + form.form.str() + "'";
  return "";
}

const std::vector<std::string> &meshplan::statementKeywords() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> result;
    for (const Form &form : forms)
      result.push_back(form.keyword.str());
    return result;
  }();
  return words;
}

std::string meshplan::optionHome(llvm::StringRef word) {
  for (const auto &[option, statement] : homes)
    if (option == word)
      return ("'" + word + "' is an option: write '" + statement + " { " + word + " ... }'").str();
  return "";
}

std::string meshplan::statementHome(llvm::StringRef word) {
  for (const std::string &keyword : statementKeywords())
    if (keyword == word || llvm::StringRef(keyword).starts_with((word + "_").str()))
      return "'" + keyword + "' is a statement of its own: " + keywordForm(keyword);
  return "";
}

std::string meshplan::keywordOf(TrainableStatement::Kind kind) {
  switch (kind) {
  case TrainableStatement::Kind::Freeze:
    return "freeze";
  case TrainableStatement::Kind::TrainOnly:
    return "train only";
  case TrainableStatement::Kind::Unused:
    return "unused";
  }
  llvm_unreachable("unknown statement");
}
