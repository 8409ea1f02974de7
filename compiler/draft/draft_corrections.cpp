//===- draft_corrections.cpp - what the compiler refuses of a draft -------===//
//
// The compiler is the judge of a draft: this file removes what it refuses, one cause at a time, and the draft is
// compiled again. An error removes the group of styles that its location names (all layers alike), or the statement of
// training, or the split of the batch. Once the draft compiles, each warning is tried: its styles are removed, and
// restored unless there are fewer warnings (`before`, `tried`). Every round removes something or marks a warning as
// tried, so the loop ends.

#include "compiler/draft/draft_corrections.h"
#include "compiler/support/layer_names.h"
#include "llvm/ADT/STLExtras.h"

using namespace meshplan;

/// Removes the groups of these styles: half of a pair would only cost communication.
void DraftCorrections::takeBackGroups(const std::vector<size_t> &styles, const std::string &reason) {
  std::set<size_t> groups;
  for (size_t index : styles)
    groups.insert(choices[index].group);
  std::vector<StyleChoice> keptChoices;
  std::vector<LabelledModule> keptStyles;
  for (auto [choice, style] : llvm::zip(choices, draft.styles)) {
    if (groups.count(choice.group)) {
      // The reader of the plan sees why a module stays whole.
      draft.undivided.push_back({choice.path, reason});
      continue;
    }
    keptChoices.push_back(choice);
    keptStyles.push_back(style);
  }
  choices = std::move(keptChoices);
  draft.styles = std::move(keptStyles);
}

/// The styles of the statement that a report, or one of its notes, points to; null if there is none.
const std::vector<size_t> *DraftCorrections::stylesCausing(const DraftText &text, const Diagnostic &report) const {
  std::vector<int32_t> lines{report.range.line};
  for (const Note &note : report.notes)
    lines.push_back(note.range.line);
  for (int32_t line : lines)
    for (const auto &[entryLine, styles] : text.entries)
      if (entryLine == line)
        return &styles;
  return nullptr;
}

/// Removes the statement of training, or its option, on the line of a report. For an error, a statement that training
/// needs (mayGo is false) loses only the option; for a warning, such a statement stays unchanged.
bool DraftCorrections::takeBackTraining(const DraftText &text, const Diagnostic &report) {
  auto found = llvm::find_if(text.training, [&](const DraftText::TrainingLine &line) {
    bool isOption = line.option && report.severity == Severity::Error;
    return line.line == report.range.line && (draft.training[line.statement].mayGo || isOption);
  });
  if (found == text.training.end())
    return false;
  DraftStatement &statement = draft.training[found->statement];
  std::string left = statement.text;
  if (found->option) {
    left = statement.options[*found->option].text;
    statement.options.erase(statement.options.begin() + static_cast<ptrdiff_t>(*found->option));
  }
  draft.leftOut.push_back("'" + left + "': " + report.message);
  if (!found->option || statement.options.empty())
    draft.training.erase(draft.training.begin() + static_cast<ptrdiff_t>(found->statement));
  return true;
}

/// Removes the cause of the first error; later errors may be consequences. An error that points to no statement is
/// attributed to the split of the batch, which affects every activation.
bool DraftCorrections::takeBackError(const DraftText &text, const Diagnostics &reported) {
  const Diagnostic &error =
      *llvm::find_if(reported.all(), [](const Diagnostic &report) { return report.severity == Severity::Error; });
  if (takeBackTraining(text, error))
    return true;
  if (const std::vector<size_t> *styles = stylesCausing(text, error)) {
    takeBackGroups(*styles, error.message);
    return true;
  }
  if (!draft.splitsBatch)
    return false;
  draft.splitsBatch = false;
  draft.wholeBatchReason = error.message;
  return true;
}

/// The styles that may cause a warning: those of its statement, or, if it points to none, those of each group of equal
/// norms, which split the activations that all modules read.
std::vector<std::vector<size_t>> DraftCorrections::suspects(const DraftText &text, const Diagnostic &warning) const {
  if (const std::vector<size_t> *styles = stylesCausing(text, warning))
    return {*styles};
  std::map<size_t, std::vector<size_t>> norms;
  for (auto [index, choice] : llvm::enumerate(choices))
    if (choice.style == DraftStyle::sequence)
      norms[choice.group].push_back(index);
  std::vector<std::vector<size_t>> all;
  for (const auto &[group, styles] : norms)
    all.push_back(styles);
  return all;
}

/// Removes the styles of the first warning that has not been tried yet.
bool DraftCorrections::takeBackWarning(const DraftText &text, const Diagnostics &reported) {
  for (const Diagnostic &warning : reported.all()) {
    if (tried.count({warning.message, 0}) == 0) {
      Attempt now{draft, choices, reported.all().size()};
      if (takeBackTraining(text, warning)) {
        tried.insert({warning.message, 0});
        before = std::move(now);
        return true;
      }
    }
    for (const std::vector<size_t> &styles : suspects(text, warning)) {
      if (!tried.insert({warning.message, choices[styles.front()].group}).second)
        continue;
      before = Attempt{draft, choices, reported.all().size()};
      takeBackGroups(styles, warning.message);
      return true;
    }
  }
  return false;
}

/// States that inputs are gathered in front of modules that read them whole, such as experts that sort the tokens of
/// all samples: the reshard is then asked for and no longer warned of. False if this was tried before.
bool DraftCorrections::stateInputs(const Diagnostics &reported) {
  if (inputsOf.empty() || reported.all().empty())
    return false;
  before = Attempt{draft, choices, reported.all().size()};
  std::vector<std::string> named;
  for (const auto &[module, clauses] : inputsOf) {
    auto style = llvm::find_if(draft.styles, [&](const LabelledModule &own) { return own.path == module; });
    if (style == draft.styles.end()) {
      draft.styles.push_back({module, "replicate"});
      StyleChoice whole;
      whole.path = module, whole.style = DraftStyle::whole, whole.group = SIZE_MAX;
      choices.push_back(std::move(whole));
      style = std::prev(draft.styles.end());
    }
    style->label.insert(std::min(style->label.find("  //"), style->label.size()), clauses);
    if (std::string name = withoutIndices(module); !llvm::is_contained(named, name))
      named.push_back(std::move(name));
  }
  inputsOf.clear();
  for (const std::string &name : named)
    draft.notes.push_back("'" + name + "' reads its inputs whole: they are gathered over all axes.");
  return true;
}

/// False if something was removed for a warning and the number of warnings did not go down; then it is restored.
bool DraftCorrections::wasWorthIt(bool done, const Diagnostics &reported) {
  bool helped = !before || (done && reported.all().size() < before->warnings);
  if (!helped) {
    draft = std::move(before->draft);
    choices = std::move(before->choices);
  }
  before.reset();
  return helped;
}

DraftCorrections::Next DraftCorrections::correct(const DraftText &text, bool done, const Diagnostics &reported) {
  // The reports are about the text with the change. After it is undone they are out of date, so the next round
  // compiles.
  if (!wasWorthIt(done, reported))
    return Next::compile;
  if (done ? takeBackWarning(text, reported) || stateInputs(reported) : takeBackError(text, reported))
    return Next::compile;
  return done ? Next::take : Next::refuse;
}
