//===- describe.cpp - an artifact as text ---------------------------------===//

#include "compiler/target/artifact/artifact.h"
#include "compiler/target/artifact/describe_program.h"
#include "runtime/schema/checksum.h"
#include "runtime/schema/format.h"
#include "runtime/schema/format_of.h"

using namespace meshplan;
using llvm::Error;
using llvm::raw_ostream;

std::string meshplan::describeAxes(const AxisRefs *axes, const MeshAxes *mesh) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  const char *separator = "";
  forEach(axes, [&](const artifact::AxisRef *axis) {
    stream << separator;
    separator = ", ";
    bool known = mesh && axis->axis() >= 0 && axis->axis() < static_cast<int64_t>(mesh->size());
    const artifact::Axis *meshAxis = known ? mesh->Get(static_cast<flatbuffers::uoffset_t>(axis->axis())) : nullptr;
    if (meshAxis)
      stream << textOf(meshAxis->name());
    else
      stream << '#' << axis->axis();
    if (!meshAxis || meshAxis->size() != axis->size())
      stream << ":(" << axis->pre() << ')' << axis->size();
  });
  return text;
}

static void describeHead(const artifact::Schedule &schedule, raw_ostream &stream) {
  stream << "schedule format " << schedule.format() << " compiler '" << textOf(schedule.compiler()) << "' plan '"
         << textOf(schedule.plan_name()) << "' device " << textOf(schedule.device()) << " fingerprint '"
         << textOf(schedule.fingerprint()) << "'\nmesh";
  forEach(schedule.mesh(),
          [&](const artifact::Axis *axis) { stream << ' ' << textOf(axis->name()) << '=' << axis->size(); });
  stream << '\n';
  forEach(schedule.communicators(), [&](const artifact::Communicator *communicator) {
    stream << "communicator " << textOf(communicator->name()) << ": "
           << describeAxes(communicator->axes(), schedule.mesh()) << '\n';
  });
}

static void describeOrigins(const artifact::Schedule &schedule, raw_ostream &stream) {
  int index = 0;
  forEach(schedule.sources(), [&](const artifact::Source *source) {
    stream << "source " << index++ << ": " << textOf(source->file()) << ':' << source->line() << ':' << source->column()
           << " '" << textOf(source->text()) << "'\n";
  });
  index = 0;
  forEach(schedule.origins(), [&](const artifact::Origin *origin) {
    stream << "origin " << index++ << ": source " << origin->plan() << " module '" << textOf(origin->module_()) << "'";
    if (origin->direction() != artifact::Direction::forward)
      stream << ' ' << artifact::EnumNameDirection(origin->direction());
    stream << '\n';
  });
}

Error meshplan::describeArtifact(llvm::ArrayRef<uint8_t> bytes, raw_ostream &stream) {
  if (!hasRightChecksum(bytes))
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "not an artifact: its last bytes are not the checksum of the others");
  std::span<const uint8_t> content = contentOf(bytes);
  std::optional<int32_t> format = formatOf(content);
  if (format && *format != artifactFormat)
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "an artifact of format %d, this compiler writes format %d", *format, artifactFormat);
  flatbuffers::Verifier verifier(content.data(), content.size(), /*max_depth=*/64, /*max_tables=*/1u << 30);
  if (!format || !artifact::VerifyScheduleBuffer(verifier))
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "not an artifact: its bytes are not well-formed");
  const artifact::Schedule &schedule = *artifact::GetSchedule(bytes.data());
  describeHead(schedule, stream);
  forEach(schedule.programs(), [&](const artifact::Program *program) { describeProgram(schedule, *program, stream); });
  describeOrigins(schedule, stream);
  return Error::success();
}
