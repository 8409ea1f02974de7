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
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/context.h"
#include "compiler/frontend/path_pattern.h"
#include "compiler/support/nearest.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <numeric>
#include <set>

using namespace meshplan;
using namespace meshplan::bind;
using Kind = PatternNode::Kind;

namespace {

/// Finds what the stars of a pattern without braces match in a path: as little as possible, from the left.
class Matcher {
public:
  Matcher(const PatternSequence &pattern, llvm::StringRef path) : pattern(pattern), path(path) {}

  std::optional<std::vector<std::string>> run() {
    return match(0, 0) ? std::optional(std::vector<std::string>(matched.begin(), matched.end())) : std::nullopt;
  }

private:
  bool match(size_t node, size_t position);
  bool matchStar(size_t node, size_t position);
  bool matchComponents(size_t node, size_t position);
  bool take(size_t node, size_t position, size_t end);
  bool isCharacter(size_t node, char character) const {
    return node < pattern.size() && pattern[node].kind == Kind::Character && pattern[node].character == character;
  }

  const PatternSequence &pattern;
  llvm::StringRef path;
  std::vector<std::string> matched;
  std::set<std::pair<size_t, size_t>> failed; ///< without it, many stars would be tried in all combinations
};

} // namespace

bool Matcher::match(size_t node, size_t position) {
  for (; node < pattern.size() && pattern[node].kind == Kind::Character; ++node, ++position) {
    // `a.**` matches `a`, too.
    if (position == path.size() && isCharacter(node, '.') && node + 2 == pattern.size() &&
        pattern[node + 1].kind == Kind::DoubleStar)
      return take(node + 1, position, position);
    if (position == path.size() || path[position] != pattern[node].character)
      return false;
  }
  if (node == pattern.size())
    return position == path.size();
  if (failed.count({node, position}))
    return false;
  bool found = pattern[node].kind == Kind::Star ? matchStar(node, position) : matchComponents(node, position);
  if (!found)
    failed.insert({node, position});
  return found;
}

/// The star at `node` matches the path from `position` to `end`.
bool Matcher::take(size_t node, size_t position, size_t end) {
  matched.push_back(path.slice(position, end).str());
  if (match(node + 1, end))
    return true;
  matched.pop_back();
  return false;
}

bool Matcher::matchStar(size_t node, size_t position) {
  for (size_t end = position; end <= path.size(); ++end) {
    if (take(node, position, end))
      return true;
    if (end < path.size() && path[end] == '.')
      return false;
  }
  return false;
}

bool Matcher::matchComponents(size_t node, size_t position) {
  // No component: the dot after the stars is not in the path.
  if (isCharacter(node + 1, '.')) {
    matched.emplace_back();
    if (match(node + 2, position))
      return true;
    matched.pop_back();
  }
  for (size_t end = position; end <= path.size(); ++end)
    if ((end == path.size() || path[end] == '.') && take(node, position, end))
      return true;
  return false;
}

/// The pattern with each choice of each of its braces, the first brace outermost; empty if there are more than `most`.
static std::vector<PatternSequence> choicesOf(llvm::ArrayRef<PatternNode> pattern, size_t most) {
  std::vector<PatternSequence> result(1);
  for (const PatternNode &node : pattern) {
    if (node.kind != Kind::Alternatives) {
      for (PatternSequence &each : result)
        each.push_back(node);
      continue;
    }
    std::vector<PatternSequence> inner;
    for (const PatternSequence &alternative : node.alternatives) {
      std::vector<PatternSequence> chosen = choicesOf(alternative, most);
      if (chosen.empty() || inner.size() + chosen.size() > most)
        return {};
      llvm::append_range(inner, chosen);
    }
    if (inner.empty() || inner.size() > most / result.size())
      return {};
    std::vector<PatternSequence> longer;
    for (const PatternSequence &each : result)
      for (const PatternSequence &chosen : inner) {
        longer.push_back(each);
        llvm::append_range(longer.back(), chosen);
      }
    result = std::move(longer);
  }
  return result;
}

static bool isStar(const PatternNode &node) { return node.kind == Kind::Star || node.kind == Kind::DoubleStar; }

/// `*` and `**` of a pattern, in order.
static std::vector<std::string> starsOf(const PatternSequence &pattern) {
  std::vector<std::string> stars;
  for (const PatternNode &node : pattern)
    if (isStar(node))
      stars.push_back(node.text);
  return stars;
}

