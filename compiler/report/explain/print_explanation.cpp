//===- print_explanation.cpp - an explanation as text ---------------------===//
//
// Shards of equal size are counted, not listed: a dim over 512 ranks is one line.
//
//===----------------------------------------------------------------------===//

#include "compiler/report/explain/explanation.h"
#include "compiler/report/report.h"
#include "compiler/report/text_table.h"
#include "compiler/support/layer_names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <utility>

using namespace meshplan;
using Align = TextTable::Align;
using llvm::raw_ostream;

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// "dp = 2, tp = 3"
static std::string axesText(const std::vector<AxisName> &axes) {
  std::string text;
  for (const AxisName &axis : axes)
    text += (text.empty() ? "" : ", ") + axis.name + " = " + std::to_string(axis.size);
  return text;
}

/// "24 on each rank", or "25 on 1 shard, 24 on 2": runs of equal shards.
static std::string shardsText(const std::vector<int64_t> &extents) {
  if (extents.size() == 1)
    return std::to_string(extents.front()) + " on each rank";
  std::string text;
  for (size_t begin = 0, end = 0; begin < extents.size(); begin = end) {
    while (end < extents.size() && extents[end] == extents[begin])
      ++end;
    text += (begin == 0 ? "" : ", ") + std::to_string(extents[begin]) + " on " + std::to_string(end - begin);
    text += begin > 0 ? "" : end - begin == 1 ? " shard" : " shards";
  }
  return text;
}

/// "[4, 24..25]": the range of each dim's extent over ranks; for a flat tensor a number of elements.
static std::string localText(const TensorExplanation &tensor) {
  if (tensor.flat)
    return std::to_string(tensor.flat->piece) + (tensor.flat->piece == 1 ? " element" : " elements");
  std::vector<std::string> dims;
  for (const DimExplanation &dim : tensor.dims) {
    auto [least, most] = std::minmax_element(dim.localExtent.begin(), dim.localExtent.end());
    dims.push_back(*least == *most ? std::to_string(*most) : std::to_string(*least) + ".." + std::to_string(*most));
  }
  return "[" + llvm::join(dims, ", ") + "]";
}

static std::string shapeText(const TensorExplanation &tensor) {
  std::vector<std::string> dims;
  for (const DimExplanation &dim : tensor.dims)
    dims.push_back(std::to_string(dim.extent));
  return "[" + llvm::join(dims, ", ") + "] " + tensor.dtype;
}

/// "aten.linear.default in model.layers.0.mlp", "output loss"
static std::string endText(const End &end) {
  bool isOperator = llvm::StringRef(end.what).contains('.');
  return end.what + (end.name.empty() ? "" : isOperator ? " in " : " ") + end.name;
}

/// Merges ends that differ only in the number of their layer: "aten.mul.Tensor in layers.*.attn (30)".
static std::vector<End> byLayers(const std::vector<End> &ends) {
  std::vector<std::pair<End, int64_t>> groups;
  for (const End &end : ends) {
    auto isLayerOf = [&](const auto &group) {
      return group.first.what == end.what && group.first.layout == end.layout &&
             withoutIndices(group.first.name) == withoutIndices(end.name);
    };
    if (auto group = llvm::find_if(groups, isLayerOf); group != groups.end())
      ++group->second;
    else
      groups.push_back({end, 1});
  }
  std::vector<End> rows;
  for (auto &[end, count] : groups) {
    std::string name = count > 1 ? withoutIndices(end.name) + " (" + std::to_string(count) + ")" : end.name;
    rows.push_back({end.what, std::move(name), end.layout});
  }
  return rows;
}

