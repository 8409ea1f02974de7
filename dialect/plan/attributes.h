//===- attributes.h - attributes that any op may carry ----------*- C++ -*-===//
//
// plan.td declares the discardable attributes of the dialect, with their types;
// attributes.cpp says where each may stand. Here they are read and written by
// type: `argAttr<attr::Trainable>(function, 2)` is a BoolAttr, or null.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_DIALECT_PLAN_ATTRIBUTES_H
#define MESHPLAN_DIALECT_PLAN_ATTRIBUTES_H

#include "dialect/plan/plan.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace meshplan::plan {

/// One type for each attribute: it has the name, and reads and writes the attribute of an op.
namespace attr {
using Kind = PlanDialect::KindAttrHelper;
using Names = PlanDialect::NamesAttrHelper;
using Dims = PlanDialect::DimsAttrHelper;
using Sharding = PlanDialect::ShardingAttrHelper;
using Parts = PlanDialect::PartsAttrHelper;
using Style = PlanDialect::StyleAttrHelper;
using Trainable = PlanDialect::TrainableAttrHelper;
using Unused = PlanDialect::UnusedAttrHelper;
using Group = PlanDialect::GroupAttrHelper;
using Data = PlanDialect::DataAttrHelper;
using Unit = PlanDialect::UnitAttrHelper;
using Keep = PlanDialect::KeepAttrHelper;
using Init = PlanDialect::InitAttrHelper;
using Pieces = PlanDialect::PiecesAttrHelper;
using Of = PlanDialect::OfAttrHelper;
using Copies = PlanDialect::CopiesAttrHelper;
using Scratch = PlanDialect::ScratchAttrHelper;
using Value = PlanDialect::ValueAttrHelper;
using Schedule = PlanDialect::ScheduleAttrHelper;
using Storage = PlanDialect::StorageAttrHelper;
using Host = PlanDialect::HostAttrHelper;
using Mergeable = PlanDialect::MergeableAttrHelper;
using Prefetch = PlanDialect::PrefetchAttrHelper;
using Once = PlanDialect::OnceAttrHelper;
using Name = PlanDialect::NameAttrHelper;
using Loss = PlanDialect::LossAttrHelper;
using Experts = PlanDialect::ExpertsAttrHelper;
using Pairs = PlanDialect::PairsAttrHelper;
using GradientOf = PlanDialect::GradientOfAttrHelper;
using Updates = PlanDialect::UpdatesAttrHelper;
using Role = PlanDialect::RoleAttrHelper;
using Guard = PlanDialect::GuardAttrHelper;
using Timeline = PlanDialect::TimelineAttrHelper;
using ModuleRuns = PlanDialect::ModuleRunsAttrHelper;
using LossGradient = PlanDialect::LossGradientAttrHelper;
using Kept = PlanDialect::KeptAttrHelper;
using Precision = PlanDialect::PrecisionAttrHelper;
using KeepsAddends = PlanDialect::KeepsAddendsAttrHelper;
using ZeroGradient = PlanDialect::ZeroGradientAttrHelper;
using InEvaluation = PlanDialect::InEvaluationAttrHelper;
using Reserve = PlanDialect::ReserveAttrHelper;
using AutocastOff = PlanDialect::AutocastOffAttrHelper;
using InputOf = PlanDialect::InputOfAttrHelper;
using OutputOf = PlanDialect::OutputOfAttrHelper;
using ActivationSum = PlanDialect::ActivationSumAttrHelper;
using WideActivations = PlanDialect::WideActivationsAttrHelper;
using IsDecomposed = PlanDialect::IsDecomposedAttrHelper;
using IsEvaluated = PlanDialect::IsEvaluatedAttrHelper;

template <typename Attr> using ValueOf = decltype(std::declval<Attr &>().getAttr(nullptr));
} // namespace attr

/// The attribute of an op, argument or result, or null.
template <typename Attr> attr::ValueOf<Attr> opAttr(mlir::Operation *op) {
  return op->getAttrOfType<attr::ValueOf<Attr>>(Attr::getNameStr());
}
template <typename Attr> attr::ValueOf<Attr> argAttr(mlir::FunctionOpInterface function, unsigned index) {
  return llvm::dyn_cast_or_null<attr::ValueOf<Attr>>(function.getArgAttr(index, Attr::getNameStr()));
}
template <typename Attr> attr::ValueOf<Attr> argAttr(mlir::BlockArgument argument) {
  auto function = llvm::dyn_cast<mlir::FunctionOpInterface>(argument.getOwner()->getParentOp());
  bool isEntry = function && argument.getOwner()->isEntryBlock();
  return isEntry ? argAttr<Attr>(function, argument.getArgNumber()) : attr::ValueOf<Attr>();
}
template <typename Attr> attr::ValueOf<Attr> resultAttr(mlir::FunctionOpInterface function, unsigned index) {
  return llvm::dyn_cast_or_null<attr::ValueOf<Attr>>(function.getResultAttr(index, Attr::getNameStr()));
}

/// Sets the attribute of an op, argument or result.
template <typename Attr> void setOpAttr(mlir::Operation *op, attr::ValueOf<Attr> value) {
  op->setDiscardableAttr(Attr::getNameStr(), value);
}
template <typename Attr>
void setArgAttr(mlir::FunctionOpInterface function, unsigned index, attr::ValueOf<Attr> value) {
  function.setArgAttr(index, Attr::getNameStr(), value);
}
template <typename Attr>
void setResultAttr(mlir::FunctionOpInterface function, unsigned index, attr::ValueOf<Attr> value) {
  function.setResultAttr(index, Attr::getNameStr(), value);
}

/// The attribute with its name, for the attributes of a new op or argument.
template <typename Attr> mlir::NamedAttribute named(attr::ValueOf<Attr> value) {
  return {mlir::StringAttr::get(value.getContext(), Attr::getNameStr()), value};
}

} // namespace meshplan::plan

#endif // MESHPLAN_DIALECT_PLAN_ATTRIBUTES_H
