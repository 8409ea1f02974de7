#!/usr/bin/env python3
"""Tests of compare_traces.py."""

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

from compare_traces import Key, TraceError, differences, main, only_in, read_timeline, report


def lane(rank: int, track: int, name: str) -> dict:
    return {"ph": "M", "name": "thread_name", "pid": rank, "tid": track, "args": {"name": name}}


def event(track: int, name: str, begin: float, length: float, category: str = "compute", rank: int = 0) -> dict:
    return {"ph": "X", "name": name, "cat": category, "pid": rank, "tid": track, "ts": begin, "dur": length, "args": {}}


class CompareTraces(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(
        self, name: str, events: list[dict], times: str = "estimated", lanes: tuple = ("compute", "over dp")
    ) -> Path:
        path = self.folder / name
        tracks = [lane(0, track, text) for track, text in enumerate(lanes)]
        path.write_text(json.dumps({"otherData": {"form": "1", "times": times}, "traceEvents": tracks + events}))
        return path

    def run_main(self, *arguments: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(list(arguments))
        return status, out.getvalue(), err.getvalue()

    def pair(self) -> tuple[Path, Path]:
        """A product twice, a gather beside the second one, and a wait. The measured file has its lanes exchanged and
        its events in another order."""
        estimated = self.write(
            "estimated.json",
            [
                event(0, "mm in a", 0, 100),
                event(0, "mm in a", 100, 200),
                event(1, "all_gather over dp in b", 100, 250, "communication"),
                event(0, "wait for all_gather over dp in b", 300, 50, "exposed"),
            ],
        )
        measured = self.write(
            "measured.json",
            [
                event(0, "all_gather over dp in b", 1110, 500, "communication"),
                event(1, "wait for all_gather over dp in b", 1320, 290, "exposed"),
                event(1, "mm in a", 1110, 210),
                event(1, "mm in a", 1000, 110),
                event(1, "copy in c", 1610, 40),
            ],
            "measured",
            ("over dp", "compute"),
        )
        return estimated, measured

    def test_says_that_programs_differ(self) -> None:
        step, forward = event(0, "mm in a", 0, 100), event(0, "mm in a", 0, 90)
        step["args"], forward["args"] = {"program": "step"}, {"program": "forward"}
        one, other = self.write("one.json", [step]), self.write("other.json", [forward], "measured")
        status, out, _ = self.run_main(str(one), str(other))
        self.assertEqual(status, 0)
        self.assertIn("the first is of the program step, the second of forward; help: ", out)
        self.assertNotIn("of the program", self.run_main(str(one), str(one))[1])

    def test_matches_by_lane_name_and_occurrence(self) -> None:
        estimated, measured = (read_timeline(path, 0) for path in self.pair())
        self.assertEqual(measured.events[Key("compute", "mm in a", 0)].length, 110)
        self.assertEqual(measured.events[Key("compute", "mm in a", 1)].length, 210)
        found = [(each.key.name, each.key.occurrence, each.amount) for each in differences(estimated, measured)]
        self.assertEqual(found[0], ("all_gather over dp in b", 0, 250))
        self.assertCountEqual(found[1:], [("mm in a", 0, 10), ("mm in a", 1, 10)])

    def test_totals(self) -> None:
        estimated, measured = (read_timeline(path, 0) for path in self.pair())
        self.assertEqual((estimated.step(), measured.step()), (350, 650))
        self.assertEqual((estimated.exposed(), measured.exposed()), (50, 290))
        self.assertEqual(estimated.lanes(), {"compute": 300, "over dp": 250})
        self.assertEqual(measured.lanes(), {"compute": 360, "over dp": 500})
        self.assertEqual(only_in(measured, estimated), (1, 40, ["copy in c"]))
        self.assertEqual(only_in(estimated, measured), (0, 0, []))

    def test_prints_what_a_person_asks_first(self) -> None:
        lines = report(*(read_timeline(path, 0) for path in self.pair()), largest=2).splitlines()
        self.assertEqual(lines[0].split(), ["milliseconds", "first", "(estimated)", "second", "(measured)", "ratio"])
        self.assertEqual(
            [line.split() for line in lines[1:5]],
            [
                ["step", "0.350", "0.650", "0.54"],
                ["compute", "0.300", "0.360", "0.83"],
                ["over", "dp", "0.250", "0.500", "0.50"],
                ["exposed", "0.050", "0.290", "0.17"],
            ],
        )
        self.assertIn("only in the second: 1 operations, 0.040 ms, such as copy in c", lines)
        rows = [line.split() for line in lines]
        self.assertIn(["mm", "2", "0.300", "0.320", "0.94"], rows)
        self.assertIn(["all_gather", "over", "dp", "1", "0.250", "0.500", "0.50"], rows)
        self.assertEqual(rows[-2], ["all_gather", "over", "dp", "in", "b", "0.250", "0.500", "0.50"])

    def test_names_a_copy_by_what_it_fills(self) -> None:
        events = [
            event(0, "copy to the host in a", 0, 100, "copy"),
            event(0, "copy to the host in b", 100, 100, "copy"),
        ]
        lanes = ("copies to the host",)
        estimated, measured = (self.write(f"{name}.json", events, name, lanes) for name in ("estimated", "measured"))
        lines = report(read_timeline(estimated, 0), read_timeline(measured, 0), largest=1).splitlines()
        self.assertIn(["copy", "to", "the", "host", "2", "0.200", "0.200", "1.00"], [line.split() for line in lines])

    def test_a_rank_of_the_measured_file(self) -> None:
        estimated, _ = self.pair()
        measured = self.write("two.json", [lane(1, 0, "compute"), event(0, "mm in a", 5, 70, rank=1)], "measured")
        status, out, _ = self.run_main(str(estimated), str(measured), "--rank", "1")
        self.assertEqual(status, 0)
        self.assertIn("0.070", out)
        status, _, err = self.run_main(str(estimated), str(measured), "--rank", "7")
        self.assertEqual(status, 1)
        self.assertIn("two.json: error: there is no rank 7; help: it has the ranks 0, 1", err)

    def test_a_number_of_rows(self) -> None:
        estimated, measured = self.pair()
        status, out, _ = self.run_main(str(estimated), str(measured), "--largest", "0")
        self.assertEqual(status, 0)
        self.assertNotIn("in b", out)
        for wrong in ("-3", "1.5", "all"):
            err = io.StringIO()
            with contextlib.redirect_stderr(err), self.assertRaises(SystemExit) as ended:
                main([str(estimated), str(measured), "--largest", wrong])
            self.assertEqual(ended.exception.code, 2)
            self.assertIn(f"argument --largest: '{wrong}' is not a whole number of at least 0", err.getvalue())

    def test_files_that_are_none(self) -> None:
        estimated, _ = self.pair()
        for text, message in (
            ("{", "this is not JSON"),
            ("[]", "this is not a trace of form 1"),
            ('{"traceEvents": []}', "this is not a trace of form 1"),
            ('{"otherData": {"form": "2"}, "traceEvents": []}', "this is not a trace of form 1"),
            (
                '{"otherData": {"form": "1", "times": "measured"}, "traceEvents": [{"ph": "X"}]}',
                "an event is incomplete",
            ),
        ):
            path = self.folder / "wrong.json"
            path.write_text(text)
            with self.assertRaises(TraceError, msg=text) as raised:
                read_timeline(path, 0)
            self.assertIn(f"wrong.json: error: {message}", str(raised.exception))
        status, out, err = self.run_main(str(estimated), str(self.folder / "none.json"))
        self.assertEqual((status, out), (1, ""))
        self.assertIn("none.json: error: cannot be read: No such file or directory", err)


if __name__ == "__main__":
    unittest.main()
