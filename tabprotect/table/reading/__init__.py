"""Data files as they come, by one reader: what is in them, how it is written, and what was recognised."""

from tabprotect.table.reading.opened import LARGE, DataFile, File, is_file, open_data, read_frame, read_typed
from tabprotect.table.reading.recognised import Recognised

__all__ = ["LARGE", "DataFile", "File", "Recognised", "is_file", "open_data", "read_frame", "read_typed"]