static bool hasStarInBraces(const PatternSequence &pattern, bool isInside = false) {
  return llvm::any_of(pattern, [&](const PatternNode &node) {
    return (isInside && isStar(node)) || llvm::any_of(node.alternatives, [](const PatternSequence &alternative) {
             return hasStarInBraces(alternative, /*isInside=*/true);
           });
  });
}

/// The texts before and after the star that is left, which numbers tensors; all of the name is before it if none is.
/// Stars that match nothing take a dot with them.
static std::pair<std::string, std::string> nameOf(const PatternSequence &name, llvm::ArrayRef<std::string> matched) {
  std::pair<std::string, std::string> result;
  std::string *text = &result.first;
  size_t next = 0;
  bool skipsDot = false;
  for (const PatternNode &node : name) {
    bool isDot = node.kind == Kind::Character && node.character == '.';
    if (isStar(node) && next == matched.size())
      text = &result.second;
    else if (isStar(node))
      *text += matched[next++];
    else if (!(isDot && skipsDot))
      *text += node.text;
    skipsDot = node.kind == Kind::DoubleStar && next > 0 && matched[next - 1].empty();
  }
  if (skipsDot && llvm::StringRef(*text).ends_with("."))
    text->pop_back();
  return result;
}

namespace {

/// A parameter or buffer that has a name.
struct NamedTensor {
  std::string name;
  std::string first; ///< its first name
  std::optional<size_t> parameter;
  llvm::ArrayRef<int64_t> shape;
};

class NamesBinder {
public:
  NamesBinder(const Context &context, BoundPlan &plan);

  void bind(const WeightName &entry);

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
  void name(const Rule &rule, const NamedTensor &tensor, llvm::ArrayRef<std::string> matched);
  std::optional<WeightPieces> piecesFor(const Rule &rule, const NamedTensor &tensor);
  bool matches(const PatternSequence &pattern) const;

  const Context &context;
  BoundPlan &plan;
  std::vector<NamedTensor> tensors;
};

} // namespace

NamesBinder::NamesBinder(const Context &context, BoundPlan &plan) : context(context), plan(plan) {
  for (auto [index, parameter] : llvm::enumerate(context.model.parameters))
    for (const OutlineParameterName &name : parameter.names) {
      const std::string &module = context.model.modules[name.module].path;
      tensors.push_back({module.empty() ? name.leaf : module + "." + name.leaf, parameterPath(context.model, parameter),
                         index, parameter.shape});
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
  if (llvm::any_of(*pattern, [](const PatternNode &node) { return node.kind == Kind::Alternatives; })) {
    context.diagnostics
        .error(entry.parameters.range, text + " has choices, and in 'weight_names' they are parts of one "
                                              "parameter, on the right")
        .help("write a line for each of them");
    return std::nullopt;
  }
  if (matches(*pattern))
    return pattern;
  context.diagnostics.error(entry.parameters.range, text + " matches no parameter and no buffer")
      .help(parameterHelp(context, *pattern));
  return std::nullopt;
}

bool NamesBinder::matches(const PatternSequence &pattern) const {
  return llvm::any_of(tensors,
                      [&](const NamedTensor &tensor) { return Matcher(pattern, tensor.name).run().has_value(); });
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
                "'" + entry.name.text + "' has " + std::to_string(right.size()) +
                    (rule.isStacked ? " stars besides the last, '" : " stars, '") + entry.parameters.text + "' has " +
                    std::to_string(left.size()) + (left.size() == right.size() ? " of other kinds" : ""),
                "each star of a name stands for what the star of the parameter at the same position matches" +
                    std::string(rule.isStacked ? "" : "; 'stack' adds one that numbers tensors"));
  return bindOptions(rule) ? std::optional(std::move(rule)) : std::nullopt;
}

