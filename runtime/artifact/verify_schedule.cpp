//===- verify_schedule.cpp - mesh, communicators, sources, values ---------===//

#include "runtime/artifact/meaning.h"

#include "runtime/artifact/vector_range.h"

#include <limits>
#include <map>

namespace meshplan {

namespace {

/// A digit covers the products from `pre` to `pre` times `size`: of an axis of 12 = 2 * 3 * 2 the digits (1)2, (2)3 and
/// (6)2 cover 1 to 2, 2 to 6 and 6 to 12, and none overlaps another. The products do not overflow, since verifyAxis has
/// bounded them by the size of the axis.
bool overlap(const AxisRef &a, const AxisRef &b) {
  return a.axis == b.axis && a.pre < b.pre * b.size && b.pre < a.pre * a.size;
}

Status verifyAxis(const AxisRef &axis, std::span<const int64_t> meshSizes) {
  if (axis.axis < 0 || axis.axis >= static_cast<int64_t>(meshSizes.size()))
    return corrupted("axis ", axis.axis, " of a mesh with ", meshSizes.size(), " axes");
  int64_t size = meshSizes[axis.axis];
  // Both factors are at most the size of the axis, so their product does not overflow.
  bool divides =
      axis.pre >= 1 && axis.pre <= size && axis.size >= 1 && axis.size <= size && size % (axis.pre * axis.size) == 0;
  if (!divides)
    return corrupted("digit (", axis.pre, ")", axis.size, " of an axis of size ", size);
  return Status();
}

/// The extent is a multiple of the block, and distributing the repeated blocks does not overflow.
Status verifyUnits(const DimPart &part) {
  if (part.extent < 0)
    return corrupted("extent ", part.extent, " is negative");
  if (part.unit < 1 || part.extent % part.unit != 0)
    return corrupted("extent ", part.extent, " in blocks of ", part.unit);
  if (part.repeat < 1)
    return corrupted("blocks that repeat ", part.repeat, " times");
  int64_t dealt;
  return __builtin_mul_overflow(part.extent, part.repeat, &dealt) ? corrupted("blocks that overflow") : Status();
}

Status verifyParts(const artifact::Dim &dim) {
  MESHPLAN_RETURN_IF_ERROR(verifyAligned("parts", dim.parts()));
  // Each part has its own block and repetition.
  if (dim.unit() != 1 || dim.repeat() != 1)
    return corrupted("blocks of ", dim.unit(), " that repeat ", dim.repeat(), " times, although the dim has parts");
  int64_t sum = 0;
  for (const artifact::DimPart *part : *dim.parts()) {
    MESHPLAN_RETURN_IF_ERROR(verifyUnits({part->extent(), part->unit(), part->repeat()}));
    if (__builtin_add_overflow(sum, part->extent(), &sum))
      return corrupted("parts that overflow");
  }
  return sum == dim.extent() ? Status() : corrupted("the parts sum to ", sum, ", extent is ", dim.extent());
}

Status verifyDim(const artifact::Dim &dim, std::span<const int64_t> meshSizes, std::vector<AxisRef> &digits) {
  MESHPLAN_RETURN_IF_ERROR(verifyUnits({dim.extent(), dim.unit(), dim.repeat()}));
  if (dim.parts() && dim.parts()->size() > 0)
    MESHPLAN_RETURN_IF_ERROR(verifyParts(dim));
  return verifyAxes(dim.axes(), meshSizes, digits);
}

Status verifyCommunicator(const artifact::Communicator &communicator, std::span<const int64_t> meshSizes) {
  std::vector<AxisRef> digits;
  return verifyAxes(communicator.axes(), meshSizes, digits);
}

/// A run looks for its step and for the evaluation by their role, so that there is at most one of each.
Status verifyRole(const artifact::Program &program, std::set<artifact::ProgramRole> &roles) {
  artifact::ProgramRole role = program.role();
  if (role < artifact::ProgramRole::MIN || role > artifact::ProgramRole::MAX)
    return corrupted("role ", int(role), " does not exist");
  bool isSought = role == artifact::ProgramRole::step || role == artifact::ProgramRole::eval;
  if (isSought && !roles.insert(role).second)
    return corrupted("a second program of role '", artifact::EnumNameProgramRole(role), "'");
  return Status();
}

/// The timeline ends with the program itself and has only programs of microbatches besides. The microbatches of each
/// are 0, 1, ... in this order, and those of the program itself are the last ones.
Status verifyTimeline(const artifact::Schedule &schedule, const artifact::Program &program) {
  if (!program.timeline() || program.timeline()->size() == 0)
    return Status();
  if (program.role() == artifact::ProgramRole::microbatch)
    return corrupted("its role is 'microbatch', and it has a timeline");
  MESHPLAN_RETURN_IF_ERROR(verifyAligned("timeline", program.timeline()));
  std::map<int32_t, int32_t> next; // by program
  bool isOwnBegun = false;
  MESHPLAN_RETURN_IF_ERROR(verifyEach("timeline", program.timeline(), [&](const artifact::Instance *instance) {
    MESHPLAN_RETURN_IF_ERROR(verifyIndex("program", instance->program(), schedule.programs()));
    const artifact::Program &other = *schedule.programs()->Get(instance->program());
    // What an instance of the program defers, the next one resumes.
    if (&other != &program && isOwnBegun)
      return corrupted("'", other.name()->string_view(), "' runs between instances of the program");
    isOwnBegun = &other == &program;
    if (&other != &program && other.role() != artifact::ProgramRole::microbatch)
      return corrupted("the role of '", other.name()->string_view(), "' is '",
                       artifact::EnumNameProgramRole(other.role()), "', must be 'microbatch'");
    int32_t &microbatch = next[instance->program()];
    return instance->microbatch() == microbatch
               ? (++microbatch, Status())
               : corrupted("microbatch ", instance->microbatch(), ", the next one is ", microbatch);
  }));
  const artifact::Instance &last = *program.timeline()->Get(program.timeline()->size() - 1);
  return schedule.programs()->Get(last.program()) == &program
             ? Status()
             : corrupted("timeline: it does not end with the program itself");
}

/// A program of microbatches is in one timeline.
Status verifyMicrobatch(const artifact::Schedule &schedule, const artifact::Program &program) {
  if (program.role() != artifact::ProgramRole::microbatch)
    return Status();
  int64_t timelines = 0;
  for (const artifact::Program *other : *schedule.programs()) {
    bool hasProgram = false;
    for (const artifact::Instance &instance : elementsOf(other->timeline()))
      hasProgram |= schedule.programs()->Get(instance.program()) == &program;
    timelines += hasProgram;
  }
  return timelines == 1 ? Status() : corrupted("its role is 'microbatch', and it is in ", timelines, " timelines");
}

} // namespace

Status verifyMesh(const AxisVector *axes) {
  int64_t world = 1;
  std::set<std::string_view> names;
  return verifyEach("axes", axes, [&](const artifact::Axis *axis) -> Status {
    MESHPLAN_RETURN_IF_ERROR(verifyName(axis->name(), names));
    if (axis->size() < 1)
      return corrupted("size ", axis->size(), " is not positive");
    // MPI and NCCL number ranks by 32-bit integers.
    if (__builtin_mul_overflow(world, axis->size(), &world) || world > std::numeric_limits<int32_t>::max())
      return corrupted("the mesh has more than ", std::numeric_limits<int32_t>::max(), " ranks");
    return Status();
  });
}

Status verifyAxes(const AxisRefVector *axes, std::span<const int64_t> meshSizes, std::vector<AxisRef> &digits) {
  MESHPLAN_RETURN_IF_ERROR(verifyAligned("axes", axes));
  return verifyEach("axes", axes, [&](const artifact::AxisRef *reference) -> Status {
    AxisRef axis{reference->axis(), reference->pre(), reference->size()};
    MESHPLAN_RETURN_IF_ERROR(verifyAxis(axis, meshSizes));
    for (const AxisRef &other : digits)
      if (overlap(axis, other))
        return corrupted("axis ", axis.axis, " is used twice");
    // An axis of size 1 overlaps nothing. Without it, a value has no more digits than a rank number has bits.
    if (axis.size > 1)
      digits.push_back(axis);
    return Status();
  });
}

/// The form of a routed value; its axes are verified.
static Status verifyRouted(const artifact::Value &value) {
  const artifact::Routed *routed = value.routed();
  if (!routed)
    return Status();
  int64_t rank = value.dims()->size(), dims = routed->dims();
  if (routed->kind() < artifact::RoutedKind::MIN || routed->kind() > artifact::RoutedKind::MAX)
    return corrupted("kind ", int(routed->kind()), " does not exist");
  if (dims < 2 || dims > rank || (!isRows(value) && dims != rank))
    return corrupted(dims, " dims of experts and tokens of a value of rank ", rank);
  if (int64_t experts = value.dims()->Get(0)->extent(); routed->slots() < 1 || routed->slots() > experts)
    return corrupted("a token chooses ", routed->slots(), " of ", experts, " experts");
  if (routed->reserve() != 0 && !isReserve(routed->reserve()))
    return corrupted("a reserve of ", routed->reserve(), ", must be at least 1");
  if (isFlat(value) || value.host())
    return corrupted("a routed value that is ", isFlat(value) ? "flat" : "copied to host memory");
  return Status();
}

Status verifyValue(const artifact::Value &value, std::span<const int64_t> meshSizes) {
  if (value.dtype() < artifact::DType::MIN || value.dtype() > artifact::DType::MAX)
    return corrupted("dtype ", int(value.dtype()), " does not exist");
  if (value.partial() < artifact::Reduction::MIN || value.partial() > artifact::Reduction::MAX)
    return corrupted("partial ", int(value.partial()), " does not exist");
  if (isPacked(value) && (value.dims()->size() > 0 || value.host() || value.partial() != artifact::Reduction::none))
    return corrupted("a packed value with a layout of its own");
  std::vector<AxisRef> digits;
  int64_t bytes = dtypeSize(dtypeOf(value.dtype()));
  MESHPLAN_RETURN_IF_ERROR(verifyEach("dims", value.dims(), [&](const artifact::Dim *dim) -> Status {
    // Empty dims count as 1: products of other dims are computed separately elsewhere, and must not overflow either.
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(dim->extent(), 1), &bytes))
      return corrupted("extent ", dim->extent(), " makes the tensor larger than the address space");
    return verifyDim(*dim, meshSizes, digits);
  }));
  // One list of digits for dims, partial and flat axes: an axis can shard a value in one way only.
  MESHPLAN_RETURN_IF_ERROR(verifyAxes(value.partial_axes(), meshSizes, digits).withContext("partial"));
  bool hasAxes = value.partial_axes() && value.partial_axes()->size() > 0;
  if (hasAxes != (value.partial() != artifact::Reduction::none))
    return corrupted(hasAxes ? "partial axes without a reduction" : "a partial value without axes");
  MESHPLAN_RETURN_IF_ERROR(verifyAxes(value.flat_axes(), meshSizes, digits).withContext("flat"));
  if (value.routed() && isPacked(value))
    return corrupted("a packed value that is routed");
  return verifyRouted(value).withContext("routed");
}

