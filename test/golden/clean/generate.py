#!/usr/bin/env python3
"""Writes golden.jsonl: texts and what ftfy makes of their line breaks, escapes of
terminals and control characters, all of its other repairs off. White space at the ends
of lines and texts, which ftfy keeps, is then removed by regular expressions.

C1 control characters are in no text: ftfy reads them as windows-1252, `mtc data clean`
removes them.

Needs `pip install ftfy`.
"""

import json
import os
import random
import re

import ftfy

CONFIG = ftfy.TextFixerConfig(
    unescape_html=False, fix_encoding=False, fix_c1_controls=False, fix_latin_ligatures=False,
    fix_character_width=False, uncurl_quotes=False, normalization=None, fix_line_breaks=True,
    fix_surrogates=False, remove_terminal_escapes=True, remove_control_chars=True)
PIECES = ("a", "word", "Ümlaut", "世界", "😀", " ", "  ", "\t", "\n", "\n\n\n", "\r\n", "\r", "\r\r\n",
          "\u0085", "\u2028", "\u2029", "\f", "\v", "\x00", "\x07", "\x1b", "\x1b[31m", "\x1b[0;1m",
          "\x1b[m", "\x1b[12", "\x7f", "\ufeff", "\u206a", "\u206f", "\u200b", "\ufff9", "\ufffc",
          "\ufffd", "\u00a0", "\u3000", "“q”", "ﬁ", "&amp;", "ｗ", "é", "e\u0301")


def clean(text):
    text = ftfy.fix_text(text, CONFIG)
    text = re.sub(r"[ \t]+\n", "\n", text)
    text = re.sub(r"\n{3,}", "\n\n", text)
    return text.strip(" \t\n\v\f\r")


def main():
    rng = random.Random(5)
    texts = ["".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 20))) for _ in range(400)]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        for text in texts:
            file.write(json.dumps({"text": text, "clean": clean(text)}) + "\n")


if __name__ == "__main__":
    main()
