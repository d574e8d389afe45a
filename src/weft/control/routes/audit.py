"""Who changed what through the API."""

from fastapi import APIRouter

from weft.cluster.audit import AuditEntry
from weft.cluster.tokens import TokenScope
from weft.control.documented import JsonAnswer, answering
from weft.control.master import TheMaster
from weft.control.paging import ListPage, ThePage, page_of

router = APIRouter(tags=["audit"])


@router.get("/audit", **answering(ListPage[AuditEntry], TokenScope.ADMIN))
async def list_changes(master: TheMaster, wanted: ThePage) -> JsonAnswer:
    """The latest changes first; so many are kept as the page on security says."""
    rows = await master.audit.entries(wanted.limit + 1, wanted.after(int))
    return JsonAnswer(page_of(rows, lambda row: row.number, wanted))
