"""Pages that are no articles and no lists: about, login, search, not found."""

from weft.demo.newsroom.issue import Issue, Served
from weft.demo.newsroom.markup import SERVICES, page, paragraphs, text, words_of
from weft.demo.newsroom.seeds import PlainPage

LOGIN_PATH = "/login"


def plain_page(issue: Issue, content: PlainPage) -> Served:
    main = f"<main>\n<h1>{text(content.title)}</h1>\n{paragraphs(content.paragraphs)}\n</main>"
    return Served(page(issue, content.title, main).encode())


def has_members(issue: Issue) -> bool:
    return "/members/" in dict(SERVICES[issue.paper.name])


def login_page(issue: Issue) -> Served:
    words = words_of(issue.paper)
    form = (
        f'<main>\n<h1>{words.login}</h1>\n<form action="{LOGIN_PATH}" method="post">\n'
        f'<p><label>{words.user} <input name="user"></label></p>\n'
        f'<p><label>{words.password} <input name="password" type="password"></label></p>\n'
        f"<p><button>{words.login}</button></p>\n</form>\n</main>"
    )
    return Served(page(issue, words.login, form).encode(), validators="none")


def search_page(issue: Issue) -> Served:
    words = words_of(issue.paper)
    form = (
        f'<main>\n<h1>{words.search}</h1>\n<form action="/search">\n<p><input name="q" '
        f'type="search"> <button>{words.search}</button></p>\n</form>\n</main>'
    )
    return Served(page(issue, words.search, form).encode(), validators="none")


def forbidden_page(issue: Issue) -> Served:
    html = page(issue, "Forbidden", "<main>\n<h1>Forbidden</h1>\n<p>For editors.</p>\n</main>")
    return Served(html.encode(), status=403, validators="none")


def not_found_page(issue: Issue) -> Served:
    words = words_of(issue.paper)
    main = f"<main>\n<h1>{words.not_found}</h1>\n</main>"
    return Served(page(issue, words.not_found, main).encode(), status=404, validators="none")
