"""Files whose encoding nobody names are read as they were written, in the languages of Europe."""

from __future__ import annotations

import pytest

from tabprotect.table.reading.recognised import decode

TEXTS = {
    "German and French": ("cp1252", "Région;Größe;Umsatz\nGenève;groß;1\nZürich;klein;2\n"),
    "French": ("cp1252", "région;activité\nÎle-de-France;Hébergement\nProvence;Pêche\nRhône;Forêt\n"),
    "Spanish": ("cp1252", "región;código\nCataluña;A1\nAragón;B1\nPaís Vasco;C\n"),
    "Swedish": ("cp1252", "län;näring\nSkåne;fiske\nÖrebro;jordbruk\nVästra Götaland;åkeri\n"),
    "Portuguese": ("cp1252", "região;ação\nSão Paulo;construção\nMaranhão;indústria\n"),
    "Italian": ("cp1252", "città;attività\nForlì;x\nCantù;y\n"),
    "Danish": ("cp1252", "område;kode\nSjælland;a\nØresund;å\n"),
    "Icelandic": ("cp1252", "svæði;x\nReykjavík;þ\nAkureyri;ð\nÍsafjörður;ó\n"),
    "Czech": ("cp1250", "kraj;odvětví\nJihočeský;zemědělství\nPlzeňský;průmysl\nÚstecký;těžba\n"),
    "Slovak": ("cp1250", "kraj;x\nŽilinský;ľ\nKošický;ť\nPrešovský;ň\n"),
    "Polish": ("cp1250", "województwo;powiat\nŁódzkie;x\nŚląskie;y\nMałopolskie;z\nŚwiętokrzyskie;w\n"),
    "Polish with a German name": ("cp1250", "województwo;firma\nŁódzkie;Müller\nŚląskie;y\n"),
    "Polish, ISO": ("iso8859_2", "województwo;powiat\nŁódzkie;x\nŚląskie;y\nŚwiętokrzyskie;w\n"),
    "Hungarian": ("cp1250", "megye;iparág\nGyőr-Moson-Sopron;közút\nSzékesfehérvár;erdő\n"),
    "Romanian": ("cp1250", "judeţ;x\nIaşi;a\nBrăila;b\n"),
    "Croatian": ("cp1250", "županija;djelatnost\nMeđimurska;šume\nVaraždinska;građevina\nŠibenik;ć\n"),
    "Slovene": ("cp1250", "regija;x\nGoriška;č\nObalno-kraška;ž\n"),
    "Lithuanian": ("cp1257", "savivaldybė;veikla\nŠiauliai;žemė\nKlaipėda;ūkis\n"),
    "Latvian": ("cp1257", "novads;x\nRīga;ā\nJūrmala;š\nDaugavpils;ķ\n"),
    "Estonian": ("cp1257", "maakond;x\nVõru;š\nPärnu;ö\n"),
    "Greek": ("cp1253", "περιφέρεια;κλάδος\nΑττική;γεωργία\n"),
    "Russian": ("cp1251", "регион;отрасль\nМосква;рыба\n"),
    "Ukrainian": ("cp1251", "регіон;х\nКиїв;є\n"),
    "Turkish": ("cp1254", "il;iş\nIğdır;şehir\nMuğla;ağaç\n"),
    "French, ISO 8859-15": ("iso8859_15", "région;œuvre\nÎle;cœur\n"),
}


@pytest.mark.parametrize("times", [1, 40])
@pytest.mark.parametrize("language", TEXTS)
def test_texts_are_read_as_they_were_written(tmp_path, language, times):
    encoding, text = TEXTS[language]
    data = (text * times).encode(encoding)
    found, name, reasons, _ = decode(tmp_path / "a.csv", data, None)
    assert found == text * times, name
    assert "is not UTF-8" in reasons[0]


def test_what_fits_two_encodings_is_said(tmp_path):
    found = decode(tmp_path / "a.csv", "Região\n".encode("cp1252"), None)
    assert found.encoding == "cp1252"
    assert "fit cp1250" in found.reasons[0]
    assert "cp1250" in found.fits
