//===- data.cpp - data blocks ----------------------------------------------===//
//
// Each option is read by one function, in the order in which it is written;
// defaults that depend on other options, and contradictions between options, are
// decided when all have been read (run, check).
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/training/training.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>
#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

/// Bytes of `64 MiB`; nothing if the operand is not a size in bytes.
std::optional<int64_t> bytesOf(const Operand &operand) {
  static const std::pair<llvm::StringRef, int64_t> units[] = {{"KiB", int64_t{1} << 10}, {"MiB", int64_t{1} << 20},
                                                              {"GiB", int64_t{1} << 30}, {"KB", 1000},
                                                              {"MB", 1000000},           {"GB", 1000000000}};
  if (operand.kind != Operand::Kind::Number)
    return std::nullopt;
  for (const auto &[name, size] : units) {
    double bytes = operand.number.value * static_cast<double>(size);
    if (operand.number.unit == name && bytes >= 1 && bytes < static_cast<double>(std::numeric_limits<int64_t>::max()))
      return static_cast<int64_t>(bytes);
  }
  return std::nullopt;
}

/// Reads the options of one block, each with one function.
class DataReader {
public:
  DataReader(const Context &context, BoundData &data) : context(context), data(data) {}

  void run(const DataStatement &statement);

private:
  bool shard(const Option &option);
  bool readShard(const Option &option);
  bool unit(const Option &option);
  bool keep(const Option &option);
  bool bucket(const Option &option);
  bool overlap(const Option &option);
  bool prefetch(const Option &option);
  bool reduce(const Option &option);
  bool average(const Option &option);
  bool contiguous(const Option &option);
  bool registers(const Option &option);

  /// Reports options that are valid alone but contradict each other.
  void check() const;
  void reportUnsharded(const Option &option) const;
  void reportUnits() const;
  void checkContiguous() const;
  bool shards(DataKind kind) const { return llvm::is_contained(data.shard, kind); }
  std::string overText() const;

  const Context &context;
  BoundData &data;
  const Option *shardOption = nullptr;
  const Option *overlapOption = nullptr;
  const Option *prefetchOption = nullptr;
  const Option *bucketOption = nullptr;
  const Option *contiguousOption = nullptr;
  const Option *registerOption = nullptr;
  std::vector<const Option *> needSharding; ///< options without effect unless parameters are sharded
  std::vector<const Option *> unitOptions;
  bool shardIsWrong = false;
};

const std::pair<llvm::StringRef, DataKind> kindNames[] = {
    {"parameters", DataKind::Parameters}, {"gradients", DataKind::Gradients}, {"optimizer", DataKind::Optimizer}};

/// `shard gradients, optimizer`
std::string shardText(llvm::ArrayRef<DataKind> kinds) {
  std::string result = "shard";
  for (DataKind kind : kinds)
    for (const auto &[name, named] : kindNames)
      if (named == kind)
        result += (result == "shard" ? " " : ", ") + name.str();
  return result;
}

} // namespace

void DataReader::run(const DataStatement &statement) {
  auto member = [this](bool (DataReader::*take)(const Option &)) {
    return [this, take](const Option &option) { return (this->*take)(option); };
  };
  readOptions(context, "data", statement.options,
              {{"shard", "shard parameters, gradients, optimizer [over AXES]", member(&DataReader::shard)},
               {"unit", "unit PATH, [PATH, PATH]", member(&DataReader::unit), /*mayRepeat=*/true},
               {"keep", "keep PATH, PATH", member(&DataReader::keep), /*mayRepeat=*/true},
               {"bucket", "bucket SIZE | none, as in 64 MiB", member(&DataReader::bucket)},
               {"overlap", "overlap gradients, parameters | none", member(&DataReader::overlap)},
               {"prefetch", "prefetch NUMBER", member(&DataReader::prefetch)},
               {"reduce", "reduce each microbatch | reduce last microbatch", member(&DataReader::reduce)},
               {"average", "average in | after collective", member(&DataReader::average)},
               {"contiguous", "contiguous parameters, gradients", member(&DataReader::contiguous)},
               {"register", "register buffers", member(&DataReader::registers)},
               offloadRule(context, data)});
  // 'prefetch 0' asks for gathers at their use; these cannot overlap, so it decides `overlap` where that is not stated.
  if (!overlapOption)
    data.overlapParameters = shards(DataKind::Parameters) && (!prefetchOption || data.prefetch > 0);
  if (data.overlapParameters && !prefetchOption)
    data.prefetch = 1;
  if (!shardIsWrong)
    check();
}

bool DataReader::shard(const Option &option) {
  shardOption = &option;
  shardIsWrong = !readShard(option);
  return !shardIsWrong;
}

