from pathlib import Path

from weft.engine.jobfile import JobFile


def test_a_job_is_finished_until_it_begins_again(tmp_path: Path) -> None:
    job = JobFile(tmp_path)
    assert not job.is_finished(0)
    assert not job.is_finished(7)
    job.finish(7)
    assert JobFile(tmp_path).is_finished(7)
    job.begin()
    assert not job.is_finished(7)
    job.begin()


def test_a_job_whose_frontier_was_cleared_is_not_finished(tmp_path: Path) -> None:
    # It died between clearing and saying that it begins.
    job = JobFile(tmp_path)
    job.finish(7)
    assert not job.is_finished(0)
    assert not job.is_finished(8)
