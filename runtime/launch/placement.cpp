//===- placement.cpp - ranks and sizes from launchers ---------------------===//

#include "runtime/launch/placement.h"

#include <charconv>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace meshplan {

namespace {

/// The variables in which a launcher gives rank and size. An empty name: the launcher does not give it.
struct Source {
  std::string_view rank, size;
  bool isMpi = false;
};

constexpr Source openMpi{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", true}, pmi{"PMI_RANK", "PMI_SIZE", true},
    pmix{"PMIX_RANK", "", true}, torchrun{"RANK", "WORLD_SIZE"}, slurmStep{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
    slurmJob{"SLURM_PROCID", "SLURM_NTASKS"};

/// The rank among the processes of a machine, and their number.
constexpr Source localSources[] = {{"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                                   {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
                                   {"LOCAL_RANK", "LOCAL_WORLD_SIZE"},
                                   {"SLURM_LOCALID", ""}};

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

/// What one launcher says; nullopt if its variables are not set.
Expected<std::optional<Placement>> readSource(const Environment &environment, const Source &source) {
  MESHPLAN_ASSIGN_OR_RETURN(std::optional<int64_t> rank, read(environment, source.rank));
  MESHPLAN_ASSIGN_OR_RETURN(std::optional<int64_t> size, read(environment, source.size));
  if (!rank && !size)
    return std::optional<Placement>();
  // Half a pair is usually left over from another launcher or shell.
  if (!rank || (!size && !source.size.empty()))
    return Status::error(StatusCode::invalid, rank ? source.rank : source.size, " is set and ",
                         rank ? source.size : source.rank, " is not; help: unset it, or use a launcher that sets both");
  if (size && *rank >= *size)
    return Status::error(StatusCode::invalid, source.rank, " is ", *rank, ", ", source.size, " is ", *size);
  return std::optional(Placement{.source = nameOf(source), .rank = *rank, .size = size, .isMpi = source.isMpi});
}

std::string positionOf(const Placement &placement) {
  std::string text = "rank " + std::to_string(placement.rank);
  return placement.size ? text + " of " + std::to_string(*placement.size) : text;
}

Status disagreement(const Placement &placement, const std::string &other, const std::string &position) {
  return Status::error(StatusCode::invalid, placement.source, " say", placement.size ? "" : "s", " ",
                       positionOf(placement), ", ", other, " ", position);
}

/// Adds what `next` says, which must not contradict what is known.
Status merge(Placement &known, const Placement &next) {
  if (known.source.empty()) {
    known = next;
    return Status();
  }
  // A wrong rank would train on the wrong shards without any error, so nothing is guessed from contradicting launchers.
  if (known.rank != next.rank || (known.size && next.size && known.size != next.size))
    return disagreement(known, next.source + (next.size ? " say" : " says"), positionOf(next));
  if (!known.size)
    known.size = next.size;
  return Status();
}

/// Only the first local source counts, without comparison: the variables of the others may come from an outer launcher.
Status readLocal(const Environment &environment, Placement &placement) {
  for (const Source &source : localSources) {
    MESHPLAN_ASSIGN_OR_RETURN(placement.localRank, read(environment, source.rank));
    MESHPLAN_ASSIGN_OR_RETURN(placement.localSize, read(environment, source.size));
    if (!placement.localRank)
      continue;
    if (placement.localSize && *placement.localRank >= *placement.localSize)
      return Status::error(StatusCode::invalid, source.rank, " is ", *placement.localRank, ", ", source.size, " is ",
                           *placement.localSize);
    return Status();
  }
  // A number of processes without a number of this process says nothing about it.
  placement.localSize.reset();
  return Status();
}

Expected<Placement> readRanks(const Environment &environment) {
  Placement placement;
  for (const Source &source : {openMpi, pmi, pmix, torchrun}) {
    MESHPLAN_ASSIGN_OR_RETURN(std::optional<Placement> next, readSource(environment, source));
    // Several launchers may be nested, such as torchrun in a Slurm job; they must agree.
    if (next)
      MESHPLAN_RETURN_IF_ERROR(merge(placement, *next));
  }
  // Slurm also sets its variables for what other launchers start in a job, so they count only without any other.
  if (!placement.source.empty() || !environment.contains("SLURM_STEP_ID"))
    return placement;
  // A step may have fewer tasks than its job.
  const Source &slurm = environment.contains(slurmStep.size) ? slurmStep : slurmJob;
  MESHPLAN_ASSIGN_OR_RETURN(std::optional<Placement> task, readSource(environment, slurm));
  return task ? *task : placement;
}

} // namespace

Expected<Placement> placementOf(const Environment &environment) {
  MESHPLAN_ASSIGN_OR_RETURN(Placement placement, readRanks(environment));
  placement.isTorchrun = placement.source == nameOf(torchrun) && environment.contains("TORCHELASTIC_RUN_ID");
  if (!placement.source.empty())
    MESHPLAN_RETURN_IF_ERROR(readLocal(environment, placement));
  return placement;
}

/// How the hosts of several processes communicate.
static Hosts hostsOf(const Placement &placement, const std::optional<MeetingPoint> &meeting) {
  return !placement.isMpi && meeting ? Hosts::store : Hosts::mpi;
}

static Status checkBackend(std::string_view asked, const Workload &workload) {
  bool isCuda = workload.device == "cuda";
  if (workload.device == "cpu" && asked == "nccl")
    return Status::error(StatusCode::invalid, "--backend nccl moves tensors of GPUs, and the schedule is for ",
                         workload.device, "; help: leave out --backend, or compile with --device cuda");
  if (isCuda && workload.ranks > 1 && (asked == "mpi" || asked == "threads"))
    return Status::error(StatusCode::invalid, "--backend ", asked,
                         " moves tensors of the host, and the schedule is "
                         "for cuda; help: leave out --backend, or compile with --device cpu");
  return Status();
}

static bool isSlurm(const Placement &placement) {
  return placement.source == nameOf(slurmStep) || placement.source == nameOf(slurmJob);
}

/// MPI cannot start in a process of srun without PMI; it ends the process.
static Status checkSlurm(const Placement &placement, const Workload &workload) {
  if (!isSlurm(placement) || placement.alone())
    return Status();
  std::string help = "start them with srun --mpi=pmix (`srun --mpi=list` names what it has) or mpirun -n " +
                     std::to_string(workload.ranks);
  if (workload.device == "cuda")
    return Status::error(
        StatusCode::invalid, "rank ", placement.rank,
        ": the hosts of the ranks meet over MPI or at a store, srun has started no MPI, and no store is "
        "named; help: set MASTER_ADDR to the machine of rank 0 and MASTER_PORT to a free port of it, or ",
        help);
  return Status::error(StatusCode::invalid, "rank ", placement.rank,
                       ": the ranks of a schedule for cpu are processes of MPI or threads of one process, and srun has "
                       "started no MPI; help: ",
                       help, ", or start one process, which runs all ranks");
}

/// Each process of torchrun would be alone in its own MPI world.
static Status checkTorchrun(const Placement &placement, const Workload &workload) {
  if (!placement.isTorchrun || placement.alone() || workload.device != "cpu")
    return Status();
  return Status::error(StatusCode::invalid, "rank ", placement.rank,
                       ": the ranks of a schedule for cpu are processes of MPI or threads of one process, and torchrun "
                       "starts no MPI; help: use mpirun -n ",
                       workload.ranks, ", or start one process, which runs all ranks");
}

/// The choice without --backend, for several ranks:
///
///   device   processes, and who started them     backend   hosts
///   cpu      1                                   threads   threads
///   cpu      several, MPI                        mpi       mpi
///   cpu      several, torchrun                   refused
///   cuda     1, with a GPU for each rank         nccl      threads
///   cuda     several, MPI                        nccl      mpi
///   cuda     several, torchrun or a store        nccl      store
Expected<Connection> chooseBackend(std::string_view asked, const Placement &placement, const Workload &workload,
                                   const std::optional<MeetingPoint> &meeting) {
  MESHPLAN_RETURN_IF_ERROR(checkBackend(asked, workload));
  if (asked == "threads" && !placement.alone())
    return Status::error(StatusCode::invalid, "--backend threads runs all ranks in one process, but this is ",
                         positionOf(placement), " (", placement.source,
                         "); help: leave out --backend, or start one process");
  // First the connection of the hosts: the backend of GPUs needs one for its set-up and for failures.
  Hosts hosts = placement.alone() ? Hosts::threads : hostsOf(placement, meeting);
  // This rank cannot read the schedule. The others, which may, expect nccl with a store, and must learn of the failure
  // there.
  bool mayBeCuda = workload.device.empty() && asked.empty() && hosts == Hosts::store;
  // If the schedule cannot be read, each process reports that by itself.
  if (workload.device.empty() && hosts == Hosts::mpi && isSlurm(placement))
    return Connection{Backend::threads, Hosts::threads};
  bool needsMpi = hosts == Hosts::mpi || workload.device == "cpu";
  if (needsMpi)
    MESHPLAN_RETURN_IF_ERROR(checkSlurm(placement, workload));
  if (asked == "nccl" || (workload.device == "cuda" && workload.ranks > 1) || mayBeCuda)
    return Connection{Backend::nccl, hosts};
  if (asked == "mpi" || (asked.empty() && !placement.alone())) {
    MESHPLAN_RETURN_IF_ERROR(checkTorchrun(placement, workload));
    return Connection{Backend::mpi, Hosts::mpi};
  }
  return Connection{Backend::threads, Hosts::threads};
}

Status checkAgainstMpi(const Placement &placement, int64_t mpiRank, int64_t mpiSize) {
  if (placement.source.empty() || (placement.rank == mpiRank && placement.size.value_or(mpiSize) == mpiSize))
    return Status();
  Placement mpi{.source = "", .rank = mpiRank, .size = mpiSize};
  Status status = disagreement(placement, "MPI says", positionOf(mpi));
  // With a single MPI process, MPI does not know the launcher; otherwise both counts are real and contradict.
  if (mpiSize > 1)
    return status;
  return Status::error(status.code(), status.message(),
                       "; help: MPI does not know this launcher; start the processes with mpirun, or with srun and the "
                       "--mpi that this MPI was built for, or start one process, which runs all ranks");
}

Status checkProcessCount(int64_t processes, int64_t ranks) {
  if (processes == ranks)
    return Status();
  return Status::error(StatusCode::invalid, "the schedule is for ", ranks, ranks == 1 ? " rank" : " ranks", ", but ",
                       processes, processes == 1 ? " process was" : " processes were",
                       " started; help: start one process for each rank, or compile the plan for ", processes);
}

Expected<int> chooseGpu(int64_t rank, std::optional<int64_t> localRank, int gpus) {
  const std::string who = "rank " + std::to_string(rank) + ": ";
  if (gpus == 0)
    return Status(StatusCode::unsupported, who + "the schedule is for cuda, and this machine has no CUDA device; help: "
                                                 "compile with --device cpu");
  // Guessing rank modulo GPUs would be wrong where machines have different numbers of ranks.
  if (!localRank)
    return Status(StatusCode::invalid, who + "which of the GPUs of this machine is for this rank is not known; help: "
                                             "set LOCAL_RANK, from 0 on in each machine");
  if (*localRank >= gpus)
    return Status::error(StatusCode::unsupported, who, "it is number ", *localRank, " on this machine, which has ",
                         gpus, gpus == 1 ? " GPU" : " GPUs", "; help: start at most ", gpus,
                         gpus == 1 ? " process" : " processes", " on it");
  return static_cast<int>(*localRank);
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