bool DataReader::readShard(const Option &option) {
  std::optional<std::vector<Word>> words = allWords(option);
  if (!words)
    return false;
  auto over = llvm::find_if(*words, [](const Word &word) { return word.text == "over"; });
  for (auto word = words->begin(); word != over; ++word) {
    const auto *kind = llvm::find_if(kindNames, [&](const auto &known) { return known.first == word->text; });
    if (kind == std::end(kindNames))
      return false;
    if (shards(kind->second))
      context.diagnostics.error(word->range, "'" + word->text + "' is repeated").help("keep one of them");
    else
      data.shard.push_back(kind->second);
  }
  // Set first: without 'over', and for the messages about wrong ones, the shards are over all axes of the block.
  data.shardAxes = data.axes;
  if (over == words->end())
    return true;
  std::vector<Word> axes(over + 1, words->end());
  data.shardAxes = resolveAxes(context, axes);
  const Mesh &mesh = context.environment.mesh;
  for (size_t axis : data.shardAxes)
    if (!llvm::is_contained(data.axes, axis) && !without(mesh.digitsOf(axis), mesh.digitsOf(data.axes)).empty())
      context.diagnostics.error(option.range, "axis '" + axesText(context, axis) + "' is not an axis of this block, '" +
                                                  axesText(context, data.axes) + "'");
  return !axes.empty() && !data.shard.empty();
}

bool DataReader::unit(const Option &option) {
  auto groups = pathGroups(option);
  if (!groups)
    return false;
  for (const std::vector<PathPattern> &paths : *groups)
    data.units.push_back(bindPaths(context, paths));
  unitOptions.push_back(&option);
  return true;
}

bool DataReader::keep(const Option &option) {
  auto groups = pathGroups(option);
  if (!groups)
    return false;
  for (const std::vector<PathPattern> &paths : *groups)
    for (BoundPaths &bound : bindPaths(context, paths))
      data.keep.push_back(std::move(bound));
  needSharding.push_back(&option);
  return true;
}

bool DataReader::bucket(const Option &option) {
  bucketOption = &option;
  const Operand *operand = singleOperand(option);
  if (singleWord(option) == "none")
    data.bucketBytes = 0;
  else if (operand != nullptr)
    data.bucketBytes = bytesOf(*operand);
  return data.bucketBytes.has_value();
}

bool DataReader::overlap(const Option &option) {
  std::optional<std::vector<Word>> words = allWords(option);
  if (!words)
    return false;
  overlapOption = &option;
  data.overlapGradients = false;
  for (const Word &word : *words) {
    data.overlapGradients |= word.text == "gradients";
    data.overlapParameters |= word.text == "parameters";
    if (word.text != "gradients" && word.text != "parameters" && (word.text != "none" || words->size() > 1))
      return false;
  }
  if (data.overlapParameters)
    needSharding.push_back(&option);
  return true;
}

bool DataReader::prefetch(const Option &option) {
  std::optional<int64_t> count = singleInteger(context, option);
  if (!count || *count < 0)
    return false;
  data.prefetch = *count;
  prefetchOption = &option;
  needSharding.push_back(&option);
  return true;
}

bool DataReader::reduce(const Option &option) {
  std::string words = joinedWords(option);
  data.reduce = words == "each microbatch" ? ReduceTime::EachMicrobatch : ReduceTime::LastMicrobatch;
  if (words != "each microbatch" && words != "last microbatch")
    return false;
  if (context.syntax.microbatches.empty())
    context.diagnostics
        .error(option.range, "'" + option.text + "' without microbatches: gradients are computed once in a step")
        .help("add 'microbatches NUMBER', or remove '" + option.text + "'");
  return true;
}

bool DataReader::average(const Option &option) {
  std::string words = joinedWords(option);
  data.average = words == "after collective" ? AverageTime::AfterCollective : AverageTime::InCollective;
  return words == "in collective" || words == "after collective";
}

bool DataReader::contiguous(const Option &option) {
  std::optional<std::vector<Word>> words = allWords(option);
  if (!words)
    return false;
  contiguousOption = &option;
  for (const Word &word : *words) {
    if (word.text != "parameters" && word.text != "gradients")
      return false;
    bool &isContiguous = word.text == "parameters" ? data.contiguousParameters : data.contiguousGradients;
    if (std::exchange(isContiguous, true))
      context.diagnostics.error(word.range, "'" + word.text + "' is repeated").help("keep one of them");
  }
  return true;
}

bool DataReader::registers(const Option &option) {
  data.registerBuffers = joinedWords(option) == "buffers";
  if (data.registerBuffers)
    registerOption = &option;
  return data.registerBuffers;
}

/// The axes of the shards, if they differ from those of the block.
std::string DataReader::overText() const {
  // Unknown axes have been reported and are left out.
  bool isWhole = data.shardAxes.empty() || data.shardAxes == data.axes;
  return isWhole ? "" : " over " + axesText(context, data.shardAxes);
}

