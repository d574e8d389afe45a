"""The section that a script builds in the browser: its pages come as an empty shell."""

import json
from typing import Any

from weft.demo.newsroom.issue import Issue, Served
from weft.demo.newsroom.markup import day_of, text, words_of
from weft.demo.newsroom.papers import Section
from weft.demo.newsroom.seeds import script
from weft.demo.newsroom.stories import PaperStory

SCRIPT = "app.js"


def shell_page(issue: Issue, section: Section) -> Served:
    """The same for the list and for every story."""
    html = (
        f'<!DOCTYPE html>\n<html lang="{issue.paper.language}">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{text(issue.paper.title)}</title>\n"
        f'<script src="{section.folder}{SCRIPT}" defer></script>\n</head>\n<body>\n'
        '<div id="app"></div>\n<noscript>You need to enable JavaScript to run this app.</noscript>'
        "\n</body>\n</html>\n"
    )
    return Served(html.encode(), validators=section.validators)


def app_script() -> Served:
    return Served(script(SCRIPT).encode(), "text/javascript; charset=utf-8")


def data_path(section: Section, name: str = "list") -> str:
    """What the script fetches for the list, or for the story of that name."""
    return f"{section.folder}api/{name}.json"


def name_of(section: Section, story: PaperStory) -> str:
    return story.path.removeprefix(section.folder)


def list_data(issue: Issue, section: Section) -> Served:
    known = issue.stories(section)
    return _json(_frame(issue, section) | {"stories": [_teaser(issue, each) for each in known]})


def story_data(issue: Issue, section: Section, story: PaperStory) -> Served:
    older = [each for each in issue.stories(section) if not each.edition and each != story][:4]
    return _json(
        _frame(issue, section)
        | _teaser(issue, story)
        | {
            "authors": story.authors,
            "published": story.published,
            "paragraphs": story.body.split("\n"),
            "tags": story.tags,
            "canonical": issue.url(story.path),
            "related": [_teaser(issue, each) for each in older],
        }
    )


def _frame(issue: Issue, section: Section) -> dict[str, Any]:
    words = words_of(issue.paper)
    menu = [("/", words.home), *((each.folder, each.title) for each in issue.paper.sections)]
    return {
        "paper": issue.paper.title,
        "section": section.title,
        "folder": section.folder,
        "menu": menu,
        "relatedTitle": words.related,
    }


def _teaser(issue: Issue, story: PaperStory) -> dict[str, Any]:
    return {
        "path": story.path,
        "title": story.title,
        "day": day_of(story, issue.paper),
        "description": story.description,
    }


def _json(data: dict[str, Any]) -> Served:
    return Served(json.dumps(data, ensure_ascii=False).encode(), "application/json")
