//===- settings_test.cpp - learning rates and step counts -----------------===//

#include "runtime/exec/numbers/settings.h"
#include "test/unit/exec/loaded_schedule.h"
#include "test/unit/exec/schedule_builder.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

/// A schedule as a table, and its factor at a step.
class Rate {
public:
  Rate(artifact::RateKind kind, int64_t warmup, int64_t steps, int64_t decay, double least) {
    artifact::RateScheduleT table;
    table.kind = kind;
    table.warmup = warmup;
    table.steps = steps;
    table.decay = decay;
    table.min = least;
    builder.Finish(artifact::CreateRateSchedule(builder, &table));
  }

  double at(int64_t step) const {
    return rateFactor(*flatbuffers::GetRoot<artifact::RateSchedule>(builder.GetBufferPointer()), step);
  }

private:
  flatbuffers::FlatBufferBuilder builder;
};

TEST(RateFactor, WarmsUp) {
  Rate rate(artifact::RateKind::constant, 4, 0, 0, 0);
  EXPECT_DOUBLE_EQ(rate.at(0), 0.25);
  EXPECT_DOUBLE_EQ(rate.at(3), 1);
  EXPECT_DOUBLE_EQ(rate.at(1000), 1);
}

TEST(RateFactor, Linear) {
  Rate rate(artifact::RateKind::linear, 2, 12, 0, 0.5);
  EXPECT_DOUBLE_EQ(rate.at(1), 1);
  EXPECT_DOUBLE_EQ(rate.at(2), 1);
  EXPECT_DOUBLE_EQ(rate.at(7), 0.75);
  EXPECT_DOUBLE_EQ(rate.at(12), 0.5);
  EXPECT_DOUBLE_EQ(rate.at(100), 0.5);
}

TEST(RateFactor, Cosine) {
  Rate rate(artifact::RateKind::cosine, 0, 10, 0, 0.2);
  EXPECT_DOUBLE_EQ(rate.at(0), 1);
  EXPECT_NEAR(rate.at(5), 0.6, 1e-15);
  EXPECT_NEAR(rate.at(10), 0.2, 1e-15);
}

TEST(RateFactor, WarmUpStayAndDecay) {
  Rate rate(artifact::RateKind::wsd, 2, 20, 4, 0);
  EXPECT_DOUBLE_EQ(rate.at(0), 0.5);
  EXPECT_DOUBLE_EQ(rate.at(16), 1);
  EXPECT_DOUBLE_EQ(rate.at(17), 0.75);
  EXPECT_DOUBLE_EQ(rate.at(20), 0);
}

TEST(RateFactor, AWarmUpMayTakeAllSteps) {
  for (artifact::RateKind kind : {artifact::RateKind::linear, artifact::RateKind::cosine}) {
    Rate rate(kind, 4, 4, 0, 0.25);
    EXPECT_DOUBLE_EQ(rate.at(0), 0.25);
    EXPECT_DOUBLE_EQ(rate.at(3), 1);
    EXPECT_DOUBLE_EQ(rate.at(4), 0.25);
    EXPECT_DOUBLE_EQ(rate.at(1000), 0.25);
  }
  Rate rate(artifact::RateKind::wsd, 2, 4, 2, 0);
  EXPECT_DOUBLE_EQ(rate.at(1), 1);
  EXPECT_DOUBLE_EQ(rate.at(2), 1);
  EXPECT_DOUBLE_EQ(rate.at(3), 0.5);
  EXPECT_DOUBLE_EQ(rate.at(4), 0);
}

/// A program with two rates, a step count and a seed.
class SettingsTest : public testing::Test {
protected:
  SettingsTest() {
    add("optimizer.lr", 0.1);
    builder.program().settings.back()->schedule = std::make_unique<artifact::RateScheduleT>();
    builder.program().settings.back()->schedule->warmup = 2;
    add("optimizer.group1.lr", 0.5);
    add("step", 1);
    add("seed", 0);
    loaded.emplace(builder);
  }

  void add(const std::string &name, double number) {
    auto setting = std::make_unique<artifact::SettingT>();
    setting->name = name;
    setting->value = builder.value({}, DType::f64);
    setting->number = number;
    builder.program().settings.push_back(std::move(setting));
  }

  std::vector<double> numbersAt(const Settings &settings, int64_t step) {
    std::vector<double> numbers;
    for (const artifact::Setting *setting : *program().settings())
      numbers.push_back(settings.numberAt(*setting, step));
    return numbers;
  }

  const artifact::Program &program() { return *loaded->schedule().programs()->Get(0); }

  ScheduleBuilder builder{{{"tp", 1}}};
  std::optional<LoadedSchedule> loaded;
};

TEST_F(SettingsTest, FollowTheSteps) {
  Settings settings(program());
  EXPECT_THAT(numbersAt(settings, 0), testing::ElementsAre(0.05, 0.5, 1, 0));
  EXPECT_THAT(numbersAt(settings, 5), testing::ElementsAre(0.1, 0.5, 6, 0));
}

