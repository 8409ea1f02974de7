//===- verify_order_test.cpp - lists of several coordinates ---------------===//

#include "test/unit/scheduling/problem_fixture.h"

using namespace meshplan::scheduling;

/// The result of verify() for the coordinates of a text. Each meeting is an operation of its own name, on one lane.
static std::string verifyLists(llvm::StringRef text) { return message(verify(parse(text).coordinates)); }

static std::string coordinate(const std::string &name, const std::string &operations, const std::string &steps) {
  return "coordinate " + name + "\nlane pp collectives\ncommunicator pp 0:(1)2\n" + operations + steps;
}

static std::string operation(const std::string &name, const std::string &meets) {
  return "operation " + name + " on pp over pp meets " + meets + "\n";
}

static const std::string sendThenReceive = operation("send", "f1 b") + operation("receive", "b0 b");
static const std::string sendBack = operation("send", "b0 a") + operation("receive", "f1 a");

TEST(VerifyOrder, V8SendsThatCross) {
  std::string first = coordinate("a", sendThenReceive, "start send\nwait send\nstart receive\nwait receive\n");
  EXPECT_EQ(verifyLists(first + coordinate("b", sendBack, "start send\nwait send\nstart receive\nwait receive\n")),
            "V8: the lists wait for each other in a cycle: 'f1' comes before 'b0' on coordinate 'a' ('send', then "
            "'receive'), 'b0' comes before 'f1' on coordinate 'b' ('send', then 'receive')");
  EXPECT_EQ(verifyLists(first + coordinate("b", sendBack, "start receive\nwait receive\nstart send\nwait send\n")), "");
}

// Nothing is waited for between the starts: a backend whose sends block still hangs.
TEST(VerifyOrder, V8TheOrderOfStartsCounts) {
  std::string steps = "start send\nstart receive\nwait send\nwait receive\n";
  EXPECT_THAT(verifyLists(coordinate("a", sendThenReceive, steps) + coordinate("b", sendBack, steps)),
              testing::StartsWith("V8: "));
}

TEST(VerifyOrder, V8OneGroupedLaunchHasNoOrderInside) {
  std::string steps = "start exchange\nwait exchange\n";
  EXPECT_EQ(verifyLists(coordinate("a", operation("exchange", "f1 b meets b0 b"), steps) +
                        coordinate("b", operation("exchange", "b0 a meets f1 a"), steps)),
            "");
  // Grouped on one side only: the send of b comes first, and a begins nothing else before the group.
  EXPECT_EQ(verifyLists(coordinate("a", operation("exchange", "f1 b meets b0 b"), steps) +
                        coordinate("b", sendBack, "start send\nwait send\nstart receive\nwait receive\n")),
            "");
}

TEST(VerifyOrder, V8CyclesOfThree) {
  auto pair = [](const std::string &one, const std::string &other) {
    return operation("first", one) + operation("second", other);
  };
  std::string steps = "start first\nwait first\nstart second\nwait second\n";
  EXPECT_EQ(verifyLists(coordinate("a", pair("ab b", "ca c"), steps) + coordinate("b", pair("bc c", "ab a"), steps) +
                        coordinate("c", pair("ca a", "bc b"), steps)),
            "V8: the lists wait for each other in a cycle: 'ab' comes before 'ca' on coordinate 'a' ('first', then "
            "'second'), 'ca' comes before 'bc' on coordinate 'c' ('first', then 'second'), 'bc' comes before 'ab' on "
            "coordinate 'b' ('first', then 'second')");
  EXPECT_EQ(verifyLists(coordinate("a", pair("ab b", "ca c"), steps) + coordinate("b", pair("ab a", "bc c"), steps) +
                        coordinate("c", pair("ca a", "bc b"), steps)),
            "");
}

TEST(VerifyOrder, V8NamesOnlyTheEndsOfWhatACoordinateIssues) {
  std::string three = operation("one", "x b") + operation("two", "y b") + operation("three", "z b");
  std::string back = operation("one", "x a") + operation("two", "y a") + operation("three", "z a");
  std::string order = "start one\nwait one\nstart two\nwait two\nstart three\nwait three\n";
  std::string turned = "start three\nwait three\nstart one\nwait one\nstart two\nwait two\n";
  EXPECT_EQ(verifyLists(coordinate("a", three, order) + coordinate("b", back, turned)),
            "V8: the lists wait for each other in a cycle: 'x' comes before 'z' on coordinate 'a' ('one', then "
            "'three'), 'z' comes before 'x' on coordinate 'b' ('three', then 'one')");
}

TEST(VerifyOrder, V7EveryCoordinateTakesPartOnce) {
  std::string one = "start send\nwait send\n", none = coordinate("b", "", "");
  EXPECT_EQ(verifyLists(coordinate("a", operation("send", "f b"), one) + none),
            "V7: 'f' is between coordinate 'a', as 'send', and coordinate 'b', which never issues it");
  EXPECT_EQ(verifyLists(coordinate("a", operation("send", "f b"), one) +
                        coordinate("b", operation("receive", "f a"), "start receive\nwait receive\n") +
                        coordinate("c", operation("receive", "f a"), "start receive\nwait receive\n")),
            "V7: 'f' is between coordinate 'a', as 'send', and not coordinate 'c', which issues it");
  EXPECT_EQ(verifyLists(coordinate("a", operation("send", "f b") + operation("again", "f b"),
                                   one + "start again\nwait again\n") +
                        none),
            "V7: coordinate 'a' issues 'f' twice, as 'send' and as 'again'");
  std::vector<Coordinate> coordinates = parse(coordinate("a", operation("send", "f"), one)).coordinates;
  coordinates[0].problem.operations[0].instances[0].others = {1};
  EXPECT_EQ(message(verify(coordinates)),
            "V7: 'send' of coordinate 'a' takes part in 'f' with coordinate 1, must be another one of 1");
}

TEST(VerifyOrder, ListsThemselvesAreVerified) {
  EXPECT_EQ(verifyLists(coordinate("a", operation("send", "f"), "start send\n")),
            "coordinate 'a': V2: operation 'send' is never waited for");
}

TEST(VerifyOrder, NothingIsMerged) {
  std::vector<Coordinate> coordinates =
      parse(coordinate("a", operation("send", "f"), "start send\nwait send\n")).coordinates;
  coordinates[0].solution.choices.merged = {{0, 1}};
  EXPECT_EQ(message(verify(coordinates)),
            "coordinate 'a': V10: its list has 1 merges and 0 splits, must have none: resolve() them first");
}

// All ranks of one coordinate issue one list: whatever overlaps in it, they agree.
TEST(VerifyOrder, OneListHasNoCycle) {
  EXPECT_EQ(verifyLists(R"(coordinate only
lane tp collectives
lane world collectives
communicator tp 1:(1)4
communicator world 0:(1)2 1:(1)4
buffer x 8 permanent
operation first on tp over tp reads x
operation second on world over world reads x
start first
start second
wait second
wait first
)"),
            "");
}
