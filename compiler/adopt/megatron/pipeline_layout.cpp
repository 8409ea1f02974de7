//===- pipeline_layout.cpp - Megatron's string of pipeline stages ---------===//
//
// Example: `Et*3|(tt|)*2L` is the embedding and 3 layers, two stages of 2 layers, and the loss on a last stage:
// `Ettt|tt|tt|L`. A group repeats its stages with its layers. The string is written out before it is checked, because a
// repetition may exceed any limit: its length is bounded while it grows.
//
//===----------------------------------------------------------------------===//

#include "compiler/adopt/megatron/pipeline_layout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <optional>

using namespace meshplan;
using llvm::StringRef;

namespace {

class LayoutReader {
public:
  explicit LayoutReader(StringRef text) : text(text) {}

  std::variant<PipelineStages, LayoutError> read();

private:
  static constexpr size_t most = 100'000;

  void fail(size_t offset, const std::string &message) {
    if (!error)
      error = LayoutError{offset, message};
  }
  bool take(char sign) {
    if (at >= text.size() || text[at] != sign)
      return false;
    ++at;
    return true;
  }
  void readItem();
  std::string readGroup();
  size_t readCount(bool isNeeded);
  void append(StringRef letters, size_t count);
  void check();

  StringRef text;
  size_t at = 0;
  std::string letters; ///< with `|` between stages
  std::optional<LayoutError> error;
};

} // namespace

/// The number after `*`; 1 if there is no `*`.
size_t LayoutReader::readCount(bool isNeeded) {
  if (!take('*')) {
    if (isNeeded)
      fail(at, "'*' and a number follow a group");
    return 1;
  }
  StringRef digits = text.drop_front(at).take_while(llvm::isDigit);
  size_t count = 0;
  if (digits.getAsInteger(10, count))
    fail(at, "a number follows '*'");
  at += digits.size();
  return count;
}

void LayoutReader::append(StringRef item, size_t count) {
  // A division, because a product may overflow.
  if (count > 0 && item.size() > (most - letters.size()) / count)
    return fail(at, "more than 100000 layers");
  for (size_t index = 0; index < count && !item.empty(); ++index)
    letters += item;
}

std::string LayoutReader::readGroup() {
  size_t begin = at;
  std::string item;
  while (at < text.size() && text[at] != ')') {
    if (text[at] == '(')
      fail(at, "a group inside of another");
    if (StringRef("Etm|L,").find(text[at]) == StringRef::npos && !error)
      fail(at, std::string("'") + text[at] + "' is not a layer: layers are E, t, m and L, and '|' ends a stage");
    if (text[at] != ',')
      item += text[at];
    ++at;
  }
  if (!take(')'))
    fail(begin - 1, "'(' is not closed");
  return item;
}

void LayoutReader::readItem() {
  if (take(','))
    return;
  if (take('(')) {
    std::string item = readGroup();
    return append(item, readCount(/*isNeeded=*/true));
  }
  char sign = text[at];
  if (StringRef("Etm|L").find(sign) == StringRef::npos)
    return fail(at, std::string("'") + sign + "' is not a layer: layers are E, t, m and L, and '|' ends a stage");
  ++at;
  append(std::string(1, sign), readCount(/*isNeeded=*/false));
}

void LayoutReader::check() {
  std::string layers = letters;
  llvm::erase(layers, '|');
  if (layers.empty() || layers.front() != 'E' || llvm::count(layers, 'E') != 1)
    return fail(0, "the first layer is E, the embedding, and no other one is");
  if (layers.back() != 'L' || llvm::count(layers, 'L') != 1)
    return fail(text.size() - 1, "the last layer is L, the loss, and no other one is");
  if (size_t m = layers.find('m'); m != std::string::npos && layers.find('t', m) != std::string::npos)
    fail(text.find('m'), "layers t come before layers m");
}

std::variant<PipelineStages, LayoutError> LayoutReader::read() {
  while (at < text.size() && !error)
    readItem();
  if (!error)
    check();
  if (error)
    return *error;
  PipelineStages stages;
  for (StringRef stage : llvm::split(letters, '|'))
    stages.push_back(stage.str());
  return stages;
}

std::variant<PipelineStages, LayoutError> meshplan::parsePipelineLayout(StringRef text) {
  return LayoutReader(text).read();
}
