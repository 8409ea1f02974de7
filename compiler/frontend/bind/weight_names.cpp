//===- weight_names.cpp - the names of parameters in weight files ----------===//
//
// `PARAMETERS: NAME` names the tensors of a weight file that are a parameter. What a star of PARAMETERS matches stands
// for the star of NAME at the same position. With `stack`, NAME has one star more, the last, which numbers the elements
// of the parameter's first dim. Choices in braces of NAME are parts of the parameter, one after the other in the next
// dim.
//
// Example: `l.*.gate_up: stack l.*.experts.*.{w1, w3}` for parameters [4, 96, 16].
//
//   l.7.gate_up      the star matches 7
//   choices          l.*.experts.*.w1, l.*.experts.*.w3
//   with the stars   l.7.experts. | .w1, l.7.experts. | .w3
//   tensors          l.7.experts.0.w1 [48, 16], l.7.experts.0.w3, l.7.experts.1.w1, ...
//
// Where PARAMETERS names the parameters of all modules of a list that are stacked, it says what files have of the
// stacked one: the star that matches the number of the module numbers the tensors.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/context.h"
#include "compiler/frontend/path_stars.h"
#include "compiler/support/nearest.h"
#include "runtime/schema/stacked_modules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <numeric>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

/// A name of a parameter, or a buffer.
struct NamedTensor {
  std::string name;
  std::string first; ///< the first name of the parameter
  std::optional<size_t> parameter;
  llvm::ArrayRef<int64_t> shape;
};

class NamesBinder {
public:
  NamesBinder(const Context &context, BoundPlan &plan);

  void bind(const WeightName &entry);

  /// Names the elements of stacked parameters that have no entry: as their modules do.
  void bindStacked();

  /// The tensors of the file, each with the name of its parameter. Reports one that would be read for two.
  std::vector<std::pair<std::string, std::string>> fileNames();

private:
  /// An entry whose paths are right.
  struct Rule {
    const WeightName &entry;
    std::vector<PatternSequence> names; ///< the choices
    bool isStacked = false;
    std::optional<int64_t> dim; ///< as stated
    std::vector<int64_t> parts; ///< proportions of the choices
  };

  std::optional<PatternSequence> parametersOf(const WeightName &entry);
  std::optional<Rule> ruleOf(const WeightName &entry, const PatternSequence &parameters);
  bool bindOptions(Rule &rule);
  /// What is before and after the number of a stacked tensor; all is before if there is none.
  using Parts = std::vector<std::pair<std::string, std::string>>;

  void name(const Rule &rule, const NamedTensor &tensor, const Parts &names);
  void nameModules(const Rule &rule, const PatternSequence &parameters);
  std::optional<WeightPieces> piecesFor(const Rule &rule, const NamedTensor &tensor);
  bool matches(const PatternSequence &pattern) const;

  const Context &context;
  BoundPlan &plan;
  std::vector<NamedTensor> tensors;
  llvm::StringMap<size_t> entryOf;             ///< by first name of a tensor: index in plan.weightNames
  std::vector<llvm::ArrayRef<int64_t>> shapes; ///< of the tensors in plan.weightNames
};

} // namespace

NamesBinder::NamesBinder(const Context &context, BoundPlan &plan) : context(context), plan(plan) {
  for (auto [name, named] : llvm::zip_equal(context.parameterNames, context.named)) {
    const OutlineParameter &parameter = context.model.parameters[named.parameter];
    tensors.push_back({name, parameterPath(context.model, parameter), named.parameter, parameter.shape});
  }
  for (const OutlineBuffer &buffer : context.model.buffers)
    tensors.push_back({buffer.name, buffer.name, std::nullopt, buffer.shape});
}

