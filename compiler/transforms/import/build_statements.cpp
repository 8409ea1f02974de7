//===- build_statements.cpp - statements of the plan as ops ---------------===//

#include "compiler/transforms/import/build_statements.h"
#include "compiler/frontend/statement_forms.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

static plan::StyleKind styleKind(meshplan::StyleKind kind) {
  switch (kind) {
  case meshplan::StyleKind::Colwise:
    return plan::StyleKind::colwise;
  case meshplan::StyleKind::Rowwise:
    return plan::StyleKind::rowwise;
  case meshplan::StyleKind::Sequence:
    return plan::StyleKind::sequence;
  case meshplan::StyleKind::Expert:
    return plan::StyleKind::expert;
  case meshplan::StyleKind::Within:
    return plan::StyleKind::within;
  case meshplan::StyleKind::Replicate:
    return plan::StyleKind::replicate;
  }
  llvm_unreachable("unknown style");
}

static ArrayAttr toArray(OpBuilder &builder, ArrayRef<AxisRefAttr> axes) {
  return builder.getArrayAttr(SmallVector<Attribute>(axes.begin(), axes.end()));
}

void StatementBuilder::build() {
  refuseStatements();
  buildMesh();
  for (const BoundModule &module : bound.modules) {
    for (const BoundStyle &style : module.styles)
      buildStyle(outline.model.modules[module.module].path, style);
    for (const BoundBorder &border : module.borders)
      buildBorder(module, border);
  }
  for (const BoundParameterStyle &parameter : bound.parameterStyles)
    for (const BoundStyle &style : parameter.styles)
      buildStyle(parameterPath(outline.model, parameter.name), style);
  for (const BoundOutput &output : bound.outputs)
    buildOutput(output);
  if (bound.loss)
    buildLossUnit(*bound.loss);
  for (const BoundRouting &routing : bound.routings)
    buildRouting(routing);
  // Without training, precision still sets the types in which the model computes.
  if (bound.loss && bound.optimizer)
    buildTraining();
  else if (bound.precision)
    buildPrecision(*bound.precision);
}

Location StatementBuilder::locate(const SourceRange &range) const {
  if (!range.hasLine())
    return builder.getUnknownLoc();
  return FileLineColRange::get(builder.getStringAttr(diagnostics.sources().buffer(range.file).name()), range.line,
                               range.column, range.line, range.endColumn);
}

SmallVector<AxisRefAttr> StatementBuilder::axisRefs(ArrayRef<size_t> axes) const {
  return digitRefs(bound.environment.mesh.digitsOf(axes));
}

SmallVector<AxisRefAttr> StatementBuilder::digitRefs(ArrayRef<AxisRef> digits) const {
  return llvm::map_to_vector(digits, [&](const AxisRef &digit) {
    const meshplan::MeshAxis &axis = bound.environment.mesh.axes[digit.axis];
    return digit.size == axis.size ? AxisRefAttr::get(builder.getContext(), axis.name)
                                   : AxisRefAttr::get(builder.getContext(), axis.name, digit.pre, digit.size);
  });
}

/// True if the statement has an effect in a plan that does not train.
static bool saysComputeOnly(const BoundPrecision &precision) {
  auto isEmpty = [&](std::string BoundPrecision::*dtype) { return (precision.*dtype).empty(); };
  return !(precision.compute.empty() && precision.activations.empty()) && !precision.lossScale &&
         llvm::all_of(
             std::initializer_list<std::string BoundPrecision::*>{&BoundPrecision::storage, &BoundPrecision::gather,
                                                                  &BoundPrecision::reduce, &BoundPrecision::master,
                                                                  &BoundPrecision::state},
             isEmpty);
}

/// Refuses statements of training in a plan that does not train: they would have no effect.
void StatementBuilder::refuseUseless() {
  auto refuse = [&](StringRef name, SourceRange range) {
    diagnostics.error(range, ("'" + name + "' without an optimizer: nothing is trained").str())
        .help("add 'optimizer KIND { ... }', or remove the statement");
  };
  for (const BoundRecompute &recompute : bound.recomputes)
    refuse("recompute", recompute.range);
  for (const BoundData &data : bound.data)
    refuse("data", data.range);
  if (bound.precision && !saysComputeOnly(*bound.precision))
    refuse("precision", bound.precision->range);
  for (const BoundTrainable &trainable : bound.trainable)
    refuse(keywordOf(trainable.kind), trainable.range);
}

void StatementBuilder::refuseStatements() {
  if (!bound.optimizer)
    refuseUseless();
}

void StatementBuilder::buildMesh() {
  SmallVector<Attribute> axes;
  for (const meshplan::MeshAxis &axis : bound.environment.mesh.axes)
    axes.push_back(MeshAxisAttr::get(builder.getContext(), axis.name, axis.size));
  MeshOp::create(builder, locate(bound.environment.mesh.range), builder.getArrayAttr(axes));
}

DenseI64ArrayAttr StatementBuilder::partsAttr(ArrayRef<StylePart> parts) const {
  return builder.getDenseI64ArrayAttr(llvm::map_to_vector(parts, [](const StylePart &part) { return part.count; }));
}

