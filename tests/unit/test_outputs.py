"""Where the items of a job are, remembered without secrets."""

from pathlib import Path

import pytest

from weft.sinks.outputs import (
    OUTPUTS,
    Output,
    Outputs,
    describe,
    read_outputs,
    remember_outputs,
    without_secrets,
)


@pytest.mark.parametrize(
    ("address", "kept", "lacks_secret"),
    [
        ("mysql://host/db/table", "mysql://host/db/table", False),
        ("mysql://me@host/db/table?ssl=require", "mysql://me@host/db/table?ssl=require", False),
        ("mysql://me:secret@host:33/db/t%2Fx", "mysql://me@host:33/db/t%2Fx", True),
        ("mysql://me:sec@ret@host/db/table", "mysql://me@host/db/table", True),
        ("mongodb://me:secret@a:1,b:2/db/c", "mongodb://me@a:1,b:2/db/c", True),
        (
            "mongodb://host/db/c?authSource=admin&tlsCertificateKeyFilePassword=secret",
            "mongodb://host/db/c?authSource=admin",
            True,
        ),
        ("ftp://me:secret@host/a.csv", "ftp://me@host/a.csv", True),
        ("s3://KEY:secret@bucket/p/?region=x", "s3://bucket/p/?region=x", True),
        ("s3://bucket/p/?endpoint=http://me:secret@host", "s3://bucket/p/", True),
    ],
)
def test_secrets_are_left_out_of_an_address(address: str, kept: str, lacks_secret: bool) -> None:
    assert without_secrets(address, Path("job")) == Output(kept, lacks_secret)


def test_files_are_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    job_dir = Path(".weft/shop")
    outside = without_secrets("out/../out.jsonl", job_dir)
    inside = without_secrets(".weft/shop/items.db", job_dir)
    assert outside.address == str(tmp_path / "out.jsonl")
    assert inside.address == "items.db"
    assert without_secrets("warc://pages", job_dir).address == f"warc://{tmp_path}/pages"
    monkeypatch.chdir("/")
    moved = Path("/elsewhere")
    assert outside.found_from(moved) == str(tmp_path / "out.jsonl")
    assert inside.found_from(moved) == "/elsewhere/items.db"


def test_what_was_remembered_is_read_back(tmp_path: Path) -> None:
    assert read_outputs(tmp_path / "job") is None
    outputs = describe("shop", ["mysql://me:hush@host/db/t"], ["warc:///pages"], tmp_path)
    remember_outputs(tmp_path / "job", outputs, is_fresh=False)
    assert read_outputs(tmp_path / "job") == outputs
    assert [path.name for path in (tmp_path / "job").iterdir()] == [OUTPUTS]
    assert "hush" not in (tmp_path / "job" / OUTPUTS).read_text()
    assert outputs.known() == {"mysql://me@host/db/t", "warc:///pages"}


def test_where_items_went_before_is_remembered_until_the_crawl_starts_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("a.jsonl", "a.jsonl", "b.jsonl", "b.jsonl", "a.jsonl", "c.jsonl"):
        remember_outputs(tmp_path, outputs_to(name), is_fresh=False)
    known = read_outputs(tmp_path)
    assert known is not None
    assert known.earlier == (Output("/b.jsonl"), Output("/a.jsonl"))
    assert caplog.messages == [
        "earlier items of this job are in /a.jsonl; from now on they go to /b.jsonl",
        "earlier items of this job are in /b.jsonl; from now on they go to /a.jsonl",
        "earlier items of this job are in /b.jsonl, /a.jsonl; from now on they go to /c.jsonl",
    ]
    remember_outputs(tmp_path, outputs_to("d.jsonl"), is_fresh=True)
    assert read_outputs(tmp_path) == outputs_to("d.jsonl")


def outputs_to(name: str) -> Outputs:
    return describe("shop", [f"/{name}"], [], Path("/job"))


def test_what_is_broken_is_not_known(tmp_path: Path) -> None:
    (tmp_path / OUTPUTS).write_text("{")
    assert read_outputs(tmp_path) is None
    remember_outputs(tmp_path, outputs_to("a.jsonl"), is_fresh=False)
    assert read_outputs(tmp_path) == outputs_to("a.jsonl")


def test_a_crawl_does_not_fail_for_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()
    remember_outputs(tmp_path / "file" / "job", outputs_to("a.jsonl"), is_fresh=False)
    [told] = caplog.messages
    assert "`weft items` will not know" in told
