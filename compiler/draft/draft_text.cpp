//===- draft_text.cpp - the text of a drafted plan ------------------------===//
//
// A draft is read and edited by a person: each line that was guessed says in a comment from what, and what could not be
// decided is said where it would be.
//
//===----------------------------------------------------------------------===//

#include "compiler/draft/draft_text.h"
#include "compiler/draft/draft_inputs.h"
#include "compiler/draft/plan_words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace meshplan;
using llvm::StringRef;

namespace {

class DraftWriter {
public:
  explicit DraftWriter(const Draft &draft) : draft(draft) {}

  DraftText write();

private:
  void line(const std::string &text);
  void comment(const std::string &text, const std::string &indent = "  ");
  void writeHead();
  void writeInputs();
  void writeEntries();
  void writeUndivided();
  void writeTraining();
  std::vector<ModulePattern> patterns(const std::vector<LabelledModule> &named) const;
  bool leavesRest() const;
  std::string restComment() const;

  const Draft &draft;
  DraftText result;
  int32_t lines = 0;
};

} // namespace

void DraftWriter::line(const std::string &text) {
  result.text += text + '\n';
  ++lines;
}

/// Breaks a comment into lines of the width of a plan.
void DraftWriter::comment(const std::string &text, const std::string &indent) {
  constexpr size_t width = 120;
  std::string current = indent + "//";
  for (StringRef word : llvm::split(text, ' ')) {
    if (current.size() + 1 + word.size() > width) {
      line(current);
      current = indent + "//  ";
    }
    current += " " + word.str();
  }
  line(current);
}

/// A comment at the end of a line.
static std::string commentText(const std::string &from) { return from.empty() ? "" : "  // " + from; }

void DraftWriter::writeHead() {
  comment("Drafted by 'meshplan init': a plan that compiles, to be changed where you know better.", "");
  for (const std::string &note : draft.notes)
    comment(note, "");
  line("plan " + planWord(draft.name) + " {");
  line("  model " + quotedWord(draft.modelFile));
  std::vector<std::string> axes;
  for (const DraftAxis &axis : draft.mesh)
    axes.push_back(axis.name + " = " + std::to_string(axis.size));
  line("  mesh " + llvm::join(axes, ", "));
}

void DraftWriter::writeInputs() {
  std::string axes = draft.splitsBatch ? axesOfRole(draft.mesh, AxisRole::data) : "";
  BatchAxes batch{axes, axes.empty() ? 1 : shardsOfRole(draft.mesh, AxisRole::data)};
  DraftInputs inputs =
      draftInputs(draft.model->inputs, draft.exampleExtents, batch, draft.readsTokens, draft.inputNames);
  for (const std::string &let : inputs.lets)
    line("  " + let);
  line("");
  if (!draft.splitsBatch && !draft.wholeBatchReason.empty())
    comment("the batch stays whole: " + draft.wholeBatchReason);
  for (const std::string &statement : inputs.statements)
    line("  " + statement);
  std::string unit = draft.lossUnit.text.empty() ? "" : " per " + draft.lossUnit.text;
  if (!draft.loss.empty())
    line("  loss " + planWord(draft.loss) + unit + commentText(draft.lossUnit.from));
}

/// Patterns for modules and parameters. An entry applies to all modules below the one it names, so a pattern may not
/// match a module outside the group either, even if that module holds no parameters.
std::vector<ModulePattern> DraftWriter::patterns(const std::vector<LabelledModule> &named) const {
  std::set<std::string> all(draft.modules.begin(), draft.modules.end());
  all.insert(draft.parameters.begin(), draft.parameters.end());
  for (const OutlineModule &module : draft.model->modules)
    all.insert(module.path);
  return patternsOf(named, {all.begin(), all.end()});
}

