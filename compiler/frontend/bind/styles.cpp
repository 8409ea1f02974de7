//===- styles.cpp - the clauses of an entry --------------------------------===//
//
// An entry has one style, or layouts at the borders of its module, or placements of parameters. Each style has a rule
// that says what may follow it: axes, the parts of a fused weight, a dim.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/context.h"
#include "compiler/support/nearest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

struct StyleRule {
  StyleKind kind;
  llvm::StringRef name;
  bool takesAxes;
  bool takesParts;
  bool takesDim;
};

constexpr StyleRule styleRules[] = {
    {StyleKind::Colwise, "colwise", true, true, false},   {StyleKind::Rowwise, "rowwise", true, true, false},
    {StyleKind::Sequence, "sequence", true, false, true}, {StyleKind::Expert, "expert", true, false, false},
    {StyleKind::Within, "within", true, false, false},    {StyleKind::Replicate, "replicate", false, false, false},
};

/// The form of a style over several axes.
std::string helpWithAxes(llvm::StringRef style, llvm::StringRef first, llvm::StringRef second) {
  return ("several axes are written in parentheses: '" + style + " (" + first + ", " + second + ")'").str();
}

const StyleRule *findRule(const Context &context, const Word &style) {
  std::vector<std::string> names;
  for (const StyleRule &rule : styleRules) {
    if (rule.name == style.text)
      return &rule;
    names.push_back(rule.name.str());
  }
  bool isAxis = context.environment.mesh.find(style.text).has_value();
  context.diagnostics.error(style.range, "unknown style '" + style.text + "'")
      .help(isAxis ? helpWithAxes("colwise", "A", "B") : suggest(style.text, names, "styles"));
  return nullptr;
}

/// The valid range of a count.
struct CountRange {
  llvm::StringRef what;
  llvm::StringRef help;
  int64_t least = 0, most = INT64_MAX;
};

// Larger numbers are a mistake: each part takes memory, and the sum of all sizes must fit in an integer.
constexpr CountRange partCount = {"the number of parts", "'parts 3' means three projections of equal size", 2, 65536};
constexpr CountRange partSize = {"the size of a part", "sizes are in proportion: 'parts (q 4, k 1, v 1)'", 1,
                                 int64_t(1) << 40};
constexpr CountRange dimNumber = {"a dim", "dims count from 0", 0};

int64_t countOf(const Context &context, const Expression &expression, const CountRange &range) {
  std::optional<int64_t> value = evaluate(expression, context.environment, context.diagnostics);
  int64_t count = std::clamp(value.value_or(range.least), range.least, range.most);
  if (value && *value != count)
    context.diagnostics
        .error(expression.range, range.what.str() + " is at " + (*value < count ? "least " : "most ") +
                                     std::to_string(count) + ", and this is " + std::to_string(*value))
        .help(range.help.str());
  return count;
}

void bindOption(const Context &context, const StyleRule &rule, const StyleOption &option, BoundStyle &style) {
  if (rule.takesParts && option.name.text == "parts") {
    style.parts = bindParts(context, option);
    return;
  }
  if (rule.takesDim && option.name.text == "dim") {
    style.dim = bindDimNumber(context, option);
    return;
  }
  std::vector<std::string> names;
  if (rule.takesParts)
    names.push_back("parts");
  if (rule.takesDim)
    names.push_back("dim");
  std::string help = suggest(option.name.text, names, ("options of '" + rule.name + "'").str());
  if (llvm::is_contained({"input", "output", "parameter"}, option.name.text))
    help = "write a comma before '" + option.name.text + "'";
  else if (context.environment.mesh.find(option.name.text))
    help = helpWithAxes(rule.name, "A", "B");
  context.diagnostics
      .error(option.name.range, ("style '" + rule.name + "' has no option '" + option.name.text + "'").str())
      .help(names.empty() && help.empty() ? ("'" + rule.name + "' takes no options").str() : help);
}

constexpr const char *overrideStandsInFront = "write 'override' before the path: 'override PATH: STYLE'";

/// `colwise dp tp` is parsed as an option `dp` with the value `tp`. True if this was reported.
bool reportWordAfterAxis(const Context &context, const StyleClause &clause) {
  if (!clause.axes.empty() || clause.options.empty() ||
      !context.environment.mesh.find(clause.options.front().name.text))
    return false;
  const StyleOption &option = clause.options.front();
  if (!option.value || option.value->kind != Expression::Kind::Name)
    return false;
  const std::string &style = clause.style.text, &axis = option.name.text, &word = option.value->name;
  std::string help = "an option has a name and a value, as 'parts 3'";
  if (word == "override")
    help = overrideStandsInFront;
  else if (context.environment.mesh.find(word))
    help = helpWithAxes(style, axis, word);
  context.diagnostics.error(option.value->range, "unexpected '" + word + "' after '" + style + " " + axis + "'")
      .help(help);
  return true;
}

/// Binds the axes of a style. False if the style needs others, which is reported.
bool bindAxes(const Context &context, const StyleRule &rule, const StyleClause &clause, std::vector<Word> &usedAxes,
              BoundStyle &style) {
  const std::string &name = clause.style.text;
  if (!rule.takesAxes && !clause.axes.empty()) {
    bool isOverride = clause.axes.front().text == "override";
    context.diagnostics.error(clause.axes.front().range, "'" + name + "' takes no axis")
        .help(isOverride ? overrideStandsInFront
                         : "write '" + name + "' alone: it replicates the weights of the module");
    return false;
  }
  if (rule.takesAxes && clause.axes.empty()) {
    context.diagnostics.error(clause.range, "'" + name + "' needs an axis").help("write '" + name + " AXIS'");
    return false;
  }
  style.axes = resolveAxes(context, clause.axes, usedAxes);
  return style.axes.size() == clause.axes.size();
}

