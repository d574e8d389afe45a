"""The frame around every page of the demo site."""

from html import escape

SITE_NAME = "The Larkhaven Gazette"

_STYLE = """
body{margin:0 auto;max-width:46rem;padding:0 1rem 3rem;color:#223;background:#fdfcf9;
font:1.05rem/1.6 Georgia,"Times New Roman",serif}
header{border-bottom:3px double #446;padding:1.2rem 0 .6rem}
header a{font-size:1.7rem;font-weight:bold;color:inherit;text-decoration:none}
nav a{margin-right:1rem}a{color:#24588a}
h1{line-height:1.2}.meta,footer{color:#667;font-size:.9rem}
ul.books{display:grid;grid-template-columns:repeat(auto-fill,minmax(9rem,1fr));gap:1.2rem;
list-style:none;padding:0}
ul.stories{list-style:none;padding:0}ul.stories li{border-bottom:1px solid #ddd;padding:.6rem 0}
img.cover{width:8rem;box-shadow:2px 3px 8px #aab}.price{color:#8a2b24;font-weight:bold}
footer{border-top:1px solid #ccd;margin-top:2.5rem;padding-top:.8rem}
"""

_NAVIGATION = (
    ("/", "Home"),
    ("/news/town/", "Town"),
    ("/news/science/", "Science"),
    ("/news/sport/", "Sport"),
    ("/shop/", "Book shop"),
    ("/about.html", "About"),
)


def link(path: str, text: str, css_class: str = "") -> str:
    attribute = f' class="{css_class}"' if css_class else ""
    return f'<a{attribute} href="{path}">{escape(text)}</a>'


def paragraphs(texts: list[str]) -> str:
    return "\n".join(f"<p>{escape(text, quote=False)}</p>" for text in texts)


def bullets(entries: list[str], css_class: str) -> str:
    lines = "\n".join(f"<li>{entry}</li>" for entry in entries)
    return f'<ul class="{css_class}">\n{lines}\n</ul>'


def page_links(path: str, number: int, last: int) -> str:
    """Links to the list pages before and after this one."""
    links = []
    if number > 1:
        links.append(link(list_path(path, number - 1), "previous", "previous"))
    if number < last:
        links.append(link(list_path(path, number + 1), "next", "next"))
    return f'<p class="pages">Page {number} of {last} {" ".join(links)}</p>'


def list_path(path: str, number: int) -> str:
    """The first list page is its folder, the others are files in it."""
    return path if number == 1 else f"{path}page-{number}.html"


def page(title: str, content: str, head: str = "") -> str:
    navigation = " ".join(link(path, name) for path, name in _NAVIGATION)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta name="viewport" content="width=device-width">
<title>{escape(title)} - {SITE_NAME}</title>
{head}<style>{_STYLE}</style>
</head>
<body>
<header><a href="/">{SITE_NAME}</a>
<nav>{navigation}</nav></header>
<main>
{content}
</main>
<footer>{SITE_NAME}: news and books of a town that does not exist.
{link("/contact.html", "Contact")}</footer>
</body>
</html>
"""