void DraftWriter::writeEntries() {
  std::string block;
  auto close = [&] {
    if (!block.empty())
      line("  }");
    block.clear();
  };
  if (!draft.styles.empty())
    line("");
  std::vector<ModulePattern> entries = patterns(draft.styles);
  for (const ModulePattern &pattern : entries) {
    auto isInBlock = [&](const ModulePattern &other) { return other.block == pattern.block; };
    bool isBlock = !pattern.block.empty() && llvm::count_if(entries, isInBlock) > 1;
    if (block != (isBlock ? pattern.block : ""))
      close();
    if (isBlock && block.empty())
      line("  " + pattern.block + " {");
    block = isBlock ? pattern.block : "";
    line((isBlock ? "    " + pattern.path : "  " + pattern.text()) + ": " + pattern.label);
    // The line of each entry is kept, so that an error of the compiler at a line tells which modules to leave whole
    // next.
    result.entries.push_back({lines, pattern.modules});
  }
  close();
}

void DraftWriter::writeUndivided() {
  // Equal reasons of different layers become one comment.
  std::vector<std::pair<std::string, std::vector<std::string>>> byReason;
  for (const ModulePattern &pattern : patterns(draft.undivided)) {
    auto known = llvm::find_if(byReason, [&](const auto &entry) { return entry.first == pattern.label; });
    if (known == byReason.end())
      known = byReason.insert(byReason.end(), {pattern.label, {}});
    known->second.push_back(pattern.text() == "\"\"" ? "the root module" : pattern.text());
  }
  if (!byReason.empty())
    line("");
  for (const auto &[reason, modules] : byReason)
    comment("whole: " + llvm::join(modules, ", ") + ": " + reason);
}

void DraftWriter::writeTraining() {
  if (!draft.training.empty() || !draft.leftOut.empty())
    line("");
  for (auto [index, statement] : llvm::enumerate(draft.training)) {
    bool isBlock = !statement.options.empty();
    line("  " + statement.text + (isBlock ? " {" : "") + commentText(statement.from));
    result.training.push_back({lines, index, std::nullopt});
    for (auto [number, option] : llvm::enumerate(statement.options)) {
      line("    " + option.text + commentText(option.from));
      result.training.push_back({lines, index, number});
    }
    if (isBlock)
      line("  }");
  }
  for (const std::string &reason : draft.leftOut)
    comment("left out: " + reason);
}

/// True if some parameter has no entry.
bool DraftWriter::leavesRest() const {
  std::set<std::string> styled;
  for (const LabelledModule &module : draft.styles)
    styled.insert(module.path);
  // One name of a tied parameter is enough, or one module that reads it.
  return llvm::any_of(draft.model->parameters, [&](const OutlineParameter &parameter) {
    auto isStyled = [&](size_t module) { return styled.count(draft.model->modules[module].path) != 0; };
    return styled.count(parameterPath(*draft.model, parameter)) == 0 &&
           llvm::none_of(parameter.names, [&](const OutlineParameterName &name) { return isStyled(name.module); }) &&
           llvm::none_of(parameter.readers, isStyled);
  });
}

/// A comment that explains `rest`, where no comment above does.
std::string DraftWriter::restComment() const {
  if (axesOfRole(draft.mesh, AxisRole::tensor).empty())
    return draft.styles.empty() ? "  // every rank holds all weights" : "  // every rank holds all other weights";
  std::set<std::string> known;
  for (const std::vector<LabelledModule> &modules : {draft.styles, draft.undivided})
    for (const LabelledModule &module : modules)
      known.insert(module.path);
  bool hasOthers = llvm::any_of(draft.modules, [&](const std::string &path) { return !known.count(path); });
  return hasOthers ? "  // weights of one dim, such as norms" : "";
}

DraftText DraftWriter::write() {
  writeHead();
  writeInputs();
  writeEntries();
  writeUndivided();
  if (leavesRest() && draft.styles.empty() && draft.undivided.empty())
    line("");
  if (leavesRest())
    line("  rest: replicate" + restComment());
  writeTraining();
  line("}");
  return std::move(result);
}

DraftText meshplan::writeDraft(const Draft &draft) { return DraftWriter(draft).write(); }