void DataReader::check() const {
  std::vector<std::string> missing;
  bool shardsParameters = shards(DataKind::Parameters), shardsGradients = shards(DataKind::Gradients);
  if (shardsParameters && !shardsGradients)
    missing.push_back("gradients");
  if ((shardsParameters || shardsGradients) && !shards(DataKind::Optimizer))
    missing.push_back("optimizer");
  if (!missing.empty())
    context.diagnostics
        .error(shardOption->range, "'" + shardText(data.shard) + "' without " + llvm::join(missing, " and ") +
                                       ": a rank can update only its own shard")
        .help("write 'shard " + std::string(shardsParameters ? "parameters, " : "") + "gradients, optimizer" +
              overText() + "'");
  if (data.shard.empty())
    reportUnits();
  checkContiguous();
  bool gathersInForward = shardsParameters || (data.overlapParameters && !data.shard.empty());
  for (const Option *option : needSharding)
    if (!(option->name.text == "keep" ? shardsParameters : gathersInForward))
      reportUnsharded(*option);
  if (gathersInForward && overlapOption && prefetchOption && data.overlapParameters != (data.prefetch > 0))
    context.diagnostics
        .error(prefetchOption->range, "'" + prefetchOption->text + "' and '" + overlapOption->text +
                                          "' contradict each other: only gathers that are started ahead overlap")
        .note(overlapOption->range, "the other option is here")
        .help("remove one of them");
}

/// Checks `contiguous`: contiguous tensors are coalesced.
void DataReader::checkContiguous() const {
  bool isWhole = data.shard.empty();
  if (contiguousOption != nullptr && data.bucketBytes == 0)
    context.diagnostics
        .error(contiguousOption->range, "'" + contiguousOption->text + "' and '" + bucketOption->text +
                                            "' contradict each other: transfers are not coalesced")
        .note(bucketOption->range, "the other option is here")
        .help("remove one of them");
  else if (data.contiguousParameters && isWhole)
    context.diagnostics
        .error(contiguousOption->range, "'contiguous parameters' without 'shard': no parameter is gathered")
        .help("write 'shard optimizer', 'shard gradients, optimizer' or 'shard parameters, gradients, optimizer', or " +
              std::string(data.contiguousGradients ? "'contiguous gradients'" : "remove 'contiguous parameters'"));
  else if (data.contiguousGradients && isWhole && !data.bucketBytes)
    context.diagnostics
        .error(contiguousOption->range,
               "'contiguous gradients' without 'bucket': gradients of replicated parameters are not coalesced")
        .help("write 'bucket SIZE', as in 'bucket 64 MiB', or remove 'contiguous gradients'");
  if (registerOption != nullptr && contiguousOption == nullptr)
    context.diagnostics
        .error(registerOption->range, "'register buffers' without 'contiguous': no buffer persists between steps")
        .help("write 'contiguous parameters, gradients', or remove 'register buffers'");
}

void DataReader::reportUnsharded(const Option &option) const {
  bool isOverlap = option.name.text == "overlap", isKeep = option.name.text == "keep";
  std::string reason = data.shard.empty() ? "no parameter is gathered"
                       : data.overlapParameters
                           ? "with 'overlap parameters' all are kept until the backward pass has read them"
                           : "parameters are gathered only after the optimizer, and stay whole";
  Diagnostic &error = context.diagnostics.error(option.range, "'" + (isOverlap ? "overlap parameters" : option.text) +
                                                                  "' without 'shard parameters': " + reason);
  if (shardOption != nullptr)
    error.note(shardOption->range, "the block shards this");
  error.help("write 'shard parameters, gradients, optimizer" + overText() + "', or " +
             (isOverlap && data.overlapGradients          ? "'overlap gradients'"
              : isKeep || isOverlap || data.shard.empty() ? "remove '" + option.text + "'"
                                                          : "add 'overlap parameters'"));
}

void DataReader::reportUnits() const {
  for (const Option *option : unitOptions)
    context.diagnostics
        .error(option->range, "'" + option->text + "' without 'shard': replicated parameters are not in a unit")
        .help("write 'shard optimizer', 'shard gradients, optimizer' or 'shard parameters, gradients, optimizer', or "
              "remove '" +
              option->text + "'; 'bucket SIZE' coalesces gradients, too");
}

void bind::bindData(const Context &context, BoundPlan &plan) {
  for (const DataStatement &statement : context.syntax.data) {
    BoundData data;
    data.axes = resolveAxes(context, statement.axes);
    data.range = statement.range;
    data.ranges = optionRanges(statement.options);
    DataReader(context, data).run(statement);
    plan.data.push_back(std::move(data));
  }
  assignParameters(context, plan);
  checkDataOfExperts(context, plan);
}
