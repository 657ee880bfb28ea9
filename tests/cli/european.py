"""A file as European offices write them, and the flags that protect it."""

from __future__ import annotations

TEXT = (
    "région;taille;firme;chiffre\r\nN;g;f0;1.090,5\r\nN;g;f1;5\r\nN;g;f2;4\r\nN;p;f3;40\r\nN;p;f4;50\r\n"
    "S;g;f5;20\r\nS;g;f6;30\r\nS;p;f7;60\r\nS;p;f8;10\r\nS;p;f9;20,25\r\n"
)
FLAGS = ("--by", "région", "--by", "taille", "--value", "chiffre", "--contributor", "firme", "--rule", "p%=15")
