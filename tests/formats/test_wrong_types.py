"""Readers of files, given what is no path, no text and no option: one error that names it."""

from __future__ import annotations

import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.formats import argus, read_instance
from tabprotect.formats.certificate import read_certificate
from tabprotect.formats.codelists import read_code_list
from tabprotect.formats.folder import read_manifest
from tabprotect.formats.jj import read_jj
from tabprotect.formats.pattern import read_pattern
from tabprotect.formats.published import read_published, read_tables
from tabprotect.formats.sdmx import read_hierarchies, read_structures
from tabprotect.formats.sif import read_sif
from tests.wrong_kinds import arguments, check, named

SYSTEM = tp.LinearSystem.from_equations([("t", ["a", "b"])])
METADATA = argus.Metadata("free", (argus.Variable("r"), argus.Variable("v", numeric=True)), ";")


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """Files that each reader takes, so that all other arguments are looked at."""
    monkeypatch.chdir(tmp_path)
    tp.write_jj(tp.Problem.from_arrays([[-1, 1, 1]], [5, 2, 3], primary=[1], lpl=1, upl=1), "a.jj")
    (tmp_path / "codes.csv").write_text("code,parent\nT,\na,T\nb,T\n")
    (tmp_path / "a.hrc").write_text("a\n@a1\n@a2\n")
    (tmp_path / "a.hst").write_text("a;u\n")
    (tmp_path / "a.cdl").write_text("a,A\n")
    (tmp_path / "a.txt").write_text("a;5\nb;6\n")
    (tmp_path / "a.json").write_text('{"cells": ["a"]}')


READERS = [
    (read_instance, {"path": "a.jj"}),
    (read_jj, {"path": "a.jj"}),
    (read_sif, {"path": "a.sif"}),
    (read_pattern, {"path": "a.json", "system": SYSTEM}),
    (read_certificate, {"path": "a.json"}),
    (read_code_list, {"path": "codes.csv"}),
    (read_manifest, {"folder": "out"}),
    (read_published, {"folder": "out"}),
    (read_tables, {"folder": "out"}),
    (read_structures, {"path": "a.xml"}),
    (read_hierarchies, {"path": "a.xml"}),
    (argus.read_apriori, {"path": "a.hst", "dimensions": 1}),
    (argus.read_asc, {"path": "a.txt", "metadata": METADATA}),
    (argus.read_tab, {"path": "a.txt", "metadata": METADATA}),
    (argus.read_batch, {"path": "a.arb"}),
    (argus.read_codelist, {"path": "a.cdl"}),
    (argus.read_hierarchy, {"path": "a.hrc"}),
    (argus.read_rda, {"path": "a.rda"}),
    (argus.read_recoding, {"path": "a.grc"}),
    (tp.File, {"path": "a.csv"}),
]


@pytest.mark.parametrize(("function", "given", "name"), arguments(READERS), ids=named)
def test_arguments_of_readers(function, given, name):
    check(lambda wrong: function(**{**given, name: wrong}))


def test_wrong_paths_of_instances_say_what_there_is():
    for wrong in ("b.jj", "a.csv", "", ".", None, 5, b"a.jj", pd.DataFrame()):
        with pytest.raises(tp.TabprotectError):
            read_instance(wrong)
    with pytest.raises(tp.InputError, match=r"a\.jj"):
        read_instance("A.jjj")
