"""URLs without what says nothing about the page: tracking parameters, sessions, fragments.

Called for each link of each page. Names are looked up, not searched for, and answers are kept: a
site uses few.
"""

import re
from functools import lru_cache

from weft.boards.board.patterns import MAX_URL_LENGTH

#: Names of parameters that say where a reader came from. `*` stands for any characters.
TRACKING = (
    # Web analytics
    *("utm_*", "utm-*", "_utm*", "__utm*", "mtm_*", "matomo_*", "piwik_*", "stm_*", "wt.*"),
    *("pk_campaign", "pk_kwd", "pk_keyword", "pk_source", "pk_medium", "pk_content", "pk_cid"),
    *("_ga", "_gl", "_openstat", "ga_source", "ga_medium", "ga_campaign", "ga_term", "ga_content"),
    *("hmsr", "hmpl", "hmcu", "hmkw", "hmci", "at_medium", "at_campaign", "at_custom*"),
    *("xtor", "wt_mc", "wt_zmc", "wtmc", "ns_mchannel", "ns_source", "ns_campaign", "ns_linkname"),
    *("ns_fee", "s_cid", "s_kwcid", "ef_id", "itm_source", "itm_medium", "itm_campaign"),
    *("intcid", "int_cmp", "hsa_*", "at_link_*"),
    # Advertisements, social networks, search engines
    *("gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_*", "srsltid", "fbclid", "fb_action_*"),
    *("fb_source", "fb_ref", "msclkid", "yclid", "ymclid", "ysclid", "twclid", "ttclid", "rdt_cid"),
    *("li_fat_id", "epik", "sccid", "igshid", "igsh", "qhclickid", "bd_vid", "tblci", "dicbo"),
    *("ref_src", "ref_url", "trkinfo", "trackingid", "sr_share", "soc_src", "soc_trk"),
    *("__twitter_impression", "_branch_match_id", "guce_referrer*", "guccounter"),
    # Newsletters
    *("mc_cid", "mc_eid", "mkt_tok", "_hsenc", "_hsmi", "__hs*", "hsctatracking", "vero_id"),
    *("vero_conv", "oly_enc_id", "oly_anon_id", "_ke", "_kx", "wickedid", "elqtrack*", "elqaid"),
    # Chinese portals and applications
    *("spm", "spm_id_from", "from_spmid", "vd_source", "from_source", "fromsource"),
    *("share_source", "share_medium", "share_plat", "share_session_id", "share_tag", "share_token"),
    *("share_from", "sharer_*", "unique_k", "wfr", "isappinstalled", "wxshare_count", "nsukey"),
    *("wx_header", "chksm", "mpshare", "adtag", "pgv_ref", "clickfrom", "tt_from", "_trans_"),
    # Sessions
    *("phpsessid", "jsessionid", "aspsessionid*", "asp.net_sessionid", "sessid", "oscsid", "zenid"),
    *("cfid", "cftoken"),
)

_TOKEN = r"(?=\D*\d)[\w.!-]{16,}"
#: The same if the value is such a one, as a regular expression: names with other meanings, too.
_AMBIGUOUS = {
    **dict.fromkeys(("sid", "s", "sess", "session"), "[0-9a-f]{32}"),
    **dict.fromkeys(("sessionid", "session_id", "sess_id"), _TOKEN),
    # Identifiers are numbers.
    **dict.fromkeys(("cmpid", "icid", "ncid", "smid"), "(?=.*[a-z])(?=.*[-_:|]).*"),
    "from": "timeline|singlemessage|groupmessage",
    "for": "pc",
}
_VALUES = {name: re.compile(value, re.IGNORECASE) for name, value in _AMBIGUOUS.items()}
_ANY = re.compile("")

#: Longer names are not looked up.
LONGEST_NAME = 64
_KEPT_NAMES = 4_096
_KEPT_LISTS = 1_000

#: Sessions within a path: `;jsessionid=1`, and `/(S(1))/` of ASP.NET.
_IN_PATH = re.compile(
    r";(?:jsessionid|phpsessid|sessionid|sid)=[^/?#;&]*|/\((?:[A-Z]\([\w-]{1,200}\))+\)(?=/)",
    re.IGNORECASE,
)


def clean_url(url: str, extra: tuple[str, ...] = ()) -> str:
    """The URL without tracking parameters, session ids and its fragment; all else stays as it is.

    `extra`: names of more parameters to remove, with `*` for any characters.
    """
    if "#" in url:
        url = url.partition("#")[0]
    path, mark, query = url.partition("?")
    if ";" in path or "(" in path:
        path = _IN_PATH.sub("", path)
    if not mark:
        return path
    if not query or len(url) > MAX_URL_LENGTH:
        return path + mark + query
    pairs = query.split("&")
    kept = [pair for pair in pairs if not _is_idle(pair, extra)]
    if len(kept) == len(pairs):
        return path + mark + query
    return path + mark + "&".join(kept) if kept else path


def _is_idle(pair: str, extra: tuple[str, ...]) -> bool:
    """Whether a parameter is of no account."""
    name, _, value = pair.partition("=")
    if len(name) > LONGEST_NAME:
        return False
    values = _idle_values(name, extra)
    return values is not None and (values is _ANY or values.fullmatch(value) is not None)


@lru_cache(_KEPT_NAMES)
def _idle_values(name: str, extra: tuple[str, ...]) -> re.Pattern[str] | None:
    """With which values a parameter is of no account; None: with none."""
    # Some pages escape & twice.
    name = name.lower().removeprefix("amp;")
    if _names(TRACKING).fullmatch(name) or _names(extra).fullmatch(name):
        return _ANY
    return _VALUES.get(name)


@lru_cache(_KEPT_LISTS)
def _names(globs: tuple[str, ...]) -> re.Pattern[str]:
    """A regular expression for names: one that matches nothing if there are none."""
    return re.compile("|".join(_source(glob.lower()) for glob in globs) or r"(?!)")


def _source(glob: str) -> str:
    first, *parts = map(re.escape, glob.split("*"))
    if not parts:
        return first
    *inner, last = parts
    # Each part where it comes first: that is enough, and never tried again.
    return first + "".join(f"(?>.*?{part})" for part in inner) + ".*" + last
