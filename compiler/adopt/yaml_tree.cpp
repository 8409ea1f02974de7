//===- yaml_tree.cpp - YAML and JSON as a tree with locations -------------===//
//
// LLVM's parser gives nodes once, in order, and an alias copies what its anchor stands for. So the tree is built while
// it parses, and anchors keep the values that later aliases copy.
//
//===----------------------------------------------------------------------===//

#include "compiler/adopt/yaml_tree.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"

using namespace meshplan;
using llvm::StringRef;

namespace {

class TreeReader {
public:
  TreeReader(const SourceBuffer &source, Diagnostics &diagnostics)
      : source(source), diagnostics(diagnostics), stream(source.text(), manager, /*ShowColors=*/false) {
    manager.setDiagHandler(
        [](const llvm::SMDiagnostic &error, void *reader) { static_cast<TreeReader *>(reader)->reportSyntax(error); },
        this);
  }

  std::optional<YamlValue> read();

private:
  static constexpr int mostLevels = 64;
  static constexpr size_t mostValues = 1'000'000, mostBytes = 100'000'000;

  void fail(SourceRange range, const std::string &message) {
    // One error for each file: after a syntax error, what the parser returns is not the tree that the user wrote, and
    // errors about it would mislead.
    if (!failed)
      diagnostics.error(range, message);
    failed = true;
  }
  void failLevels(SourceRange range) { fail(range, "more than " + std::to_string(mostLevels) + " levels"); }
  void reportSyntax(const llvm::SMDiagnostic &error);
  SourceRange rangeOf(llvm::SMRange range) const;
  YamlValue readNode(llvm::yaml::Node *node, int level);
  YamlValue readMap(llvm::yaml::MappingNode &map, int level);
  void readEntry(llvm::yaml::KeyValueNode &entry, int level, YamlValue &map);
  YamlValue scalar(std::string text, const llvm::yaml::Node &node) const;
  YamlValue aliased(const llvm::yaml::AliasNode &alias, int level);
  void count(const YamlValue &value, int level);

  const SourceBuffer &source;
  Diagnostics &diagnostics;
  llvm::SourceMgr manager;
  llvm::yaml::Stream stream;
  llvm::StringMap<YamlValue> anchors;
  SourceRange lastKey;          ///< key of the entry whose value is being read
  size_t values = 0, bytes = 0; ///< size of the copies of all aliases so far
  bool failed = false;
};

} // namespace

