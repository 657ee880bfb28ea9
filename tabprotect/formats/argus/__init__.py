"""Files of tau-ARGUS and mu-ARGUS, read and written: metadata, data, code lists, a-priori files, batches."""

from tabprotect.formats.argus.arb import Batch, Command, read_batch
from tabprotect.formats.argus.lists import (
    Change,
    read_apriori,
    read_codelist,
    read_hierarchy,
    write_apriori,
    write_codelist,
    write_hierarchy,
)
from tabprotect.formats.argus.microdata import read_asc, write_asc
from tabprotect.formats.argus.rda import Metadata, Variable, read_rda
from tabprotect.formats.argus.rda_writer import write_rda
from tabprotect.formats.argus.recodings import Recoding, read_recoding, write_recoding
from tabprotect.formats.argus.tab import read_tab, write_tab

__all__ = [
    "Batch",
    "Change",
    "Command",
    "Metadata",
    "Recoding",
    "Variable",
    "read_apriori",
    "read_asc",
    "read_batch",
    "read_codelist",
    "read_hierarchy",
    "read_rda",
    "read_recoding",
    "read_tab",
    "write_apriori",
    "write_asc",
    "write_codelist",
    "write_hierarchy",
    "write_rda",
    "write_recoding",
    "write_tab",
]
