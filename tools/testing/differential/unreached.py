"""Cells of the coverage table that no plan can reach, each with the reason."""

from __future__ import annotations

UNREACHED: dict[object, object] = {}