void StatementBuilder::buildStyle(StringRef path, const BoundStyle &style) {
  StyleOp::create(builder, locate(style.range), builder.getStringAttr(path),
                  StyleKindAttr::get(builder.getContext(), styleKind(style.kind)),
                  toArray(builder, axisRefs(style.axes)), builder.getStringAttr(style.text),
                  builder.getI64IntegerAttr(style.dim), partsAttr(style.parts));
}

SmallVector<AxisRefAttr> StatementBuilder::allAxes() const {
  return llvm::map_to_vector(bound.environment.mesh.axes, [&](const meshplan::MeshAxis &axis) {
    return AxisRefAttr::get(builder.getContext(), axis.name);
  });
}

/// A list of all dims covers every axis. `replicate` and `split` cover the axes of the module's styles and their own;
/// if there are none, those that divide no input, so that samples stay where they are.
SmallVector<AxisRefAttr> StatementBuilder::governedAxes(const BoundModule &module, const BoundLayout &layout) const {
  if (layout.rank)
    return allAxes();
  const Mesh &mesh = bound.environment.mesh;
  AxisList governed;
  for (const BoundStyle &style : module.styles)
    llvm::append_range(governed, style.axes);
  for (const DimSplit &split : layout.splits)
    llvm::append_range(governed, split.axes);
  if (!governed.empty())
    return digitRefs(unionOf(mesh.digitsOf(governed)));
  std::vector<AxisRef> ofInputs;
  for (const BoundInput &input : bound.inputs)
    for (const BoundDim &dim : input.dims)
      llvm::append_range(ofInputs, mesh.digitsOf(dim.axes));
  return digitRefs(without(mesh.digitsOf(llvm::to_vector(llvm::seq(mesh.axes.size()))), ofInputs));
}

/// The dims up to the last one that is split, or all that the statement lists.
ShardingAttr StatementBuilder::leadingDims(const BoundLayout &layout) const {
  int64_t rank = layout.rank.value_or(0);
  for (const DimSplit &split : layout.splits)
    rank = std::max(rank, split.dim + 1);
  ShardingAttr sharding = ShardingAttr::getReplicated(builder.getContext(), rank);
  for (const DimSplit &split : layout.splits)
    sharding = sharding.withDim(split.dim, axisRefs(split.axes));
  return sharding;
}

ArrayAttr StatementBuilder::namesOf(ArrayRef<std::string> names) const {
  SmallVector<StringRef> texts(names.begin(), names.end());
  return names.empty() ? ArrayAttr() : builder.getStrArrayAttr(texts);
}

DenseI64ArrayAttr StatementBuilder::extentsOf(ArrayRef<std::string> names) const {
  SmallVector<int64_t> sizes =
      llvm::map_to_vector(names, [&](const std::string &name) { return extents.lookup(name); });
  return names.empty() ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(sizes);
}

void StatementBuilder::buildBorder(const BoundModule &module, const BoundBorder &border) {
  BorderOp::create(
      builder, locate(border.layout.range), builder.getStringAttr(outline.model.modules[module.module].path),
      builder.getBoolAttr(border.isInput), builder.getI64IntegerAttr(border.index), leadingDims(border.layout),
      builder.getBoolAttr(border.layout.rank.has_value()), toArray(builder, governedAxes(module, border.layout)),
      builder.getStringAttr(border.layout.text), namesOf(border.layout.names), extentsOf(border.layout.names));
}

/// An output of the model is an output of the root module.
void StatementBuilder::buildOutput(const BoundOutput &output) {
  SmallVector<DimShardingAttr> dims;
  std::vector<std::string> names;
  for (const BoundDim &dim : output.dims) {
    dims.push_back(DimShardingAttr::get(builder.getContext(), axisRefs(dim.axes)));
    names.push_back(dim.name);
  }
  std::string text = "output " + outline.model.outputs[output.output].name;
  BorderOp::create(builder, locate(output.range), builder.getStringAttr(""), builder.getBoolAttr(false),
                   builder.getI64IntegerAttr(output.output), ShardingAttr::get(builder.getContext(), dims),
                   builder.getBoolAttr(true), toArray(builder, allAxes()), builder.getStringAttr(text), namesOf(names),
                   extentsOf(names));
}

/// Applies even if the plan does not train: the forward program returns the loss that the plan defines.
void StatementBuilder::buildLossUnit(const BoundLoss &loss) {
  if (loss.unit == meshplan::LossUnit::Model)
    return;
  plan::LossUnit unit = loss.unit == meshplan::LossUnit::Token ? plan::LossUnit::token : plan::LossUnit::sequence;
  NormalizeLossOp::create(builder, locate(loss.range), static_cast<int64_t>(loss.output), unit);
}

ShardingAttr StatementBuilder::layoutOf(const BoundLayout &layout, ArrayRef<int64_t> shape, StringRef what) {
  int64_t rank = shape.size();
  ShardingAttr stated = leadingDims(layout), sharding = ShardingAttr::getReplicated(builder.getContext(), rank);
  if (stated.getRank() > rank || (layout.rank && stated.getRank() != rank)) {
    diagnostics.error(
        layout.range,
        ("'" + layout.text + "' has " + Twine(stated.getRank()) + " dims, and " + what + " has " + Twine(rank)).str());
    return sharding;
  }
  for (int64_t dim = 0; dim < stated.getRank(); ++dim)
    sharding = sharding.withDim(dim, stated.getDims()[dim].getAxes());
  return sharding;
}
