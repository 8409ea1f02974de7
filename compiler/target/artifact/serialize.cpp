//===- serialize.cpp - a sched module as bytes ----------------------------===//

#include "compiler/target/artifact/artifact.h"
#include "compiler/target/artifact/attribute_tables.h"
#include "compiler/target/artifact/program_serializer.h"
#include "runtime/schema/checksum.h"
#include "runtime/schema/format.h"

using namespace mlir;

namespace meshplan {

static void addCommunicator(artifact::ScheduleT &schedule, sched::CommunicatorOp communicator, ModuleTables &tables) {
  tables.communicators[communicator.getSymName()] = schedule.communicators.size();
  auto entry = std::make_unique<artifact::CommunicatorT>();
  entry->name = communicator.getSymName().str();
  entry->axes = toAxisRefTable(sched::toAxisRefs(communicator.getAxes()));
  schedule.communicators.push_back(std::move(entry));
}

static FailureOr<artifact::ScheduleT> buildTables(ModuleOp module, const ArtifactOptions &options) {
  sched::MeshOp mesh = sched::getMesh(module);
  if (!mesh)
    return module.emitError("has no mesh and cannot become an artifact");
  artifact::ScheduleT schedule;
  schedule.format = artifactFormat;
  schedule.compiler = options.compilerVersion;
  schedule.fingerprint = options.fingerprint;
  schedule.plan_name = options.planName;
  schedule.device = options.device;
  schedule.mesh = toAxisTable(mesh.getAxes());
  ModuleTables tables;
  for (auto communicator : module.getOps<sched::CommunicatorOp>())
    addCommunicator(schedule, communicator, tables);
  // All of them first: a timeline refers to other programs.
  for (auto program : module.getOps<sched::ProgramOp>())
    tables.programs.try_emplace(program.getSymName(), tables.programs.size());
  for (auto program : module.getOps<sched::ProgramOp>()) {
    FailureOr<std::unique_ptr<artifact::ProgramT>> table = serializeProgram(program, tables);
    if (failed(table))
      return failure();
    schedule.programs.push_back(std::move(*table));
  }
  tables.origins.moveInto(schedule);
  return schedule;
}

FailureOr<std::vector<uint8_t>> serialize(ModuleOp module, const ArtifactOptions &options) {
  FailureOr<artifact::ScheduleT> schedule = buildTables(module, options);
  if (failed(schedule))
    return failure();
  flatbuffers::FlatBufferBuilder builder(size_t(1) << 20);
  artifact::FinishScheduleBuffer(builder, artifact::CreateSchedule(builder, &*schedule));
  std::vector<uint8_t> bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
  Checksum checksum = checksumOf(bytes);
  bytes.insert(bytes.end(), checksum.begin(), checksum.end());
  return bytes;
}

} // namespace meshplan
