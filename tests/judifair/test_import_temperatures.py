"""Published answers at two temperatures, imported one after the other, are a pair of the same model."""

from __future__ import annotations

from pathlib import Path

import published_files as files

import analyze
import store
from evenhand.domains import judifair
from evenhand.domains.judifair.coding import code
from evenhand.domains.judifair.importer import import_published

SPECIFICATIONS = Path(judifair.__file__).parent / "specifications.toml"


def test_two_imports_are_compared(tmp_path: Path) -> None:
    for folder, suffix, layout, seed in (
        ("t0/MistralNemo_t0", "mistral_nemo_t0", files.pair, 1),
        ("t1/Mistral_Nemo_t1", "_Mistral_Nemo_t1", files.text_and_truncation, 2),
    ):
        files.write_label(
            tmp_path / folder, "defendant_sex", suffix, layout=layout, seed=seed, documents=range(60)
        )
    files.write_documents(tmp_path / "documents.csv", range(60))
    rooms = [judifair.MIGRATIONS, analyze.MIGRATIONS]
    with store.open_study(tmp_path / "study.duckdb", migrations=rooms) as study:
        found = []
        for folder in ("t0", "t1"):
            import_published(study, tmp_path / folder, documents=tmp_path / "documents.csv")
            code(study)
            analysis = analyze.run(study, SPECIFICATIONS, audit=False, draws=999, codings=["corrected"])
            found.append(analysis.tables["temperature_tests"].to_pylist())
    assert found[0] == []
    assert {(r["model"], r["temperature"], r["other"]) for r in found[1]} == {("Mistral Nemo", 0.0, 1.0)}
    women = next(r for r in found[1] if r["value"] == "女")
    assert 0 < women["documents"] <= 60
    assert women["p"] is not None