TEST_F(SettingsTest, AreGivenByTheRun) {
  Settings settings(program());
  EXPECT_TRUE(settings.set("optimizer.lr", 4).ok());
  EXPECT_THAT(numbersAt(settings, 0), testing::ElementsAre(2, 0.5, 1, 0)) << "the schedule stays";
}

TEST_F(SettingsTest, RatesAreFiniteAndNotNegative) {
  add("loss_scale", 1024);
  loaded.emplace(builder);
  Settings settings(program());
  for (auto [number, text] : {std::pair(-5.0, "-5"), {std::nan(""), "nan"}, {HUGE_VAL, "inf"}})
    EXPECT_EQ(settings.set("optimizer.lr", number).message(),
              std::string("the setting 'optimizer.lr' is ") + text + ", it must be a finite number, at least 0");
  EXPECT_TRUE(settings.set("optimizer.lr", 0).ok());
  for (double scale : {0.0, -1.0, 1e300, 1e-300, std::nan("")})
    EXPECT_EQ(settings.set("loss_scale", scale).code(), StatusCode::invalid) << scale;
  EXPECT_TRUE(settings.set("loss_scale", 0.5).ok());
}

TEST_F(SettingsTest, StepsAreCountedFromTheFirst) {
  Settings settings(program());
  EXPECT_TRUE(settings.set("step", 2).ok());
  EXPECT_THAT(numbersAt(settings, 0), testing::ElementsAre(0.1, 0.5, 2, 0)) << "the schedule continues too";
  EXPECT_THAT(numbersAt(settings, 3), testing::ElementsAre(0.1, 0.5, 5, 0));
  EXPECT_EQ(settings.set("step", 0).message(),
            "the setting 'step' is 0, it must be a whole number from 1 to 2147483647");
}

/// A rate with a schedule depends on the step count, even if the program does not read that.
TEST(Settings, StepsAreCountedForAnyRateWithASchedule) {
  ScheduleBuilder builder({{"tp", 1}});
  for (const char *name : {"optimizer.lr", "optimizer.group1.lr"}) {
    auto &setting = *builder.program().settings.emplace_back(std::make_unique<artifact::SettingT>());
    setting.name = name;
    setting.value = builder.value({}, DType::f64);
    setting.number = 1;
  }
  auto setStep = [](const LoadedSchedule &loaded, double &rate) {
    Settings settings(loaded.program());
    Status status = settings.set("step", 3);
    rate = settings.numberAt(*loaded.program().settings()->Get(1), 0);
    return status;
  };
  double rate = 0;
  EXPECT_EQ(setStep(LoadedSchedule(builder), rate).message(),
            "the program has no setting 'step'; it has optimizer.lr, optimizer.group1.lr");
  builder.program().settings[1]->schedule = std::make_unique<artifact::RateScheduleT>();
  builder.program().settings[1]->schedule->warmup = 4;
  EXPECT_TRUE(setStep(LoadedSchedule(builder), rate).ok());
  EXPECT_DOUBLE_EQ(rate, 0.75) << "the third of four steps";
}

TEST_F(SettingsTest, TheMicrobatchFollowsFromTheRun) {
  add("microbatch", 0);
  LoadedSchedule with(builder);
  const artifact::Program &own = *with.schedule().programs()->Get(0);
  Settings settings(own);
  settings.setMicrobatch(3);
  EXPECT_EQ(settings.numberAt(*own.settings()->Get(4), 9), 3);
  EXPECT_EQ(settings.set("microbatch", 1).message(),
            "the program has no setting 'microbatch'; it has optimizer.lr, optimizer.group1.lr, seed, step");
}

TEST_F(SettingsTest, SeedsAreWholeNumbers) {
  Settings settings(program());
  EXPECT_TRUE(settings.set("seed", 9007199254740991.0).ok());
  EXPECT_EQ(numbersAt(settings, 7)[3], 9007199254740991.0);
  EXPECT_EQ(settings.set("seed", 0.5).message(),
            "the setting 'seed' is 0.5, it must be a whole number from 0 to 9007199254740991");
  EXPECT_FALSE(settings.set("seed", -1).ok());
  EXPECT_FALSE(settings.set("seed", 9007199254740992.0).ok());
  EXPECT_FALSE(settings.set("seed", std::numeric_limits<double>::quiet_NaN()).ok());
}

TEST_F(SettingsTest, UnknownNames) {
  Settings settings(program());
  EXPECT_EQ(settings.set("lr", 1).message(),
            "the program has no setting 'lr'; it has optimizer.lr, optimizer.group1.lr, seed, step");
}

TEST_F(SettingsTest, BecomeTensors) {
  std::vector<Tensor> values(4);
  EXPECT_TRUE(Settings(program()).write(1, values).ok());
  EXPECT_EQ(*reinterpret_cast<double *>(values[0].data()), 0.1);
  EXPECT_EQ(*reinterpret_cast<double *>(values[2].data()), 2);
}

} // namespace