Status verifyMeaning(const artifact::Schedule &schedule) {
  // In the order of dependence: each check may rely on the tables that were checked before.
  MESHPLAN_RETURN_IF_ERROR(verifyMesh(schedule.mesh()).withContext("mesh"));
  std::vector<int64_t> sizes = meshSizesOf(schedule.mesh());
  std::set<std::string_view> communicators, programs;
  std::set<artifact::ProgramRole> roles;
  MESHPLAN_RETURN_IF_ERROR(verifyEach("communicators", schedule.communicators(), [&](const auto *each) -> Status {
    MESHPLAN_RETURN_IF_ERROR(verifyName(each->name(), communicators));
    return verifyCommunicator(*each, sizes);
  }));
  MESHPLAN_RETURN_IF_ERROR(verifyEach("origins", schedule.origins(), [&](const artifact::Origin *origin) {
    if (origin->direction() < artifact::Direction::MIN || origin->direction() > artifact::Direction::MAX)
      return corrupted("direction ", int(origin->direction()), " does not exist");
    return origin->plan() == -1 ? Status() : verifyIndex("source", origin->plan(), schedule.sources());
  }));
  MESHPLAN_RETURN_IF_ERROR(verifyEach("programs", schedule.programs(), [&](const artifact::Program *program) -> Status {
    MESHPLAN_RETURN_IF_ERROR(verifyName(program->name(), programs));
    return verifyRole(*program, roles);
  }));
  MESHPLAN_RETURN_IF_ERROR(verifyEach("programs", schedule.programs(), [&](const artifact::Program *program) {
    return verifyTimeline(schedule, *program);
  }));
  MESHPLAN_RETURN_IF_ERROR(verifyEach("programs", schedule.programs(), [&](const artifact::Program *program) {
    return verifyMicrobatch(schedule, *program);
  }));
  return verifyEach("programs", schedule.programs(),
                    [&](const artifact::Program *program) { return verifyProgram(schedule, *program); });
}

} // namespace meshplan
