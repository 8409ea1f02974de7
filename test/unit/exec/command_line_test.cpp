#include "test/unit/exec/run_schedule.h"

#include <fstream>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

using namespace meshplan;
using testing::AllOf;
using testing::HasSubstr;

namespace {

struct CommandResult {
  int status;
  std::string text; // both streams
};

/// y = x w with the contraction over tp.
class CommandLineTest : public testing::Test {
protected:
  CommandLineTest() {
    int x = builder.input("x", {{4, {"dp"}}, {6, {"tp"}}}, DType::f32);
    int w = builder.parameter({"w", "tied.w"}, {{6, {"tp"}}, {5}}, DType::f32);
    int part = builder.value({{4, {"dp"}}, {5}}, DType::f32, {"tp"}), y = builder.value({{4, {"dp"}}, {5}}, DType::f32);
    builder.compute("aten.mm.default", {tensorArg("self", x), tensorArg("mat2", w)}, {part});
    builder.collective(Kind::all_reduce, {"tp"}, part, y);
    builder.free({part});
    builder.output("y", y);
    builder.program().memory = std::make_unique<artifact::MemoryT>();
    builder.program().memory->parameters = 2 * 5 * 4;
    builder.program().memory->peak = 200;
    builder.write(folder / "test.sched");
    writeTensors(folder / "w.safetensors", {{"tied.w", w0}});
    writeTensors(folder / "x.safetensors", {{"x", x0}});
  }

  CommandResult call(const std::string &arguments) const {
    std::string command = "cd " + folder.path() + " && " MESHPLAN_BIN "/" MESHPLAN_RUN " " + arguments + " 2>&1";
    FILE *pipe = popen(command.c_str(), "r");
    CommandResult result;
    for (int letter = fgetc(pipe); letter != EOF; letter = fgetc(pipe))
      result.text += static_cast<char>(letter);
    result.status = WEXITSTATUS(pclose(pipe));
    return result;
  }

  CommandResult forward(const std::string &more = "") const {
    return call("forward test.sched --weights w.safetensors --inputs x.safetensors --outputs y.safetensors " + more);
  }

  /// The state before the run: no output, no temporary files.
  void expectNothingLeft(std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"test.sched", "w.safetensors", "x.safetensors"});
    EXPECT_THAT(folder.names(), testing::UnorderedElementsAreArray(more));
  }

  ScheduleBuilder builder{{{"dp", 2}, {"tp", 3}}};
  TemporaryDirectory folder;
  at::Tensor x0 = at::randn({4, 6}), w0 = at::randn({6, 5});
};

} // namespace

TEST_F(CommandLineTest, Forward) {
  CommandResult result = forward();
  EXPECT_EQ(result.status, 0) << result.text;
  EXPECT_THAT(result.text, AllOf(HasSubstr("rank 5: parameters 0.00 MiB"), HasSubstr("(planned 0.00)"),
                                 HasSubstr("wrote y f32 [4, 5]")));
  EXPECT_TRUE(at::allclose(readTensors(folder / "y.safetensors")["y"], at::mm(x0, w0), 1e-5, 1e-5));
  expectNothingLeft({"y.safetensors"});
}

TEST_F(CommandLineTest, ForwardJson) {
  CommandResult result = forward("--json --backend threads --timeout 5");
  auto json = nlohmann::json::parse(result.text);
  EXPECT_EQ(json["program"], "forward");
  EXPECT_EQ(json["memory"]["ranks"].size(), 6u);
  EXPECT_EQ(json["memory"]["ranks"][3]["parameters"], 2 * 5 * 4);
  EXPECT_EQ(json["memory"]["planned"]["peak"], 200);
  // Slices of x and w, the product and the sum.
  EXPECT_EQ(json["memory"]["ranks"][0]["peak"], 2 * 2 * 4 + 2 * 5 * 4 + 2 * 2 * 5 * 4);
}

TEST_F(CommandLineTest, AnOutputWhoseNameIsNoUtf8) {
  CommandResult result = call("forward test.sched --weights w.safetensors --inputs x.safetensors "
                              "--outputs \"$(printf '\\377').safetensors\" --json");
  EXPECT_EQ(result.status, 0) << result.text;
  EXPECT_EQ(nlohmann::json::parse(result.text)["outputs"], "\ufffd.safetensors");
  expectNothingLeft({"\xff.safetensors"});
}

TEST_F(CommandLineTest, Bench) {
  CommandResult result = call("bench test.sched --steps 3");
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.text, HasSubstr("over 3 steps"));
  auto json = nlohmann::json::parse(call("bench test.sched --steps 4 --weights w.safetensors --json").text);
  EXPECT_EQ(json["steps"], 4);
  EXPECT_GT(json["load_seconds"], 0);
  EXPECT_FALSE(json.contains("losses"));
  EXPECT_LE(json["step_seconds"]["min"], json["step_seconds"]["median"]);
  EXPECT_LE(json["step_seconds"]["median"], json["step_seconds"]["max"]);
}

