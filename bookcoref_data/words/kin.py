"""Words for relatives."""

from __future__ import annotations

from . import word_set

KIN = word_set(
    "husband wife father mother brother sister son daughter uncle aunt nephew niece cousin grandfather "
    "grandmother grandson granddaughter brother-in-law sister-in-law father-in-law mother-in-law "
    "son-in-law daughter-in-law papa mamma mama dad mum stepfather stepmother parent child boy girl"
)
# Mothers and fathers bear the surname of the one whose kin they are, with the title of a married woman
# or of a man.
MOTHERS = word_set("mother mamma mama mum ma mummy mom")
FATHERS = word_set("father papa dad pa")