void bindStyle(const Context &context, const StyleClause &clause, std::vector<Word> &usedAxes, EntryStyles &result) {
  const StyleRule *rule = findRule(context, clause.style);
  if (rule == nullptr || reportWordAfterAxis(context, clause)) {
    // A wrong style still counts as one (placesModules), so that its modules are not reported as uncovered as well.
    result.hasWrongStyle = true;
    return;
  }
  BoundStyle style;
  style.kind = rule->kind;
  style.range = clause.range;
  style.text = clause.text;
  bool hasAxes = bindAxes(context, *rule, clause, usedAxes, style);
  forEachOption(context, clause.options, [&](const StyleOption &option) { bindOption(context, *rule, option, style); });
  for (const BoundStyle &other : result.styles) {
    bool repeats = other.kind == style.kind;
    if (repeats || other.kind == StyleKind::Replicate || style.kind == StyleKind::Replicate)
      context.diagnostics
          .error(style.range, repeats ? "style '" + clause.style.text + "' is repeated"
                                      : "'" + style.text + "' and '" + other.text + "' exclude each other")
          .note(other.range, repeats ? "the first one is here" : "the other style is here");
  }
  result.hasWrongStyle |= !hasAxes;
  result.styles.push_back(std::move(style));
}

void bindBorder(const Context &context, const BorderClause &clause, EntryStyles &result) {
  BoundBorder border;
  border.isInput = clause.isInput;
  if (clause.index && llvm::StringRef(clause.index->text).getAsInteger(10, border.index))
    context.diagnostics.error(clause.index->range, "'" + clause.index->text + "' is not the number of an " +
                                                       (clause.isInput ? "input" : "output"));
  border.layout = bindLayout(context, clause.layout, clause.text);
  for (const BoundBorder &other : result.borders)
    if (other.isInput == border.isInput && other.index == border.index) {
      context.diagnostics
          .error(clause.range,
                 std::string(clause.isInput ? "input " : "output ") + std::to_string(border.index) + " has two layouts")
          .note(other.layout.range, "the other layout is here");
      return;
    }
  result.borders.push_back(std::move(border));
}

void bindPlacement(const Context &context, const PlacementSyntax &placement, EntryStyles &result) {
  const std::string &name = placement.parameter.text;
  auto isSame = [&](const auto &other) { return other.first->parameter.text == name; };
  BoundLayout layout = bindLayout(context, placement.layout, placement.text);
  if (placement.parts && !layout.splits.empty())
    layout.parts = bindParts(context, *placement.parts);
  else if (placement.parts)
    context.diagnostics.error(placement.parts->range, "'parts' are those of the last split dim, and none is split");
  if (auto other = llvm::find_if(result.placements, isSame); other != result.placements.end())
    context.diagnostics.error(layout.range, "parameter '" + name + "' has two layouts")
        .note(other->second.range, "the other layout is here");
  else
    result.placements.push_back({&placement, std::move(layout)});
}

} // namespace

llvm::StringRef meshplan::styleName(StyleKind kind) {
  return llvm::find_if(styleRules, [&](const StyleRule &rule) { return rule.kind == kind; })->name;
}

bool EntryStyles::placesModules() const { return !styles.empty() || hasWrongStyle; }

const BoundStyle *EntryStyles::dividing() const {
  auto found = llvm::find_if(styles, [](const BoundStyle &style) {
    return style.kind != StyleKind::Sequence && style.kind != StyleKind::Replicate;
  });
  return found == styles.end() ? nullptr : &*found;
}

void bind::forEachOption(const Context &context, llvm::ArrayRef<StyleOption> options,
                         llvm::function_ref<void(const StyleOption &)> take) {
  for (const StyleOption &option : options) {
    auto first = llvm::find_if(options, [&](const StyleOption &other) { return other.name.text == option.name.text; });
    if (first == &option)
      take(option);
    else
      context.diagnostics.error(option.range, "option '" + option.name.text + "' is repeated")
          .note(first->range, "the first one is here");
  }
}

std::vector<StylePart> bind::bindParts(const Context &context, const StyleOption &option) {
  std::vector<StylePart> parts;
  if (option.value)
    parts.assign(countOf(context, *option.value, partCount), {"", 1});
  for (const PartSyntax &part : option.list)
    parts.push_back({part.name, countOf(context, part.count, partSize)});
  return parts;
}

int64_t bind::bindDimNumber(const Context &context, const StyleOption &option) {
  if (option.value)
    return countOf(context, *option.value, dimNumber);
  context.diagnostics.error(option.range, "'dim' takes one number").help("write 'dim 1'");
  return 1;
}

EntryStyles bind::bindClauses(const Context &context, const EntryStatement &entry) {
  EntryStyles result;
  std::vector<Word> usedAxes;
  for (const Clause &clause : entry.clauses) {
    if (const auto *style = std::get_if<StyleClause>(&clause))
      bindStyle(context, *style, usedAxes, result);
    else if (const auto *border = std::get_if<BorderClause>(&clause))
      bindBorder(context, *border, result);
    else
      for (const PlacementSyntax &placement : std::get<ParameterClause>(clause).placements)
        bindPlacement(context, placement, result);
  }
  // An invalid style has no effect.
  if (result.hasWrongStyle)
    result.styles.clear();
  return result;
}
