"""The studies that `cyscc reproduce` offers: each is a folder and a line here."""

from host.studies import components, li, quach_table2, table1, throughput, wijs
from host.studies.study import Study

__all__ = ["STUDIES"]

STUDIES: tuple[Study, ...] = (
    table1.TABLE1,
    throughput.FIGURE10,
    throughput.FIGURE11,
    components.FIGURE12,
    components.FIGURE13,
    li.LI_FIGURE2,
    li.LI_FIGURE3,
    li.LI_TABLE2,
    quach_table2.QUACH_TABLE2,
    wijs.TABLE1,
    wijs.TABLE2,
)
