//===- problem_text.cpp - text form of a scheduling problem ---------------===//

#include "test/lib/problem/problem_text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"
#include <utility>

using namespace meshplan;
using namespace meshplan::scheduling;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

/// By Copy.
static constexpr StringRef copyWords[] = {"", "packs", "unpacks", "joins", "picks"};

namespace {
/// Reads line by line; a line is a list of words.
class Reader {
public:
  Expected<ProblemText> read(StringRef text);

private:
  using Names = llvm::StringMap<unsigned>;

  Error readLine();
  void readCoordinate();
  void finishCoordinate();
  void readLane();
  void readLink();
  void readOverlap();
  void readCommunicator();
  void readBuffer();
  void readOperation();
  bool readCost(Operation &operation);
  bool readInstance(Operation &operation);
  void readMergeable();
  void readSplittable();
  void readStep(StepKind kind, const Names &names);

  StringRef next();
  int64_t nextInteger();
  bool takeWord(StringRef word);
  /// Reads numbers up to the next word.
  ClassBytes nextBytes();
  unsigned nextIndex(const Names &names);
  template <typename List> void nextIndices(const Names &names, List &list);

  ProblemText result;
  /// Coordinates are known before they are read: instances name later ones, too.
  Names coordinates;
  Names lanes, links, communicators, buffers, operations;
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

/// coordinate NAME: what follows, up to the next coordinate, is its problem and its list
void Reader::readCoordinate() {
  StringRef name = next();
  finishCoordinate();
  result.coordinates.push_back({name.str(), {}, {}});
}

void Reader::finishCoordinate() {
  if (!result.coordinates.empty()) {
    result.coordinates.back().problem = std::exchange(result.problem, {});
    result.coordinates.back().solution = std::exchange(result.solution, {}).value_or(Solution());
  }
  for (Names *names : {&lanes, &links, &communicators, &buffers, &operations})
    names->clear();
}

/// lane NAME (`collectives` | `copies`)?
void Reader::readLane() {
  Lane lane{next().str(), LaneKind::compute};
  if (takeWord("collectives"))
    lane.kind = LaneKind::collectives;
  else if (takeWord("copies"))
    lane.kind = LaneKind::copies;
  lanes[lane.name] = result.problem.lanes.size();
  result.problem.lanes.push_back(lane);
}

/// link NAME BYTES_PER_SECOND
void Reader::readLink() {
  Link link{next().str(), nextInteger()};
  if (takeWord("shared"))
    link.sharedRate = nextInteger();
  links[link.name] = result.problem.links.size();
  result.problem.links.push_back(link);
}

/// overlap_speed COMPUTE TRANSFER
void Reader::readOverlap() {
  result.problem.overlapSpeed.compute = nextInteger();
  result.problem.overlapSpeed.transfer = nextInteger();
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

/// `duration` N | `latency` N | `moves` (LINK N)*
bool Reader::readCost(Operation &operation) {
  if (takeWord("duration"))
    operation.duration = nextInteger();
  else if (takeWord("latency"))
    operation.latency = nextInteger();
  else if (takeWord("moves"))
    while (position < words.size() && links.contains(words[position])) {
      unsigned link = nextIndex(links);
      operation.transfers.push_back({link, nextInteger()});
    }
  else
    return false;
  return true;
}

/// `meets` INSTANCE COORDINATE*
bool Reader::readInstance(Operation &operation) {
  if (!takeWord("meets"))
    return false;
  Instance &instance = operation.instances.emplace_back();
  instance.name = next().str();
  nextIndices(coordinates, instance.others);
  return true;
}

/// operation NAME `on` LANE (`over` COMMUNICATOR | COST | `reads` BUFFER* | `writes` BUFFER* | `workspace` BYTES* |
///                           `after` OPERATION* | `overwrites` BUFFER* | `host` | `packs` | `unpacks` | `joins` |
///                           `picks` | `blocking` | `prefetch` UNIT AHEAD | `meets` INSTANCE COORDINATE*)*
void Reader::readOperation() {
  StringRef name = next();
  Operation operation;
  operation.name = name.str();
  operations[name] = result.problem.operations.size();
  while (position < words.size() && problem.empty()) {
    if (readCost(operation) || readInstance(operation))
      continue;
    if (takeWord("on"))
      operation.lane = nextIndex(lanes);
    else if (takeWord("over"))
      operation.communicator = nextIndex(communicators);
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
    else if (const auto *word = llvm::find(copyWords, words[position]); word != std::end(copyWords) && !word->empty()) {
      operation.copy = static_cast<Copy>(word - std::begin(copyWords));
      ++position;
    } else if (takeWord("blocking"))
      operation.blocking = true;
    else if (takeWord("prefetch")) {
      int64_t unit = nextInteger();
      operation.prefetch = {unit, nextInteger()};
    } else
      problem = ("unexpected '" + words[position] + "'").str();
  }
  result.problem.operations.push_back(operation);
}

/// mergeable NAME (`limit` BYTES | `copies` TIME | `once` LINK BYTES)*
///                (OPERATION (`bytes` N | `packs` TIME BYTES* | `unpacks` TIME BYTES*)*)*
void Reader::readMergeable() {
  Mergeable &mergeable = result.problem.mergeables.emplace_back();
  mergeable.name = next().str();
  for (bool reads = true; reads && position < words.size() && problem.empty();)
    if (takeWord("limit"))
      mergeable.mostBytes = nextInteger();
    else if (takeWord("copies"))
      mergeable.leastCopyTime = nextInteger();
    else if (takeWord("once"))
      mergeable.once.push_back({nextIndex(links), nextInteger()});
    else
      reads = false;
  while (position < words.size() && problem.empty()) {
    MergeMember &member = mergeable.members.emplace_back();
    member.operation = nextIndex(operations);
    while (position < words.size() && problem.empty()) {
      if (takeWord("bytes"))
        member.bytes = nextInteger();
      else if (takeWord("packs"))
        member.packTime = nextInteger(), member.sent = nextBytes();
      else if (takeWord("unpacks"))
        member.unpackTime = nextInteger(), member.received = nextBytes();
      else
        break;
    }
  }
}

/// splittable NAME `parts` N (OPERATION (COST | `workspace` BYTES* | `bytes` BYTES* | `rows` BUFFER* | `joins` TIME)*)*
void Reader::readSplittable() {
  Splittable &splittable = result.problem.splittables.emplace_back();
  splittable.name = next().str();
  if (takeWord("parts"))
    splittable.parts = nextInteger();
  while (position < words.size() && problem.empty()) {
    SplitMember &member = splittable.members.emplace_back();
    member.operation = nextIndex(operations);
    Operation costs;
    while (position < words.size() && problem.empty()) {
      if (readCost(costs))
        continue;
      if (takeWord("workspace"))
        member.workspace = nextBytes();
      else if (takeWord("bytes"))
        member.bytes = nextBytes();
      else if (takeWord("rows"))
        nextIndices(buffers, member.rows);
      else if (takeWord("joins"))
        member.joinTime = nextInteger();
      else
        break;
    }
    member.duration = costs.duration;
    member.latency = costs.latency;
    member.transfers = costs.transfers;
  }
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
  else if (verb == "coordinate")
    readCoordinate();
  else if (verb == "lane")
    readLane();
  else if (verb == "link")
    readLink();
  else if (verb == "overlap_speed")
    readOverlap();
  else if (verb == "issue_time")
    result.problem.issueTime = nextInteger();
  else if (verb == "host_computes")
    result.problem.hostComputes = true;
  else if (verb == "memory_limit")
    result.problem.memoryLimit = nextBytes();
  else if (verb == "communicator")
    readCommunicator();
  else if (verb == "buffer")
    readBuffer();
  else if (verb == "operation")
    readOperation();
  else if (verb == "mergeable")
    readMergeable();
  else if (verb == "splittable")
    readSplittable();
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
  for (StringRef line : lines)
    if (line.consume_front("coordinate "))
      coordinates.try_emplace(line.split("//").first.trim(), coordinates.size());
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
  if (!result.coordinates.empty())
    finishCoordinate();
  return std::move(result);
}

Expected<ProblemText> meshplan::scheduling::parseProblem(StringRef text) { return Reader().read(text); }

namespace {
/// Writes line by line.
class Writer {
public:
  Writer(const Problem &problem, llvm::ArrayRef<Coordinate> coordinates, llvm::raw_ostream &out)
      : problem(problem), coordinates(coordinates), out(out) {}

  void write();

private:
  void writeSettings();
  void writeBuffer(const Buffer &buffer);
  void writeOperation(const Operation &operation);
  void writeMergeable(const Mergeable &mergeable);
  void writeSplittable(const Splittable &splittable);
  void writeCost(int64_t duration, int64_t latency, llvm::ArrayRef<Transfer> transfers);
  void writeNumbers(llvm::ArrayRef<int64_t> numbers);
  template <typename Table> void writeNames(StringRef verb, llvm::ArrayRef<unsigned> indices, const Table &table);

  const Problem &problem;
  llvm::ArrayRef<Coordinate> coordinates;
  llvm::raw_ostream &out;
};
} // namespace

void Writer::writeNumbers(llvm::ArrayRef<int64_t> numbers) {
  for (int64_t number : numbers)
    out << ' ' << number;
}

template <typename Table>
void Writer::writeNames(StringRef verb, llvm::ArrayRef<unsigned> indices, const Table &table) {
  if (!indices.empty())
    out << ' ' << verb;
  for (unsigned index : indices)
    out << ' ' << table[index].name;
}

void Writer::writeSettings() {
  if (problem.rankClasses != 1)
    out << "rank_classes " << problem.rankClasses << '\n';
  for (const Lane &lane : problem.lanes)
    out << "lane " << lane.name
        << (lane.kind == LaneKind::compute       ? ""
            : lane.kind == LaneKind::collectives ? " collectives"
                                                 : " copies")
        << '\n';
  for (const Link &link : problem.links)
    out << "link " << link.name << ' ' << link.bytesPerSecond
        << (link.sharedRate == 1000 ? "" : " shared " + std::to_string(link.sharedRate)) << '\n';
  if (problem.overlapSpeed != OverlapSpeed())
    out << "overlap_speed " << problem.overlapSpeed.compute << ' ' << problem.overlapSpeed.transfer << '\n';
  if (problem.issueTime != 0)
    out << "issue_time " << problem.issueTime << '\n';
  if (problem.hostComputes)
    out << "host_computes\n";
  if (!problem.memoryLimit.empty()) {
    out << "memory_limit";
    writeNumbers(problem.memoryLimit);
    out << '\n';
  }
  for (const Communicator &communicator : problem.communicators) {
    out << "communicator " << communicator.name;
    for (const AxisRef &axis : communicator.axes)
      out << ' ' << axis.axis << ":(" << axis.pre << ')' << axis.size;
    out << '\n';
  }
}

void Writer::writeBuffer(const Buffer &buffer) {
  out << "buffer " << buffer.name;
  writeNumbers(buffer.bytes);
  if (buffer.permanent)
    out << " permanent";
  if (buffer.kept)
    out << " kept";
  if (buffer.memory == Memory::host)
    out << " host";
  if (buffer.viewOf)
    out << " view " << problem.buffers[*buffer.viewOf].name;
  out << '\n';
}

void Writer::writeCost(int64_t duration, int64_t latency, llvm::ArrayRef<Transfer> transfers) {
  if (duration != 0)
    out << " duration " << duration;
  if (latency != 0)
    out << " latency " << latency;
  if (!transfers.empty())
    out << " moves";
  for (Transfer transfer : transfers)
    out << ' ' << problem.links[transfer.link].name << ' ' << transfer.bytes;
}

void Writer::writeOperation(const Operation &operation) {
  out << "operation " << operation.name << " on " << problem.lanes[operation.lane].name;
  if (operation.communicator)
    out << " over " << problem.communicators[*operation.communicator].name;
  writeCost(operation.duration, operation.latency, operation.transfers);
  writeNames("reads", operation.consumed, problem.buffers);
  writeNames("writes", operation.produced, problem.buffers);
  writeNames("overwrites", operation.overwritten, problem.buffers);
  writeNames("after", operation.after, problem.operations);
  if (!operation.workspace.empty()) {
    out << " workspace";
    writeNumbers(operation.workspace);
  }
  if (operation.memory == Memory::host)
    out << " host";
  if (operation.copy != Copy::none)
    out << ' ' << copyWords[static_cast<size_t>(operation.copy)];
  if (operation.blocking)
    out << " blocking";
  for (const Instance &instance : operation.instances) {
    out << " meets " << instance.name;
    for (unsigned other : instance.others)
      out << ' ' << coordinates[other].name;
  }
  out << '\n';
}

void Writer::writeMergeable(const Mergeable &mergeable) {
  out << "mergeable " << mergeable.name;
  if (mergeable.mostBytes != 0)
    out << " limit " << mergeable.mostBytes;
  if (mergeable.leastCopyTime != 0)
    out << " copies " << mergeable.leastCopyTime;
  for (const Transfer &transfer : mergeable.once)
    out << " once " << problem.links[transfer.link].name << ' ' << transfer.bytes;
  for (const MergeMember &member : mergeable.members) {
    out << ' ' << problem.operations[member.operation].name;
    if (member.bytes != 0)
      out << " bytes " << member.bytes;
    for (auto [word, time, copied] :
         {std::tuple(" packs ", member.packTime, &member.sent), {" unpacks ", member.unpackTime, &member.received}})
      if (time != 0 || !copied->empty()) {
        out << word << time;
        writeNumbers(*copied);
      }
  }
  out << '\n';
}

void Writer::writeSplittable(const Splittable &splittable) {
  out << "splittable " << splittable.name << " parts " << splittable.parts;
  for (const SplitMember &member : splittable.members) {
    out << ' ' << problem.operations[member.operation].name;
    writeCost(member.duration, member.latency, member.transfers);
    for (auto [word, bytes] : {std::pair(" workspace", &member.workspace), {" bytes", &member.bytes}})
      if (!bytes->empty()) {
        out << word;
        writeNumbers(*bytes);
      }
    writeNames("rows", member.rows, problem.buffers);
    if (member.joinTime != 0)
      out << " joins " << member.joinTime;
  }
  out << '\n';
}

void Writer::write() {
  writeSettings();
  for (const Buffer &buffer : problem.buffers)
    writeBuffer(buffer);
  for (const Operation &operation : problem.operations)
    writeOperation(operation);
  for (const Mergeable &mergeable : problem.mergeables)
    writeMergeable(mergeable);
  for (const Splittable &splittable : problem.splittables)
    writeSplittable(splittable);
}

std::string meshplan::scheduling::textOf(llvm::ArrayRef<Coordinate> coordinates) {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const Coordinate &coordinate : coordinates) {
    if (!coordinate.name.empty())
      out << "coordinate " << coordinate.name << '\n';
    Writer(coordinate.problem, coordinates, out).write();
    for (Step step : coordinate.solution.steps)
      out << describe(coordinate.problem, step) << '\n';
  }
  return text;
}
