//===- data.cpp - data blocks ----------------------------------------------===//

#include "compiler/frontend/bind/context.h"
#include "compiler/frontend/bind/option_reader.h"
#include "compiler/support/nearest.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>
#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

namespace {

/// Bytes of `64 MiB`; none where the operand is not a size in bytes.
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

/// The options of one block, each taken by one function.
class DataReader {
public:
  DataReader(const Context &context, BoundData &data) : context(context), data(data) {}

  void run(const DataStatement &statement);

private:
  bool shard(const Option &option);
  static std::optional<DataKind> kindOf(llvm::StringRef name);
  bool unit(const Option &option);
  bool keep(const Option &option);
  bool bucket(const Option &option);
  bool overlap(const Option &option);
  bool prefetch(const Option &option);
  bool reduce(const Option &option);
  bool average(const Option &option);

  const Context &context;
  BoundData &data;
};

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
               {"reduce", "reduce each | last microbatch", member(&DataReader::reduce)},
               {"average", "average in | after collective", member(&DataReader::average)}});
}

bool DataReader::shard(const Option &option) {
  std::optional<std::vector<Word>> words = allWords(option);
  if (!words)
    return false;
  auto over = llvm::find_if(*words, [](const Word &word) { return word.text == "over"; });
  for (auto word = words->begin(); word != over; ++word) {
    std::optional<DataKind> kind = kindOf(word->text);
    if (!kind)
      return false;
    data.shard.push_back(*kind);
  }
  data.shardAxes = data.axes;
  if (over == words->end())
    return true;
  std::vector<Word> axes(over + 1, words->end());
  data.shardAxes = resolveAxes(context, axes);
  for (size_t axis : data.shardAxes)
    if (!llvm::is_contained(data.axes, axis))
      context.diagnostics.error(option.range, "axis '" + axesText(context, axis) + "' is not an axis of this block, '" +
                                                  axesText(context, data.axes) + "'");
  return !axes.empty() && !data.shard.empty();
}

std::optional<DataKind> DataReader::kindOf(llvm::StringRef name) {
  if (name == "parameters")
    return DataKind::Parameters;
  if (name == "gradients")
    return DataKind::Gradients;
  if (name == "optimizer")
    return DataKind::Optimizer;
  return std::nullopt;
}

bool DataReader::unit(const Option &option) {
  auto groups = pathGroups(option);
  if (!groups)
    return false;
  for (const std::vector<PathPattern> &paths : *groups)
    data.units.push_back(bindPaths(context, paths));
  return true;
}

bool DataReader::keep(const Option &option) {
  auto groups = pathGroups(option);
  if (!groups)
    return false;
  for (const std::vector<PathPattern> &paths : *groups)
    for (BoundPaths &bound : bindPaths(context, paths))
      data.keep.push_back(std::move(bound));
  return true;
}

bool DataReader::bucket(const Option &option) {
  if (singleWord(option) == "none")
    return true;
  const Operand *operand = singleOperand(option);
  if (operand != nullptr)
    data.bucketBytes = bytesOf(*operand);
  return data.bucketBytes.has_value();
}

bool DataReader::overlap(const Option &option) {
  std::optional<std::vector<Word>> words = allWords(option);
  if (!words)
    return false;
  for (const Word &word : *words) {
    data.overlapGradients |= word.text == "gradients";
    data.overlapParameters |= word.text == "parameters";
    if (word.text != "gradients" && word.text != "parameters" && (word.text != "none" || words->size() > 1))
      return false;
  }
  return true;
}

bool DataReader::prefetch(const Option &option) {
  std::optional<int64_t> count = singleInteger(context, option);
  data.prefetch = count.value_or(0);
  return count && *count >= 0;
}

bool DataReader::reduce(const Option &option) {
  std::string words = joinedWords(option);
  data.reduce = words == "each microbatch" ? ReduceTime::EachMicrobatch : ReduceTime::LastMicrobatch;
  return words == "each microbatch" || words == "last microbatch";
}

bool DataReader::average(const Option &option) {
  std::string words = joinedWords(option);
  data.average = words == "after collective" ? AverageTime::AfterCollective : AverageTime::InCollective;
  return words == "in collective" || words == "after collective";
}

namespace {

/// Gives each parameter to one block. A block without `on` takes what no other names.
void assignParameters(const Context &context, BoundPlan &plan) {
  std::vector<const BoundData *> owner(context.model.parameters.size(), nullptr);
  for (size_t i = 0; i < plan.data.size(); ++i)
    for (const BoundPaths &paths : bindPaths(context, context.syntax.data[i].paths))
      for (size_t parameter : paths.parameters) {
        if (owner[parameter] != nullptr && owner[parameter] != &plan.data[i]) {
          context.diagnostics
              .error(paths.range, "parameter '" + parameterPath(context.model, context.model.parameters[parameter]) +
                                      "' is in two data blocks")
              .note(owner[parameter]->range, "the other block is here");
          break;
        }
        owner[parameter] = &plan.data[i];
      }
  const BoundData *general = nullptr;
  for (size_t i = 0; i < plan.data.size(); ++i) {
    if (!context.syntax.data[i].paths.empty())
      continue;
    if (general != nullptr)
      context.diagnostics.error(plan.data[i].range, "two data blocks take what no other block names")
          .note(general->range, "the other block is here")
          .help("say which parameters it takes: 'data AXES on PATHS { ... }'");
    general = &plan.data[i];
  }
  for (size_t parameter = 0; parameter < owner.size(); ++parameter)
    for (BoundData &data : plan.data)
      if (&data == (owner[parameter] != nullptr ? owner[parameter] : general))
        data.parameters.push_back(parameter);
}

} // namespace

void bind::bindData(const Context &context, BoundPlan &plan) {
  for (const DataStatement &statement : context.syntax.data) {
    BoundData data;
    data.axes = resolveAxes(context, statement.axes);
    data.range = statement.range;
    DataReader(context, data).run(statement);
    plan.data.push_back(std::move(data));
  }
  assignParameters(context, plan);
}