/// The pattern left of the colon. Reports braces, and one that matches nothing.
std::optional<PatternSequence> NamesBinder::parametersOf(const WeightName &entry) {
  std::optional<PatternSequence> pattern = parsePattern(entry.parameters, context.diagnostics);
  if (!pattern)
    return std::nullopt;
  std::string text = "'" + entry.parameters.text + "'";
  if (llvm::any_of(*pattern, [](const PatternNode &node) { return !node.alternatives.empty(); })) {
    context.diagnostics
        .error(entry.parameters.range, text + " has choices, and in 'weight_names' they are parts of one "
                                              "parameter, on the right")
        .help("write a line for each of them");
    return std::nullopt;
  }
  if (matches(*pattern) || !context.listed.byName.match(*pattern).empty())
    return pattern;
  if (context.modules.match(*pattern).empty())
    context.diagnostics.error(entry.parameters.range, text + " matches no parameter and no buffer")
        .help(parameterHelp(context, *pattern));
  else
    context.diagnostics
        .error(entry.parameters.range, text + " names a module, and 'weight_names' names parameters and buffers")
        .help("write '" + entry.parameters.text + ".*' for those that it holds");
  return std::nullopt;
}

bool NamesBinder::matches(const PatternSequence &pattern) const {
  return llvm::any_of(tensors,
                      [&](const NamedTensor &tensor) { return starMatches(pattern, tensor.name).has_value(); });
}

/// `the stars '*', '**'`
static std::string starsText(llvm::ArrayRef<std::string> stars) {
  if (stars.empty())
    return "no star";
  return (stars.size() == 1 ? "the star " : "the stars ") + quotedList(stars, ",");
}

/// Reports a word other than `stack`, stars that do not fit, and wrong options.
std::optional<NamesBinder::Rule> NamesBinder::ruleOf(const WeightName &entry, const PatternSequence &parameters) {
  constexpr size_t mostChoices = 4096;
  auto fail = [&](SourceRange range, const std::string &message, const std::string &help) {
    context.diagnostics.error(range, message).help(help);
    return std::nullopt;
  };
  std::optional<PatternSequence> name = parsePattern(entry.name, context.diagnostics);
  if (!name)
    return std::nullopt;
  if (entry.how && entry.how->text != "stack")
    return fail(entry.how->range, "unknown word '" + entry.how->text + "'",
                suggest(entry.how->text, {"stack"}, "words"));
  if (hasStarInBraces(*name))
    return fail(entry.name.range, "'" + entry.name.text + "' has a star inside braces",
                "only names may be choices: each is a part of the parameter");
  Rule rule{entry, choicesOf(*name, mostChoices), entry.how.has_value(), std::nullopt, {}};
  if (rule.names.empty())
    return fail(entry.name.range, "'" + entry.name.text + "' has more than " + std::to_string(mostChoices) + " choices",
                "numbers of stacked tensors are written as 'stack' and '*'");
  std::vector<std::string> left = starsOf(parameters), right = starsOf(*name);
  if (rule.isStacked && (right.empty() || right.back() != "*"))
    return fail(entry.name.range, "'" + entry.name.text + "' has no '*' that numbers the stacked tensors",
                "write '*' where the names have the number");
  if (rule.isStacked)
    right.pop_back();
  if (left != right)
    return fail(entry.name.range,
                "'" + entry.name.text + "' has " + starsText(right) +
                    (rule.isStacked ? " before the last one, '" : ", '") + entry.parameters.text + "' has " +
                    starsText(left),
                "each star of a name stands for what the star of the parameter at the same position matches" +
                    std::string(rule.isStacked ? "" : "; 'stack' adds one that numbers tensors"));
  return bindOptions(rule) ? std::optional(std::move(rule)) : std::nullopt;
}

bool NamesBinder::bindOptions(Rule &rule) {
  size_t before = context.diagnostics.errorCount();
  forEachOption(context, rule.entry.options, [&](const StyleOption &option) {
    if (option.name.text == "dim")
      rule.dim = bindDimNumber(context, option);
    else if (option.name.text == "parts")
      for (const StylePart &part : bindParts(context, option))
        rule.parts.push_back(part.count);
    else
      context.diagnostics.error(option.name.range, "'weight_names' has no option '" + option.name.text + "'")
          .help(suggest(option.name.text, {"dim", "parts"}, "options"));
  });
  if (!rule.parts.empty() && rule.parts.size() != rule.names.size())
    context.diagnostics
        .error(rule.entry.range, std::to_string(rule.parts.size()) + " parts are stated, and '" + rule.entry.name.text +
                                     "' names " + std::to_string(rule.names.size()))
        .help("write a name for each part, in braces: '{q, k, v}_proj.weight parts (4, 1, 1)'");
  rule.parts.resize(rule.names.size(), 1);
  return context.diagnostics.errorCount() == before;
}

