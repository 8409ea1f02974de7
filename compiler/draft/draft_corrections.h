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

/// Changes a draft until the compiler accepts it with as few warnings as possible. Pure: it sees texts and reports.
///
/// Each round removes one thing. For an error it is the statement of training, the option or the styles on the error's
/// line or on the line of one of its notes, and otherwise the split of the batch. For a warning, styles and statements
/// are removed on trial: they are restored if the next round reports as many warnings.
///
/// Example: `o_proj: rowwise tp` is refused because 3 heads cannot be split over tp = 2. Round 1 removes the group of
/// `o_proj`, which includes the colwise half of the pair; both are listed as replicated, with the message as the
/// reason. Round 2 compiles with one warning, a reshard after a norm with `sequence tp`. Round 3 removes the norm; the
/// warning count stays at 1, so the norm is restored, and the draft is accepted with the warning.
class DraftCorrections {
public:
  /// `choices` are those of `draft.styles`, in order. `inputsOf` has, by module, the clause that states whole inputs,
  /// such as ", input [_, _]"; the clauses are tried last, for the warnings that are left.
  DraftCorrections(Draft &draft, std::vector<StyleChoice> &choices, std::map<std::string, std::string> inputsOf)
      : draft(draft), choices(choices), inputsOf(std::move(inputsOf)) {}

  enum class Next {
    compile, ///< the draft was changed
    take,    ///< it cannot be improved
    refuse,  ///< the model itself is refused
  };

  /// `reported` is what the compiler reported about `text`, the current draft; `done`: it compiled.
  Next correct(const DraftText &text, bool done, const Diagnostics &reported);

private:
  const std::vector<size_t> *stylesCausing(const DraftText &text, const Diagnostic &report) const;
  std::vector<std::vector<size_t>> suspects(const DraftText &text, const Diagnostic &warning) const;
  bool takeBackTraining(const DraftText &text, const Diagnostic &report);
  bool takeBackError(const DraftText &text, const Diagnostics &reported);
  bool takeBackWarning(const DraftText &text, const Diagnostics &reported);
  void takeBackGroups(const std::vector<size_t> &styles, const std::string &reason);
  bool stateInputs(const Diagnostics &reported);
  bool wasWorthIt(bool done, const Diagnostics &reported);

  /// The draft before something was removed on trial.
  struct Attempt {
    Draft draft;
    std::vector<StyleChoice> choices;
    size_t warnings;
  };

  Draft &draft;
  std::vector<StyleChoice> &choices;
  std::map<std::string, std::string> inputsOf;
  std::optional<Attempt> before;
  std::set<std::pair<std::string, size_t>> tried; ///< warnings and the groups that were removed for them
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DRAFT_DRAFT_CORRECTIONS_H
