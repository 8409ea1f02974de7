//===- draft_corrections.h - what the compiler refuses of a draft -*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_DRAFT_DRAFT_CORRECTIONS_H
#define MESHPLAN_COMPILER_DRAFT_DRAFT_CORRECTIONS_H

#include "compiler/draft/choose_styles.h"
#include "compiler/draft/draft_text.h"
#include "compiler/support/diagnostics.h"
#include <map>
#include <optional>
#include <set>

namespace meshplan {

/// Changes a draft until the compiler takes it, and warns of as little as can be. Pure: it sees texts and reports.
///
/// Each round takes back one thing. For an error it is the statement of training, the option or the styles on its line
/// or on that of a note, and otherwise the division of the batch. For a warning styles and statements are taken back on
/// trial: they stand again if the next round warns of as much.
class DraftCorrections {
public:
  /// `choices` are those of `draft.styles`, in order. `inputsOf` has clauses for modules that read their inputs whole:
  /// ", input [_, _]" by module, said where warnings are left in the end.
  DraftCorrections(Draft &draft, std::vector<StyleChoice> &choices, std::map<std::string, std::string> inputsOf)
      : draft(draft), choices(choices), inputsOf(std::move(inputsOf)) {}

  enum class Next {
    compile, ///< the draft was changed
    take,    ///< it is as good as it gets
    refuse,  ///< the errors are the model's
  };

  /// `reported` is what the compiler said of `text`, which is the draft as it stands; `done`: it was compiled.
  Next correct(const DraftText &text, bool done, const Diagnostics &reported);

private:
  const std::vector<size_t> *stylesBehind(const DraftText &text, const Diagnostic &report) const;
  std::vector<std::vector<size_t>> suspects(const DraftText &text, const Diagnostic &warning) const;
  bool takeBackTraining(const DraftText &text, const Diagnostic &report);
  bool takeBackError(const DraftText &text, const Diagnostics &reported);
  bool takeBackWarning(const DraftText &text, const Diagnostics &reported);
  void takeBackGroups(const std::vector<size_t> &styles, const std::string &reason);
  bool stateInputs(const Diagnostics &reported);
  bool wasWorthIt(bool done, const Diagnostics &reported);

  /// What the draft was before something was taken back on trial.
  struct Attempt {
    Draft draft;
    std::vector<StyleChoice> choices;
    size_t warnings;
  };

  Draft &draft;
  std::vector<StyleChoice> &choices;
  std::map<std::string, std::string> inputsOf;
  std::optional<Attempt> before;
  std::set<std::pair<std::string, size_t>> tried; ///< warnings and the groups that were taken back for them
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_DRAFT_CORRECTIONS_H