/// The pieces without names. Reports a shape that they do not fit.
std::optional<WeightPieces> NamesBinder::piecesFor(const Rule &rule, const NamedTensor &tensor) {
  auto rank = static_cast<int64_t>(tensor.shape.size());
  int64_t first = rule.isStacked ? 1 : 0;
  auto fail = [&](const std::string &message, const std::string &help) {
    context.diagnostics.error(rule.entry.range, "parameter '" + tensor.name + "' " + message).help(help);
    return std::nullopt;
  };
  if (rank < first)
    return fail("is a scalar, and cannot be stacked", "leave 'stack' out");
  WeightPieces pieces;
  pieces.count = rule.isStacked ? tensor.shape[0] : 0;
  pieces.dim = rule.dim.value_or(first);
  // One tensor that is all of a scalar, or of an element of a vector.
  if (rank == first && rule.names.size() == 1 && !rule.dim) {
    pieces.sizes = {1};
    return pieces;
  }
  if (pieces.dim < first || pieces.dim >= rank)
    return fail("has rank " + std::to_string(rank) + ", and its parts would be along dim " + std::to_string(pieces.dim),
                rank == first ? std::string("no dim is left for parts: name one tensor, and leave 'dim' out")
                              : "parts may be along dim " + std::to_string(first) +
                                    (rank - first > 1 ? " to " + std::to_string(rank - 1) : "") +
                                    (rule.isStacked ? "; dim 0 is the stacked one" : ""));
  int64_t extent = tensor.shape[pieces.dim], sum = std::accumulate(rule.parts.begin(), rule.parts.end(), int64_t(0));
  if (extent % sum != 0)
    return fail("has dim " + std::to_string(pieces.dim) + " of size " + std::to_string(extent) +
                    ", which is not a multiple of the " + std::to_string(sum) + " of its parts",
                "state their proportions with 'parts (4, 1, 1)', or another dim with 'dim 1'");
  for (int64_t part : rule.parts)
    pieces.sizes.push_back(part * (extent / sum));
  return pieces;
}

void NamesBinder::name(const Rule &rule, const NamedTensor &tensor, const Parts &names) {
  if (auto known = entryOf.find(tensor.first); known != entryOf.end()) {
    const BoundWeightName &other = plan.weightNames[known->second];
    // A tied parameter matches with each of its names.
    if (other.range != rule.entry.range)
      context.diagnostics.error(rule.entry.range, "parameter '" + tensor.name + "' has two names in weight files")
          .note(other.range, "the other one is here")
          .help("write patterns that match different parameters");
    return;
  }
  std::optional<WeightPieces> pieces = piecesFor(rule, tensor);
  if (!pieces)
    return;
  std::string text;
  for (const auto &[before, after] : names) {
    text += (text.empty() ? "" : ", ") + before + (rule.isStacked ? "*" : "") + after;
    pieces->before.push_back(before);
    pieces->after.push_back(after);
  }
  entryOf[tensor.first] = plan.weightNames.size();
  shapes.push_back(tensor.shape);
  plan.weightNames.push_back(
      {tensor.first, tensor.parameter, std::move(*pieces), (rule.isStacked ? "stack " : "") + text, rule.entry.range});
}

/// Names stacked parameters as those of their modules.
void NamesBinder::nameModules(const Rule &rule, const PatternSequence &parameters) {
  Rule stacked{rule.entry, rule.names, true, rule.dim, rule.parts};
  if (stacked.dim)
    ++*stacked.dim;
  size_t before = context.diagnostics.errorCount();
  for (size_t parameter : listedNamed(context, parameters, rule.entry.parameters.range)) {
    const NamedTensor &tensor =
        *llvm::find_if(tensors, [&](const NamedTensor &each) { return each.parameter == parameter; });
    size_t module = llvm::find(context.listed.of, parameter) - context.listed.of.begin();
    auto nameOf = [&](size_t number, const PatternSequence &choice) {
      return replaceStars(choice, *starMatches(parameters, context.listed.names[module + number])).first;
    };
    Parts names;
    for (const PatternSequence &choice : rule.names) {
      // They differ in the number only, where it is in the name.
      std::string first = nameOf(0, choice), second = nameOf(1, choice);
      size_t number = std::mismatch(first.begin(), first.end(), second.begin(), second.end()).first - first.begin();
      names.emplace_back(first.substr(0, number), first.substr(std::min(number + 1, first.size())));
    }
    if (context.diagnostics.errorCount() == before)
      name(stacked, tensor, names);
  }
}

