"""Scrapy's tests of its link extractor, on Weft's. It lies beside them when it runs."""

import pytest
import tests.test_linkextractors as theirs

import weft


class TestLxmlLinkExtractor(theirs.TestLxmlLinkExtractor):
    @pytest.fixture(autouse=True)
    def ours(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(theirs, "LxmlLinkExtractor", weft.LinkExtractor)
