"""The demo of the groups design: what is planted is found, and nothing else."""

from __future__ import annotations

import duckdb
import pytest

from evenhand.cli.main import main


def test_the_planted_disparity_is_found_and_the_other_attribute_is_noise(tmp_path, capsys):
    db, folder = tmp_path / "demo.duckdb", tmp_path / "report"
    with pytest.raises(SystemExit) as stop:
        main(["demo", "--domain", "fairlex-cail", "--db", str(db), "--report", str(folder)])
    assert stop.value.code in (0, None)
    said = capsys.readouterr().out
    assert "court_region differ beyond chance" in said
    assert "not distinguishable from noise: defendant_gender" in said
    assert (folder / "index.html").is_file()
    with duckdb.connect(str(db), read_only=True) as connection:
        rows = connection.execute(
            "SELECT worst_group, gd, gd_floor, p_plain, p_within_label FROM group_disparities "
            "WHERE seed IS NULL AND variant = 'all' AND is_default AND attribute = 'court_region'"
        ).fetchall()
    ((worst, gd, floor, p, within),) = rows
    assert worst == "Hunan"
    assert gd > 2 * floor
    assert p < 0.01
    assert within < 0.01