/// The first of them, and the number of the others.
static std::string endsText(const std::vector<End> &ends) {
  std::vector<End> rows = byLayers(ends);
  if (rows.empty())
    return "";
  return endText(rows.front()) + (rows.size() > 1 ? " and " + std::to_string(rows.size() - 1) + " more" : "");
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static void printStatement(const Statement &statement, const Sources &sources, raw_ostream &stream) {
  if (!statement.range.hasLine()) {
    stream << "not stated in the plan\n";
    return;
  }
  stream << locationText(sources, statement.range) << ": " << statement.text << '\n';
  printExcerpt(stream, sources, statement.range);
}

/// Prints each statement once: two axes of a dim often have the same one.
static void printReasons(const std::vector<Statement> &reasons, const Sources &sources, raw_ostream &stream) {
  for (size_t index = 0; index < reasons.size(); ++index) {
    auto isSame = [&](const Statement &other) { return other.range == reasons[index].range; };
    if (std::none_of(reasons.begin(), reasons.begin() + index, isSame))
      printStatement(reasons[index], sources, stream);
  }
}

static void printLayout(const Explanation &explanation, raw_ostream &stream) {
  const TensorExplanation &tensor = *explanation.tensor;
  TextTable table({Align::left, Align::left});
  table.addRow({"shape", shapeText(tensor)});
  table.addRow({"layout", tensor.layout});
  table.addRow({"each rank",
                localText(tensor) + ", " + formatBytes(tensor.rankBytes) + " of " + formatBytes(tensor.globalBytes)});
  if (explanation.arrives)
    table.addRow({"arrives as", explanation.arrives->layout});
  bool isMade = explanation.kind == "module input" || explanation.kind == "output";
  for (auto [index, end] : llvm::enumerate(byLayers(explanation.ends)))
    table.addRow({index > 0 ? "" : isMade ? "from" : "to", endText(end)});
  const char *tied = "tied to";
  for (const std::string &name : explanation.names)
    if (name != explanation.path)
      table.addRow({std::exchange(tied, ""), name});
  table.print(stream);
}

static void printWhy(const Explanation &explanation, const Sources &sources, raw_ostream &stream) {
  const TensorExplanation &tensor = *explanation.tensor;
  bool isWhole = !tensor.partial && !tensor.flat;
  for (auto [index, dim] : llvm::enumerate(tensor.dims)) {
    if (dim.axes.empty())
      continue;
    isWhole = false;
    stream << "\ndim " << index << " (" << dim.extent << ") is split over " << axesText(dim.axes) << ": "
           << shardsText(dim.localExtent) << '\n';
    printReasons(dim.reasons, sources, stream);
  }
  if (tensor.partial) {
    stream << "\npartial over " << axesText(tensor.partial->axes) << ": "
           << (tensor.partial->reduction == "sum" ? "each rank holds a partial sum"
                                                  : "the value is the " + tensor.partial->reduction + " of the ranks'")
           << '\n';
    printReasons(tensor.partial->reasons, sources, stream);
  }
  if (tensor.flat) {
    stream << "\nthe " << tensor.flat->elements << " elements of a rank are sharded over "
           << axesText(tensor.flat->axes) << ": at most " << tensor.flat->piece << " on each\n";
    printReasons(tensor.flat->reasons, sources, stream);
  }
  if (!isWhole)
    return;
  stream << "\nwhole on every rank\n";
  if (explanation.statement.range.hasLine())
    printStatement(explanation.statement, sources, stream);
}

static void printMembers(const char *title, const std::vector<MemberExplanation> &members, const char *direction,
                         raw_ostream &stream) {
  if (members.empty())
    return;
  stream << '\n' << title << '\n';
  TextTable table({Align::right, Align::left, Align::left, Align::left});
  for (auto [index, member] : llvm::enumerate(members))
    table.addRow({std::to_string(index), member.tensor.dtype, member.tensor.layout,
                  std::string(direction) + " " + endsText(member.ends)});
  table.print(stream);
}

static void printParameters(const Explanation &explanation, const Sources &sources, raw_ostream &stream) {
  if (explanation.parameters.empty())
    return;
  stream << "\nparameters\n";
  TextTable table({Align::right, Align::left, Align::left, Align::left, Align::left, Align::left});
  for (const MemberExplanation &member : explanation.parameters)
    table.addRow({std::to_string(member.count), member.name, member.tensor.dtype, member.tensor.layout,
                  member.statement.text, locationText(sources, member.statement.range)});
  table.print(stream);
}

static void printReshard(const ReshardExplanation &reshard, const Sources &sources, raw_ostream &stream) {
  for (const StepExplanation &step : reshard.steps) {
    stream << "  " << reshard.count << " x " << step.kind;
    // A step has no axes if a rank keeps one of several equal copies.
    if (!step.axes.empty())
      stream << " over " << axesText(step.axes);
    stream << ", ";
    stream << (step.kind == "slice" ? "no communication" : formatBytes(step.bytes)) << '\n';
  }
  TextTable table({Align::left, Align::left, Align::left});
  table.addRow({"  made", endText(reshard.producer), reshard.producer.layout});
  for (auto [index, consumer] : llvm::enumerate(byLayers(reshard.consumers)))
    table.addRow({index == 0 ? "  needed" : "", endText(consumer), consumer.layout});
  auto addStatement = [&](const char *word, const Statement &statement) {
    bool isStated = statement.range.hasLine();
    table.addRow({word, isStated ? statement.text : "not stated in the plan",
                  isStated ? locationText(sources, statement.range) : ""});
  };
  addStatement("  because", reshard.statement);
  for (const Statement &need : reshard.needs)
    addStatement("  and", need);
  table.print(stream);
}

static void printReshards(const char *title, const std::vector<ReshardExplanation> &reshards, const Sources &sources,
                          raw_ostream &stream) {
  stream << '\n' << title << ", bytes that a rank sends and receives\n";
  for (const ReshardExplanation &reshard : reshards)
    printReshard(reshard, sources, stream);
  if (reshards.empty())
    stream << "  none\n";
}

/// The gradient of a parameter and what the optimizer keeps.
static void printTrained(const TrainingExplanation &training, raw_ostream &stream) {
  if (!training.gradient)
    return;
  stream << "\ntraining\n";
  TextTable table({Align::left, Align::left, Align::left, Align::left});
  auto addRow = [&](const std::string &name, const TensorExplanation &tensor) {
    table.addRow(
        {name, tensor.dtype, tensor.layout, formatBytes(tensor.rankBytes) + " of " + formatBytes(tensor.globalBytes)});
  };
  addRow("gradient", *training.gradient);
  for (const MemberExplanation &state : training.states)
    addRow(state.name, state.tensor);
  table.print(stream);
}

void meshplan::printExplanation(const Explanation &explanation, const Sources &sources, raw_ostream &stream) {
  bool isRoot = explanation.path.empty() || explanation.path.front() == ':';
  stream << explanation.kind << ' ' << (isRoot ? "\"\"" : "") << explanation.path << '\n';
  if (explanation.tensor) {
    printLayout(explanation, stream);
    printWhy(explanation, sources, stream);
  }
  if (explanation.loss) {
    stream << "\nthe loss is " << explanation.loss->meaning << '\n';
    printStatement(explanation.loss->statement, sources, stream);
  }
  printParameters(explanation, sources, stream);
  printMembers("inputs", explanation.inputs, "from", stream);
  printMembers("outputs", explanation.outputs, "to", stream);
  printReshards("collectives", explanation.reshards, sources, stream);
  if (!explanation.training)
    return;
  printTrained(*explanation.training, stream);
  printReshards("collectives of the training step after the forward pass", explanation.training->reshards, sources,
                stream);
}
