//===- placement.cpp - how this process was started -----------------------===//

#include "runtime/launch/placement.h"

#include <charconv>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace meshplan {

namespace {

/// Where a launcher tells rank and size; an empty name is not told.
struct Source {
  std::string_view rank, size;
};

constexpr Source openMpi{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, pmi{"PMI_RANK", "PMI_SIZE"},
    pmix{"PMIX_RANK", ""}, torchrun{"RANK", "WORLD_SIZE"}, slurmStep{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
    slurmJob{"SLURM_PROCID", "SLURM_NTASKS"};

std::string nameOf(const Source &source) {
  std::string name(source.rank);
  return source.size.empty() ? name : name + " and " + std::string(source.size);
}

Expected<int64_t> numberOf(std::string_view name, const std::string &text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    return Status::error(StatusCode::invalid, name, " is '", text, "', not a number of processes");
  return value;
}

Expected<std::optional<int64_t>> read(const Environment &environment, std::string_view name) {
  auto found = environment.find(name);
  if (name.empty() || found == environment.end())
    return std::optional<int64_t>();
  MESHPLAN_ASSIGN_OR_RETURN(int64_t value, numberOf(name, found->second));
  return std::optional(value);
}

/// What one launcher says; nothing when it is not there.
Expected<std::optional<Placement>> readSource(const Environment &environment, const Source &source) {
  MESHPLAN_ASSIGN_OR_RETURN(std::optional<int64_t> rank, read(environment, source.rank));
  MESHPLAN_ASSIGN_OR_RETURN(std::optional<int64_t> size, read(environment, source.size));
  if (!rank && !size)
    return std::optional<Placement>();
  if (!rank || (!size && !source.size.empty()))
    return Status::error(StatusCode::invalid, rank ? source.rank : source.size, " is set and ",
                         rank ? source.size : source.rank, " is not; help: unset it, or use a launcher that sets both");
  if (size && *rank >= *size)
    return Status::error(StatusCode::invalid, source.rank, " is ", *rank, ", ", source.size, " is ", *size);
  return std::optional(Placement{nameOf(source), *rank, size});
}

std::string positionOf(const Placement &placement) {
  std::string text = "rank " + std::to_string(placement.rank);
  return placement.size ? text + " of " + std::to_string(*placement.size) : text;
}

Status disagreement(const Placement &placement, const std::string &other, const std::string &position) {
  return Status::error(StatusCode::invalid, placement.source, " say", placement.size ? "" : "s", " ",
                       positionOf(placement), ", ", other, " ", position);
}

/// Takes what `next` says, which must not contradict what is known.
Status merge(Placement &known, const Placement &next) {
  if (known.source.empty()) {
    known = next;
    return Status();
  }
  if (known.rank != next.rank || (known.size && next.size && known.size != next.size))
    return disagreement(known, next.source + (next.size ? " say" : " says"), positionOf(next));
  if (!known.size)
    known.size = next.size;
  return Status();
}

} // namespace

Expected<Placement> placementOf(const Environment &environment) {
  Placement placement;
  for (const Source &source : {openMpi, pmi, pmix, torchrun}) {
    MESHPLAN_ASSIGN_OR_RETURN(std::optional<Placement> next, readSource(environment, source));
    if (next)
      MESHPLAN_RETURN_IF_ERROR(merge(placement, *next));
  }
  if (!placement.source.empty() || !environment.contains("SLURM_STEP_ID"))
    return placement;
  const Source &slurm = environment.contains(slurmStep.size) ? slurmStep : slurmJob;
  MESHPLAN_ASSIGN_OR_RETURN(std::optional<Placement> task, readSource(environment, slurm));
  return task ? *task : placement;
}

Expected<Backend> chooseBackend(std::string_view asked, const Placement &placement) {
  if (asked == "mpi" || (asked.empty() && !placement.alone()))
    return Backend::mpi;
  if (!placement.alone())
    return Status::error(StatusCode::invalid, "--backend threads runs all ranks in one process, but this is ",
                         positionOf(placement), " (", placement.source,
                         "); help: leave out --backend, or start one process");
  return Backend::threads;
}

Status checkAgainstMpi(const Placement &placement, int64_t mpiRank, int64_t mpiSize) {
  if (placement.source.empty() || (placement.rank == mpiRank && placement.size.value_or(mpiSize) == mpiSize))
    return Status();
  Placement mpi{"", mpiRank, mpiSize};
  Status status = disagreement(placement, "MPI says", positionOf(mpi));
  if (mpiSize > 1)
    return status;
  return Status::error(status.code(), status.message(),
                       "; help: MPI does not know this launcher; start the processes with mpirun, or with srun and the "
                       "--mpi that this MPI was built for");
}

Status checkProcessCount(int64_t processes, int64_t ranks) {
  if (processes == ranks)
    return Status();
  return Status::error(StatusCode::invalid, "the schedule is for ", ranks, ranks == 1 ? " rank" : " ranks", ", but ",
                       processes, processes == 1 ? " process was" : " processes were",
                       " started; help: start one process for each rank, or compile the plan for ", processes);
}

Environment environmentOfProcess() {
  Environment environment;
  for (char **entry = environ; *entry; ++entry) {
    std::string_view text = *entry;
    size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

} // namespace meshplan
