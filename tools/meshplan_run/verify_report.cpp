//===- verify_report.cpp - the result of verify ---------------------------===//
//
// A wrong tensor is reported with the instruction that makes it and with the statement of the plan that the instruction
// comes from.
//
//===----------------------------------------------------------------------===//

#include "tools/meshplan_run/verify_report.h"

#include "runtime/base/format.h"
#include "runtime/base/names.h"
#include "runtime/exec/origin.h"
#include "runtime/verify/value_layout_text.h"

#include <algorithm>

using namespace meshplan;

// The number of wrong tensors that are printed, worst first; --json has all.
static constexpr size_t mostDetails = 8;

bool Verification::isRight() const { return std::ranges::all_of(verdicts, &Verdict::isRight); }

/// "all_reduce 12 over dp, at decoder.plan:5:9 input input_ids, module lm_head": the instruction that computes a
/// tensor.
static std::string makerText(const Job &job, const Subject &subject) {
  const artifact::Schedule &schedule = job.artifact.schedule();
  std::optional<size_t> index = producingInstruction(*job.program, subject.made);
  if (!index)
    return "";
  const artifact::Instruction &instruction = *job.program->instructions()->Get(*index);
  std::string text = "slice";
  if (const artifact::Compute *compute = instruction.action_as_Compute())
    text = compute->target()->str();
  if (const artifact::Wait *wait = instruction.action_as_Wait())
    for (const artifact::Instruction *each : *job.program->instructions()) {
      if (const artifact::Copy *copy = each->action_as_Copy(); copy && copy->sequence() == wait->sequence())
        text = "copy " + std::to_string(copy->sequence());
      if (const artifact::Start *start = each->action_as_Start(); start && start->sequence() == wait->sequence())
        text = std::string(artifact::EnumNameCollectiveKind(start->kind())) + " " + std::to_string(start->sequence()) +
               " over " + schedule.communicators()->Get(start->communicator())->name()->str();
    }
  std::string origin = originText(schedule, instruction);
  return origin.empty() ? text : text + ", at " + origin;
}

/// Subjects, worst first.
static std::vector<size_t> byRatio(const Verification &verification, const std::function<bool(size_t)> &isWanted) {
  std::vector<size_t> order;
  for (size_t i = 0; i < verification.subjects.size(); ++i)
    if (isWanted(i))
      order.push_back(i);
  std::ranges::stable_sort(order, [&](size_t left, size_t right) {
    return verification.verdicts[left].deviation.ratio() > verification.verdicts[right].deviation.ratio();
  });
  return order;
}

static std::string tableText(const Verification &verification) {
  std::string text = "what           tensors  wrong  worst error  bound     ratio     rank  of\n";
  for (SubjectKind kind : subjectKinds) {
    std::vector<size_t> order = byRatio(verification, [&](size_t i) { return verification.subjects[i].kind == kind; });
    if (order.empty())
      continue;
    auto wrong = std::ranges::count_if(order, [&](size_t i) { return !verification.verdicts[i].isRight(); });
    const Verdict &worst = verification.verdicts[order.front()];
    text += fmt::format("{:<13}  {:>7}  {:>5}  {:<11.2e}  {:<8.2e}  {:<8.2g}  {:>4}  {}\n", kindName(kind),
                        order.size(), wrong, worst.deviation.error, worst.deviation.bound, worst.deviation.ratio(),
                        worst.rank, verification.subjects[order.front()].name);
  }
  return text;
}

static std::string detailText(const Job &job, const Subject &subject, const Verdict &verdict) {
  const Deviation &deviation = verdict.deviation;
  std::string text = "WRONG: " + std::string(kindName(subject.kind)) + " '" + subject.name + "', " +
                     layoutText(job.artifact.schedule(), *job.program->values()->Get(subject.value)) + "\n";
  text += fmt::format("  error {:.3e} on rank {}, PyTorch's own {:.3e}, bound {:.3e}; wrong on {}\n", deviation.error,
                      verdict.rank, deviation.own, deviation.bound, rankList(verdict.wrongRanks));
  if (std::string maker = makerText(job, subject); !maker.empty())
    text += "  made by " + maker + "\n";
  if (std::string statement = originText(job.artifact.schedule(), subject.placed); !statement.empty())
    text += "  parameter placed at " + statement + "\n";
  return text;
}

std::string meshplan::verificationText(const Job &job, const Verification &verification) {
  std::string text = "program '" + job.program->name()->str() + "' on " + std::to_string(job.worldSize()) +
                     (job.worldSize() == 1 ? " rank" : " ranks") + ", against LibTorch on one\n" +
                     tableText(verification);
  std::vector<size_t> wrong = byRatio(verification, [&](size_t i) { return !verification.verdicts[i].isRight(); });
  for (size_t i = 0; i < std::min(wrong.size(), mostDetails); ++i)
    text += detailText(job, verification.subjects[wrong[i]], verification.verdicts[wrong[i]]);
  if (wrong.size() > mostDetails)
    text += "and " + std::to_string(wrong.size() - mostDetails) + " more, which --json lists\n";
  return text + (wrong.empty() ? "ok\n" : "WRONG\n");
}

nlohmann::json meshplan::verificationJson(const Job &job, const Verification &verification) {
  nlohmann::json tensors = nlohmann::json::array();
  for (size_t i = 0; i < verification.subjects.size(); ++i) {
    const Subject &subject = verification.subjects[i];
    const Verdict &verdict = verification.verdicts[i];
    tensors.push_back({{"what", kindName(subject.kind)},
                       {"name", subject.name},
                       {"right", verdict.isRight()},
                       {"error", verdict.deviation.error},
                       {"own_error", verdict.deviation.own},
                       {"bound", verdict.deviation.bound},
                       {"ratio", verdict.deviation.ratio()},
                       {"rank", verdict.rank},
                       {"wrong_ranks", verdict.wrongRanks},
                       {"layout", layoutText(job.artifact.schedule(), *job.program->values()->Get(subject.value))},
                       {"made_by", makerText(job, subject)},
                       {"placed_at", originText(job.artifact.schedule(), subject.placed)}});
  }
  return {{"program", job.program->name()->str()},
          {"world_size", job.worldSize()},
          {"right", verification.isRight()},
          {"batches", verification.draws},
          {"tensors", std::move(tensors)}};
}
