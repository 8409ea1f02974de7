//===- verify.cpp - meshplan-run verify -----------------------------------===//

#include "runtime/artifact/vector_range.h"
#include "runtime/comm/gather.h"
#include "runtime/launch/placement.h"
#include "runtime/schema/program_names.h"
#include "runtime/tensor/compute_scope.h"
#include "runtime/tensor/memory.h"
#include "runtime/verify/rounding.h"
#include "tools/meshplan_run/rank_run.h"
#include "tools/meshplan_run/verify_report.h"

#include <cstring>
#include <iostream>
#include <unistd.h>

using namespace meshplan;

namespace {

/// The reference on rank 0. Its memory is separate from that of the rank.
struct ReferenceSide {
  std::shared_ptr<MemoryPool> pool = std::make_shared<MemoryPool>();
  std::optional<Reference> reference;
  std::optional<Exact> exact;

  Status make(const Job &job, const RankFeeds &feeds, std::span<const Subject> subjects, const Progress &tell) {
    PoolScope pooled(pool);
    MESHPLAN_ASSIGN_OR_RETURN(reference, Reference::load(job.artifact, *feeds.parameters, *feeds.inputs));
    MESHPLAN_ASSIGN_OR_RETURN(exact, Exact::make(*reference, subjects, threadsPerRank(1), tell));
    return Status();
  }
};

/// A line on a terminal that is removed when something else is printed.
class ProgressLine {
public:
  explicit ProgressLine(bool isShown) : isShown(isShown && ::isatty(STDERR_FILENO) != 0) {}
  ~ProgressLine() { clear(); }

  void tell(const std::string &what) const {
    if (isShown)
      std::cerr << "\r\033[K" + what << std::flush;
  }
  void clear() const { tell(""); }

private:
  bool isShown;
};

} // namespace

/// The findings of all ranks on rank 0, in rank order; empty on other ranks.
static Expected<std::vector<std::vector<Finding>>> gather(World &world, const std::vector<Finding> &own) {
  std::string bytes(reinterpret_cast<const char *>(own.data()), own.size() * sizeof(Finding));
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<std::string> texts, gatherAtFirst(world, bytes));
  std::vector<std::vector<Finding>> findings;
  for (const std::string &text : texts) {
    findings.emplace_back(text.size() / sizeof(Finding));
    std::memcpy(findings.back().data(), text.data(), text.size());
  }
  return findings;
}

/// Fails if the program draws random numbers, because the reference would draw others.
static Status checkDrawsNothing(const artifact::Program &verified) {
  for (const artifact::Setting &setting : elementsOf(verified.settings()))
    if (setting.name()->string_view() == program_names::seed)
      return Status(StatusCode::unsupported,
                    "the model draws random numbers, and the reference would draw others; help: "
                    "export it in evaluation mode, after 'model.eval()'");
  return Status();
}

/// A collective: all ranks call it. `verification` is filled on rank 0.
static Status verifyRank(RankRun &run, const Job &job, const RankFeeds &feeds, Verification &verification) {
  MESHPLAN_RETURN_IF_ERROR(checkDrawsNothing(*job.program));
  MESHPLAN_ASSIGN_OR_RETURN(const artifact::Program *reference, findReference(job.artifact));
  MESHPLAN_RETURN_IF_ERROR(checkRounding(job.artifact.schedule(), *job.program, *reference));
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<Subject> subjects, subjectsOf(*job.program, *reference));
  bool isFirst = run.world.rank() == 0;
  // No other rank computes while the reference does, because it changes settings of the process.
  const CollectiveLabel label{.sequence = -1, .origin = "running the reference"};
  MESHPLAN_ASSIGN_OR_RETURN(auto group, run.world.host().createWorldGroup("world"));
  MESHPLAN_RETURN_IF_ERROR(waitFor(group->startBarrier(label)));
  ReferenceSide side;
  ProgressLine line(isFirst);
  Progress tell = [&](const std::string &what) { line.tell(what); };
  if (isFirst)
    MESHPLAN_RETURN_IF_ERROR(side.make(job, feeds, subjects, tell));
  MESHPLAN_RETURN_IF_ERROR(waitFor(group->startBarrier(label)));
  line.clear(); // loading may print a warning
  MESHPLAN_RETURN_IF_ERROR(run.load(feeds));
  tell("running the program");
  // The reference's gradients are those of the unscaled loss.
  if (Status status = run.program.setNumber(program_names::lossScale, 1);
      !status.ok() && status.code() != StatusCode::notFound)
    return status;
  RankCheck check(run.program, run.world, subjects);
  MESHPLAN_RETURN_IF_ERROR(check.run());
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<Finding> own, check.find(isFirst ? &*side.exact : nullptr, tell));
  MESHPLAN_ASSIGN_OR_RETURN(auto findings, gather(run.world, own));
  if (!isFirst)
    return Status();
  PoolScope pooled(side.pool);
  MESHPLAN_ASSIGN_OR_RETURN(verification.verdicts, judgeWithDraws(subjects, findings, *side.exact, tell));
  verification.draws = side.exact->draws();
  verification.subjects = std::move(subjects);
  return Status();
}

static Status verify(const RunOptions &options, const Job &job, Ranks &ranks, bool &isRight) {
  MESHPLAN_ASSIGN_OR_RETURN(RankFeeds feeds, RankFeeds::open(options, job));
  Verification verification;
  auto body = [&](RankRun &run) { return verifyRank(run, job, feeds, verification); };
  MESHPLAN_RETURN_IF_ERROR(runRanks(options, job, ranks, body));
  isRight = verification.isRight();
  if (verification.subjects.empty())
    return Status();
  // A name need not be UTF-8, on which dump would throw.
  std::cout
      << (options.json
              ? verificationJson(job, verification).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
              : verificationText(job, verification));
  return Status();
}

int meshplan::runVerify(const RunOptions &options) {
  RunOptions verified = options;
  verified.program.clear();
  bool isRight = true;
  int status = runJob(verified, [&](const Job &job, Ranks &ranks) { return verify(verified, job, ranks, isRight); });
  return status == 0 && !isRight ? 1 : status;
}
