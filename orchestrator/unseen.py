"""Characters that show nothing, or change how others stand: one table for all that reads or writes foreign text."""

from __future__ import annotations

import re

# Default_Ignorable_Code_Point of Unicode, line and paragraph separators, annotation marks, the empty Braille pattern, and
# spaces of odd widths. U+00A0, U+2009, U+202F and U+3000 are not among them: prose has those.
CLASS = (
    "\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u2008\u200a-\u200f\u2028-\u202e\u205f-\u206f"
    "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
UNSEEN = re.compile(f"[{CLASS}]")
