//===- problem_text.cpp - text form of a scheduling problem ---------------===//

#include "test/lib/problem/problem_text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace meshplan;
using namespace meshplan::scheduling;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

namespace {
/// Reads line by line; a line is a list of words.
class Reader {
public:
  Expected<ProblemText> read(StringRef text);

private:
  using Names = llvm::StringMap<unsigned>;

  Error readLine();
  void readStream();
  void readCommunicator();
  void readBuffer();
  void readOperation();
  void readStep(StepKind kind, const Names &names);

  StringRef next();
  int64_t nextInteger();
  bool takeWord(StringRef word);
  /// Reads numbers up to the next word.
  ClassBytes nextBytes();
  unsigned nextIndex(const Names &names);
  template <typename List> void nextIndices(const Names &names, List &list);

  ProblemText result;
  Names streams, communicators, buffers, operations;
  llvm::SmallVector<StringRef> words;
  size_t position = 0;
  std::string problem;
};
} // namespace

StringRef Reader::next() {
  if (position < words.size())
    return words[position++];
  problem = "unexpected end of line";
  return "";
}

int64_t Reader::nextInteger() {
  int64_t value = 0;
  StringRef word = next();
  if (problem.empty() && word.getAsInteger(10, value))
    problem = ("expected a number, not '" + word + "'").str();
  return value;
}

bool Reader::takeWord(StringRef word) {
  bool taken = position < words.size() && words[position] == word;
  position += taken;
  return taken;
}

ClassBytes Reader::nextBytes() {
  ClassBytes bytes;
  int64_t value;
  while (position < words.size() && !words[position].getAsInteger(10, value)) {
    bytes.push_back(value);
    ++position;
  }
  return bytes;
}

unsigned Reader::nextIndex(const Names &names) {
  StringRef word = next();
  auto found = names.find(word);
  if (found != names.end())
    return found->second;
  if (problem.empty())
    problem = ("unknown name '" + word + "'").str();
  return 0;
}

template <typename List> void Reader::nextIndices(const Names &names, List &list) {
  while (position < words.size() && names.contains(words[position]))
    list.push_back(nextIndex(names));
}

/// stream NAME
void Reader::readStream() {
  StringRef name = next();
  streams[name] = result.problem.streams.size();
  result.problem.streams.push_back(name.str());
}

/// communicator NAME AXIS:(PRE)SIZE...
void Reader::readCommunicator() {
  StringRef name = next();
  communicators[name] = result.problem.communicators.size();
  Communicator communicator{name.str(), {}};
  while (position < words.size()) {
    AxisRef axis;
    auto [index, digit] = next().split(":(");
    auto [pre, size] = digit.split(')');
    if (index.getAsInteger(10, axis.axis) || pre.getAsInteger(10, axis.pre) || size.getAsInteger(10, axis.size))
      problem = "expected an axis such as 1:(1)3";
    communicator.axes.push_back(axis);
  }
  result.problem.communicators.push_back(communicator);
}

/// buffer NAME BYTES... (`permanent` | `kept` | `host` | `view` BUFFER)*
void Reader::readBuffer() {
  StringRef name = next();
  Buffer buffer;
  buffer.name = name.str();
  buffer.bytes = nextBytes();
  while (position < words.size() && problem.empty()) {
    if (takeWord("permanent"))
      buffer.permanent = true;
    else if (takeWord("kept"))
      buffer.kept = true;
    else if (takeWord("host"))
      buffer.memory = Memory::host;
    else if (takeWord("view"))
      buffer.viewOf = nextIndex(buffers);
    else
      problem = ("unexpected '" + words[position] + "'").str();
  }
  buffers[name] = result.problem.buffers.size();
  result.problem.buffers.push_back(buffer);
}

/// operation NAME `on` STREAM (`over` COMMUNICATOR | `duration` N | `reads` BUFFER* | `writes` BUFFER* |
///                             `workspace` BYTES* | `after` OPERATION* | `overwrites` BUFFER* | `host` | `packs` |
///                             `unpacks`)*
void Reader::readOperation() {
  StringRef name = next();
  Operation operation;
  operation.name = name.str();
  operations[name] = result.problem.operations.size();
  while (position < words.size() && problem.empty()) {
    if (takeWord("on"))
      operation.stream = nextIndex(streams);
    else if (takeWord("over"))
      operation.communicator = nextIndex(communicators);
    else if (takeWord("duration"))
      operation.duration = nextInteger();
    else if (takeWord("reads"))
      nextIndices(buffers, operation.consumed);
    else if (takeWord("writes"))
      nextIndices(buffers, operation.produced);
    else if (takeWord("workspace"))
      operation.workspace = nextBytes();
    else if (takeWord("overwrites"))
      nextIndices(buffers, operation.overwritten);
    else if (takeWord("after"))
      nextIndices(operations, operation.after);
    else if (takeWord("host"))
      operation.memory = Memory::host;
    else if (takeWord("packs"))
      operation.copy = Copy::pack;
    else if (takeWord("unpacks"))
      operation.copy = Copy::unpack;
    else
      problem = ("unexpected '" + words[position] + "'").str();
  }
  result.problem.operations.push_back(operation);
}

void Reader::readStep(StepKind kind, const Names &names) {
  if (!result.solution)
    result.solution.emplace();
  result.solution->steps.push_back({kind, nextIndex(names)});
}

Error Reader::readLine() {
  StringRef verb = next();
  if (verb == "rank_classes")
    result.problem.rankClasses = nextInteger();
  else if (verb == "stream")
    readStream();
  else if (verb == "communicator")
    readCommunicator();
  else if (verb == "buffer")
    readBuffer();
  else if (verb == "operation")
    readOperation();
  else if (verb == "run")
    readStep(StepKind::run, operations);
  else if (verb == "start")
    readStep(StepKind::start, operations);
  else if (verb == "wait")
    readStep(StepKind::wait, operations);
  else if (verb == "free")
    readStep(StepKind::free, buffers);
  else
    problem = ("unknown statement '" + verb + "'").str();
  if (problem.empty() && position < words.size())
    problem = ("unexpected '" + words[position] + "'").str();
  if (problem.empty())
    return Error::success();
  return llvm::createStringError(llvm::inconvertibleErrorCode(), problem);
}

Expected<ProblemText> Reader::read(StringRef text) {
  llvm::SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (auto [number, line] : llvm::enumerate(lines)) {
    words.clear();
    position = 0;
    llvm::SplitString(line.split("//").first, words);
    if (words.empty())
      continue;
    if (Error error = readLine())
      return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                     "line " + Twine(number + 1) + ": " + llvm::toString(std::move(error)));
  }
  return std::move(result);
}

Expected<ProblemText> meshplan::scheduling::parseProblem(StringRef text) { return Reader().read(text); }
