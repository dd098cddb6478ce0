"""The studies that `cyscc reproduce` offers: each is a folder and a line here."""

from host.studies import components, table1, throughput, wijs
from host.studies.study import Study

__all__ = ["STUDIES"]

STUDIES: tuple[Study, ...] = (
    table1.TABLE1,
    throughput.FIGURE10,
    throughput.FIGURE11,
    components.FIGURE12,
    components.FIGURE13,
    wijs.TABLE1,
    wijs.TABLE2,
)
