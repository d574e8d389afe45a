"""The meaning of `?ssl=` in an address."""

import ssl

from weft.errors import ConfigError
from weft.sinks.sql.address import SqlAddress


def ssl_context(address: SqlAddress) -> ssl.SSLContext | None:
    """None: no encryption."""
    default = "verify-full" if "ssl_ca" in address.options else "disable"
    how = address.options.get("ssl", default)
    if how == "disable":
        return None
    authority = address.options.get("ssl_ca")
    try:
        context = ssl.create_default_context(cafile=authority)
    except OSError as problem:  # includes errors of ssl
        raise ConfigError(
            f"ssl_ca={authority} does not contain a certificate: {problem}"
        ) from problem
    if how == "require":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