bool NamesBinder::bindOptions(Rule &rule) {
  size_t before = context.diagnostics.errorCount();
  for (const StyleOption &option : rule.entry.options) {
    if (option.name.text == "dim")
      rule.dim = bindDimNumber(context, option);
    else if (option.name.text == "parts")
      for (const StylePart &part : bindParts(context, option))
        rule.parts.push_back(part.count);
    else
      context.diagnostics.error(option.name.range, "'weight_names' has no option '" + option.name.text + "'")
          .help(suggest(option.name.text, {"dim", "parts"}, "options"));
  }
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
                rule.isStacked ? "dim 0 is the stacked one" : "dims count from 0");
  int64_t extent = tensor.shape[pieces.dim], sum = std::accumulate(rule.parts.begin(), rule.parts.end(), int64_t(0));
  if (extent % sum != 0)
    return fail("has dim " + std::to_string(pieces.dim) + " of size " + std::to_string(extent) +
                    ", which is not a multiple of the " + std::to_string(sum) + " of its parts",
                "state their proportions with 'parts (4, 1, 1)', or another dim with 'dim 1'");
  for (int64_t part : rule.parts)
    pieces.sizes.push_back(part * (extent / sum));
  return pieces;
}

void NamesBinder::name(const Rule &rule, const NamedTensor &tensor, llvm::ArrayRef<std::string> matched) {
  auto known =
      llvm::find_if(plan.weightNames, [&](const BoundWeightName &each) { return each.tensor == tensor.first; });
  if (known != plan.weightNames.end()) {
    // Another name of a tied parameter.
    if (known->range.line != rule.entry.range.line || known->range.column != rule.entry.range.column)
      context.diagnostics.error(rule.entry.range, "parameter '" + tensor.name + "' has two names in weight files")
          .note(known->range, "the other one is here")
          .help("write patterns that match different parameters");
    return;
  }
  std::optional<WeightPieces> pieces = piecesFor(rule, tensor);
  if (!pieces)
    return;
  std::string text;
  for (const PatternSequence &choice : rule.names) {
    auto [before, after] = nameOf(choice, matched);
    text += (text.empty() ? "" : ", ") + before + (rule.isStacked ? "*" : "") + after;
    pieces->before.push_back(std::move(before));
    pieces->after.push_back(std::move(after));
  }
  plan.weightNames.push_back(
      {tensor.first, tensor.parameter, std::move(*pieces), (rule.isStacked ? "stack " : "") + text, rule.entry.range});
}

void NamesBinder::bind(const WeightName &entry) {
  std::optional<PatternSequence> parameters = parametersOf(entry);
  std::optional<Rule> rule = parameters ? ruleOf(entry, *parameters) : std::nullopt;
  if (!rule)
    return;
  size_t before = context.diagnostics.errorCount();
  // One error for an entry: the parameters of equal layers have equal shapes.
  for (size_t i = 0; i < tensors.size() && context.diagnostics.errorCount() == before; ++i)
    if (std::optional<std::vector<std::string>> matched = Matcher(*parameters, tensors[i].name).run())
      name(*rule, tensors[i], *matched);
}

std::vector<std::pair<std::string, std::string>> NamesBinder::fileNames() {
  std::vector<std::pair<std::string, std::string>> found;
  std::map<std::string, const BoundWeightName *> renamed;
  std::map<std::string, std::string> owners;
  for (const BoundWeightName &each : plan.weightNames)
    renamed[each.tensor] = &each;
  auto add = [&](const std::string &inFile, const std::string &tensor) {
    auto [known, isNew] = owners.try_emplace(inFile, tensor);
    if (isNew)
      return true;
    const BoundWeightName *entry = renamed.count(tensor) ? renamed[tensor] : renamed[known->second];
    context.diagnostics
        .error(entry->range, "'" + known->second + "' and '" + tensor + "' would both be '" + inFile + "' of the file")
        .help("name each tensor of the file once");
    return false;
  };
  for (const BoundWeightName &each : plan.weightNames) {
    std::vector<int64_t> shape;
    for (const NamedTensor &tensor : tensors)
      if (tensor.first == each.tensor)
        shape = tensor.shape.vec();
    for (const WeightPiece &piece : piecesOf(each.pieces, shape))
      if (add(piece.name, each.tensor))
        found.emplace_back(piece.name, each.tensor);
      else
        return found;
  }
  for (const NamedTensor &tensor : tensors)
    if (!renamed.count(tensor.first) && !add(tensor.name, tensor.first))
      break;
  return found;
}

void bind::bindWeightNames(Context &context, BoundPlan &plan) {
  if (context.syntax.weightNames.empty())
    return;
  NamesBinder binder(context, plan);
  for (const WeightNamesStatement &statement : context.syntax.weightNames)
    for (const WeightName &entry : statement.entries)
      binder.bind(entry);
  context.fileNames = binder.fileNames();
}
