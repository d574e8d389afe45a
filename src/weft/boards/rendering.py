"""Whether a page has no content before its scripts have run.

Such a page is a shell: scripts, and hardly anything that a reader would see. Scripts alone say
nothing, for most pages have some. So there must also be something that says that more is to come:
an element that is known to be filled by scripts, a note to readers without JavaScript, or nothing
else in the page at all.

Bytes are looked at, and not a tree: ordinary pages have shown their content after a few tags, and
no page takes longer than `MAX_TAGS` of them.
"""

import re
from dataclasses import dataclass

#: A page that has not shown any content in so many bytes or tags is not searched any further, and
#: is no shell.
MAX_BYTES = 2_000_000
MAX_TAGS = 20_000
#: Text of a shell, without white space: a name, "Loading …", a line at the bottom.
FEW_BYTES = 200
#: Text that may be in a page that has nothing at all, such as dots.
NO_BYTES = 3
#: Links of a shell, and anything else that is there to be seen or filled in.
FEW_LINKS = 5
FEW_THINGS = 3

_TAG = re.compile(rb"<(?:(!--)|(/?[a-zA-Z][a-zA-Z0-9:-]{0,40})([^>]{0,2000}))")
# What is not shown in the page, or to nobody who has JavaScript. The text of `noscript` counts all
# the same: some applications put the whole content there, and a note is short.
_UNSEEN = frozenset((b"script", b"style", b"noscript", b"template", b"title"))
_END_OF = {name: re.compile(rb"</" + name + rb"[\s/>]", re.IGNORECASE) for name in _UNSEEN}
_THINGS = frozenset(
    (b"img", b"input", b"li", b"tr", b"p", b"video", b"audio", b"object", b"embed", b"frame")
)
# Where the usual frameworks put what they make.
_ROOT = re.compile(
    rb"""\bid\s*=\s*["']?(?:
        app|root|[\w-]{0,20}[-_](?:app|root)|(?:app|root)[-_](?:app|root|container|mount|wrapper)|
        __next|__nuxt|___gatsby|svelte|container-fluid-app|mount
    )(?=["'\s/>]|$)""",
    re.IGNORECASE | re.VERBOSE,
)
# Roots of others, which stand beside the content.
_NO_ROOT = re.compile(rb"""\bid\s*=\s*["']?(?:fb|gigya|modal|popup)[-_]""", re.IGNORECASE)
_MARKUP = re.compile(rb"<[^>]{0,2000}>")
_NOTE = re.compile(rb"java\s?script", re.IGNORECASE)


def looks_empty(body: bytes) -> bool:
    """Whether a browser would show more than what stands in this page. Any bytes will do."""
    shell = _Shell()
    seen = body[:MAX_BYTES]
    at = 0
    for number in range(MAX_TAGS):
        tag = _TAG.search(seen, at)
        shell.note_text(seen[at : tag.start() if tag else len(seen)])
        if not shell.is_possible or number == MAX_TAGS - 1:
            return False
        if tag is None:
            break
        at = _end_of(tag, seen, shell)
    return len(body) <= MAX_BYTES and shell.is_shell


@dataclass(slots=True)
class _Shell:
    """What has been met in a page so far."""

    text_bytes: int = 0
    links: int = 0
    things: int = 0
    has_script: bool = False
    #: Something says that scripts will fill the page.
    has_sign: bool = False

    @property
    def is_possible(self) -> bool:
        is_short = self.text_bytes <= FEW_BYTES
        return is_short and self.links <= FEW_LINKS and self.things <= FEW_THINGS

    @property
    def is_shell(self) -> bool:
        has_nothing = self.text_bytes <= NO_BYTES and not (self.links or self.things)
        return self.has_script and (self.has_sign or has_nothing)

    def note_text(self, text: bytes) -> None:
        if text:
            self.text_bytes += len(b"".join(text.replace(b"&nbsp;", b"").lstrip(b">").split()))
            self.has_sign = self.has_sign or _NOTE.search(text) is not None

    def note_tag(self, name: bytes, attributes: bytes) -> None:
        self.links += name == b"a"
        self.things += name in _THINGS
        self.has_script = self.has_script or name == b"script"
        # Elements of an application's own, such as <app-root>, have a dash in their names.
        if b"-" in name or (_ROOT.search(attributes) and not _NO_ROOT.search(attributes)):
            self.has_sign = True


def _end_of(tag: re.Match[bytes], page: bytes, shell: _Shell) -> int:
    """Where the text after a tag begins."""
    if tag[1]:
        end = page.find(b"-->", tag.end())
        return len(page) if end < 0 else end + 3
    name = tag[2].lower()
    if not name.startswith(b"/"):
        shell.note_tag(name, tag[3])
    end = page.find(b">", tag.end())
    begin = len(page) if end < 0 else end + 1
    if name not in _UNSEEN:
        return begin
    closing = _END_OF[name].search(page, begin)
    end = closing.start() if closing else len(page)
    if name == b"noscript":
        shell.note_text(_MARKUP.sub(b"", page[begin:end]))
    return end