void NamesBinder::bind(const WeightName &entry) {
  std::optional<PatternSequence> parameters = parametersOf(entry);
  std::optional<Rule> rule = parameters ? ruleOf(entry, *parameters) : std::nullopt;
  if (!rule)
    return;
  size_t before = context.diagnostics.errorCount();
  if (rule->isStacked && !matches(*parameters))
    context.diagnostics
        .error(entry.how->range, "'" + entry.parameters.text +
                                     "' names parameters of the modules of a list, which are "
                                     "not stacked in a file")
        .help("leave 'stack' out");
  // First, as `**` matches what is stacked by its own name, too.
  if (!rule->isStacked)
    nameModules(*rule, *parameters);
  // One error for an entry: the parameters of equal layers have equal shapes.
  for (size_t i = 0; i < tensors.size() && context.diagnostics.errorCount() == before; ++i)
    if (std::optional<std::vector<std::string>> matched = starMatches(*parameters, tensors[i].name)) {
      Parts names;
      for (const PatternSequence &choice : rule->names)
        names.push_back(replaceStars(choice, *matched));
      name(*rule, tensors[i], names);
    }
}

void NamesBinder::bindStacked() {
  for (const NamedTensor &tensor : tensors) {
    if (!tensor.parameter || !context.model.parameters[*tensor.parameter].isStacked || entryOf.contains(tensor.first))
      continue;
    const OutlineParameterName &name = context.model.parameters[*tensor.parameter].names.front();
    WeightPieces pieces = stackedModules(context.model.modules[name.module].path, name.leaf, tensor.shape);
    std::string text = "stack " + pieces.before[0] + "*" + pieces.after[0];
    entryOf[tensor.first] = plan.weightNames.size();
    shapes.push_back(tensor.shape);
    plan.weightNames.push_back({tensor.first, tensor.parameter, std::move(pieces), std::move(text), {}});
  }
}

std::vector<std::pair<std::string, std::string>> NamesBinder::fileNames() {
  std::vector<std::pair<std::string, std::string>> found;
  llvm::StringMap<std::string> owners;
  auto add = [&](const std::string &inFile, const std::string &tensor) {
    auto [known, isNew] = owners.try_emplace(inFile, tensor);
    if (isNew)
      return true;
    const std::string &other = known->second;
    auto entry = entryOf.find(tensor);
    context.diagnostics
        .error(plan.weightNames[entry == entryOf.end() ? entryOf[other] : entry->second].range,
               (other == tensor ? "two parts of '" + tensor + "'" : "'" + other + "' and '" + tensor + "'") +
                   " would both be '" + inFile + "' of the file")
        .help("name each tensor of the file once");
    return false;
  };
  for (auto [entry, shape] : llvm::zip_equal(plan.weightNames, shapes))
    for (const WeightPiece &piece : piecesOf(entry.pieces, shape)) {
      if (!add(piece.name, entry.tensor))
        return found;
      found.emplace_back(piece.name, entry.tensor);
    }
  for (const NamedTensor &tensor : tensors)
    if (!entryOf.contains(tensor.first) && !add(tensor.name, tensor.first))
      break;
  return found;
}

void bind::bindWeightNames(Context &context, BoundPlan &plan) {
  if (context.syntax.weightNames.empty() &&
      llvm::none_of(context.model.parameters, [](const OutlineParameter &each) { return each.isStacked; }))
    return;
  NamesBinder binder(context, plan);
  size_t before = context.diagnostics.errorCount();
  for (const WeightNamesStatement &statement : context.syntax.weightNames)
    for (const WeightName &entry : statement.entries)
      binder.bind(entry);
  binder.bindStacked();
  // What a wrong entry was to name is not known, so that other names could seem to be used twice.
  if (context.diagnostics.errorCount() == before)
    context.fileNames = binder.fileNames();
}