const YamlEntry *YamlValue::find(StringRef key) const {
  auto found = llvm::find_if(entries, [&](const YamlEntry &entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

bool YamlValue::saysNothing() const {
  return kind == Kind::null ||
         (kind == Kind::scalar &&
          (text.empty() || text == "~" || StringRef(text).lower() == "none" || StringRef(text).lower() == "null"));
}

void TreeReader::reportSyntax(const llvm::SMDiagnostic &error) {
  std::string message = error.getMessage().str();
  if (!message.empty())
    message.front() = llvm::toLower(message.front());
  while (!message.empty() && (message.back() == '.' || message.back() == '!'))
    message.pop_back();
  int32_t column = error.getColumnNo() + 1;
  fail({source.file(), error.getLineNo(), column, column + 1}, message);
}

static int32_t characters(StringRef bytes) {
  return static_cast<int32_t>(llvm::count_if(bytes, [](char byte) { return (byte & 0xC0) != 0x80; }));
}

SourceRange TreeReader::rangeOf(llvm::SMRange range) const {
  StringRef text = source.text();
  auto offsetOf = [&](llvm::SMLoc location) {
    const char *at = location.getPointer();
    return at < text.begin() || at > text.end() ? text.size() : static_cast<size_t>(at - text.begin());
  };
  size_t begin = offsetOf(range.Start), end = std::max(begin, offsetOf(range.End));
  size_t line = text.take_front(begin).rfind('\n') + 1; // npos + 1 is 0
  StringRef piece = text.slice(begin, end).take_until([](char c) { return c == '\n'; }).rtrim();
  int32_t column = characters(text.slice(line, begin)) + 1;
  return {source.file(), static_cast<int32_t>(text.take_front(begin).count('\n')) + 1, column,
          column + std::max(1, characters(piece))};
}

YamlValue TreeReader::scalar(std::string text, const llvm::yaml::Node &node) const {
  YamlValue value;
  value.kind = YamlValue::Kind::scalar;
  value.text = std::move(text);
  value.range = rangeOf(node.getSourceRange());
  return value;
}

/// Adds a copy of a value to the size of all copies, and fails if they are too large or too deep. Aliases of values
/// that have aliases grow exponentially: with ten of them in each line, eight lines are 100 million values.
void TreeReader::count(const YamlValue &value, int level) {
  if (failed)
    return;
  ++values;
  bytes += value.text.size();
  for (const YamlEntry &entry : value.entries)
    bytes += entry.key.size();
  if (values > mostValues)
    return fail(lastKey, "its aliases make more than " + std::to_string(mostValues) + " values");
  if (bytes > mostBytes)
    return fail(lastKey, "its aliases make more than " + std::to_string(mostBytes) + " bytes");
  if (level > mostLevels)
    return failLevels(lastKey);
  for (const YamlValue &item : value.items)
    count(item, level + 1);
  for (const YamlEntry &entry : value.entries)
    count(entry.value, level + 1);
}

YamlValue TreeReader::aliased(const llvm::yaml::AliasNode &alias, int level) {
  auto found = anchors.find(alias.getName());
  if (found == anchors.end())
    fail(lastKey, ("no anchor before it is called '" + alias.getName() + "'").str());
  else
    count(found->second, level);
  return failed ? YamlValue() : found->second;
}

void TreeReader::readEntry(llvm::yaml::KeyValueNode &entry, int level, YamlValue &map) {
  YamlValue key = readNode(entry.getKey(), level);
  YamlEntry own{key.text, key.range, {}};
  if (failed)
    return;
  if (key.kind != YamlValue::Kind::scalar)
    return fail(key.range.hasLine() ? key.range : map.range, "a key is a word");
  if (key.text == "<<")
    return fail(key.range, "merge keys are not read");
  if (map.find(key.text))
    return fail(key.range, "'" + key.text + "' is repeated");
  lastKey = own.keyRange;
  own.value = readNode(entry.getValue(), level);
  // The parser does not tell where maps, lists and empty values begin. So errors about such a value point to its key.
  if (own.value.kind != YamlValue::Kind::scalar)
    own.value.range = own.keyRange;
  map.entries.push_back(std::move(own));
}

YamlValue TreeReader::readMap(llvm::yaml::MappingNode &node, int level) {
  YamlValue map;
  map.kind = YamlValue::Kind::map;
  map.range = rangeOf(node.getSourceRange());
  for (llvm::yaml::KeyValueNode &entry : node) {
    readEntry(entry, level, map);
    if (failed || stream.failed())
      break;
  }
  return map;
}

YamlValue TreeReader::readNode(llvm::yaml::Node *node, int level) {
  YamlValue value;
  if (!node || failed || stream.failed())
    return value;
  if (level > mostLevels) {
    failLevels(rangeOf(node->getSourceRange()));
    return value;
  }
  if (auto *plain = llvm::dyn_cast<llvm::yaml::ScalarNode>(node)) {
    llvm::SmallString<32> storage;
    value = scalar(plain->getValue(storage).str(), *node);
  } else if (auto *block = llvm::dyn_cast<llvm::yaml::BlockScalarNode>(node)) {
    value = scalar(block->getValue().str(), *node);
  } else if (auto *map = llvm::dyn_cast<llvm::yaml::MappingNode>(node)) {
    value = readMap(*map, level + 1);
  } else if (auto *list = llvm::dyn_cast<llvm::yaml::SequenceNode>(node)) {
    value.kind = YamlValue::Kind::list;
    value.range = rangeOf(node->getSourceRange());
    for (llvm::yaml::Node &item : *list)
      value.items.push_back(readNode(&item, level + 1));
  } else if (auto *alias = llvm::dyn_cast<llvm::yaml::AliasNode>(node)) {
    return aliased(*alias, level);
  }
  if (!node->getAnchor().empty())
    // After the value is complete: an alias inside of its own anchor would be an infinite tree, and is an unknown name
    // here.
    anchors[node->getAnchor()] = value;
  return value;
}

std::optional<YamlValue> TreeReader::read() {
  YamlValue root;
  bool isFirst = true;
  for (llvm::yaml::Document &document : stream) {
    llvm::yaml::Node *node = document.getRoot();
    if (isFirst)
      root = readNode(node, 0);
    else if (node && !llvm::isa<llvm::yaml::NullNode>(node) && !failed)
      fail(rangeOf(node->getSourceRange()), "a second document, or text after the end of the first");
    isFirst = false;
    if (failed || stream.failed())
      break;
  }
  if (stream.failed() && !failed)
    fail({source.file()}, "is not YAML");
  if (failed)
    return std::nullopt;
  return root;
}

std::optional<YamlValue> meshplan::readYaml(const SourceBuffer &source, Diagnostics &diagnostics) {
  return TreeReader(source, diagnostics).read();
}