TEST_F(CommandLineTest, TraceHasAProcessForEachRank) {
  EXPECT_EQ(call("bench test.sched --steps 1 --trace t.json").status, 0);
  auto events = nlohmann::json::parse(std::ifstream(folder / "t.json"))["traceEvents"];
  EXPECT_EQ(events.size(), 6u * 5);
}

TEST_F(CommandLineTest, VersionAndHelp) {
  EXPECT_THAT(call("--version").text, testing::StartsWith("meshplan-run 0."));
  EXPECT_EQ(call("forward --help").status, 0);
}

TEST_F(CommandLineTest, WrongUsage) {
  EXPECT_EQ(call("").status, 2);
  EXPECT_EQ(call("forward test.sched").status, 2);
  EXPECT_EQ(forward("--no-such-option").status, 2);
  EXPECT_EQ(forward("--timeout 0").status, 2);
  CommandResult other = forward("--backend carrier-pigeon");
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.text, HasSubstr("--backend: 'carrier-pigeon' is none of threads"));
  expectNothingLeft();
}

TEST_F(CommandLineTest, MissingSchedule) {
  CommandResult result = call("bench none.sched");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.text, AllOf(testing::StartsWith("meshplan-run: error: "), HasSubstr("none.sched")));
}

TEST_F(CommandLineTest, UnknownProgram) {
  EXPECT_EQ(forward("--program step").text, "meshplan-run: error: test.sched: the schedule has no program 'step'; it "
                                            "has forward; help: a plan with 'loss' and "
                                            "'optimizer' has the programs 'step' and 'eval'\n");
  expectNothingLeft();
}

TEST_F(CommandLineTest, OtherDevice) {
  builder.schedule().device = "tpu";
  builder.write(folder / "test.sched");
  EXPECT_EQ(forward().text,
            "meshplan-run: error: test.sched is compiled for device 'tpu'; this version runs cpu and cuda\n");
}

TEST_F(CommandLineTest, NoGpu) {
  ::setenv("CUDA_VISIBLE_DEVICES", "", 1); // hides a GPU, if there is one
  EXPECT_EQ(forward("--backend nccl").text,
            "meshplan-run: error: --backend nccl moves tensors of GPUs, and the schedule is for cpu; help: leave out "
            "--backend, or compile with --device cuda\n");
  builder.schedule().device = "cuda";
  builder.write(folder / "test.sched");
  CommandResult result = forward();
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.text, "meshplan-run: error: rank 0: the schedule is for cuda, and this machine has no CUDA device; "
                         "help: compile with --device cpu\n");
  EXPECT_EQ(forward("--backend mpi").text,
            "meshplan-run: error: --backend mpi moves tensors of the host, and the schedule is for cuda; help: leave "
            "out --backend, or compile with --device cpu\n");
  expectNothingLeft();
}

TEST_F(CommandLineTest, WrongWeightsLeaveNothing) {
  writeTensors(folder / "w.safetensors", {{"tied.w", at::randn({5, 6})}});
  CommandResult result = forward();
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.text,
              AllOf(HasSubstr("w.safetensors"), HasSubstr("'tied.w'"), HasSubstr("[5, 6]"), HasSubstr("[6, 5]")));
  expectNothingLeft();
}

TEST_F(CommandLineTest, MissingInputLeavesNothing) {
  writeTensors(folder / "x.safetensors", {});
  CommandResult result = forward();
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.text, AllOf(HasSubstr("x.safetensors"), HasSubstr("no tensor 'x'")));
  expectNothingLeft();
}

TEST_F(CommandLineTest, AnInputThatTheProgramDoesNotTake) {
  writeTensors(folder / "x.safetensors", {{"x", x0}, {"y", x0}});
  CommandResult result = forward();
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.text,
              AllOf(HasSubstr("x.safetensors"), HasSubstr("the program has no input 'y'; its inputs are 'x'")));
  expectNothingLeft();
}

TEST_F(CommandLineTest, InputOfAnotherElementType) {
  writeTensors(folder / "x.safetensors", {{"x", at::zeros({4, 6}, at::kLong)}});
  EXPECT_THAT(forward().text, AllOf(HasSubstr("'x'"), HasSubstr("i64"), HasSubstr("f32")));
}

TEST_F(CommandLineTest, UnwritableOutput) {
  CommandResult result =
      call("forward test.sched --weights w.safetensors --inputs x.safetensors --outputs none/y.safetensors");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.text, HasSubstr("none/y.safetensors"));
}
