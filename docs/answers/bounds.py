"""Bounds of the ledger that answers use too: in bits a token, but for the two shares."""

C7_KEPT = 0.1
"""What may be left of Post-LN's last gradient of W² after the warm-up, over that at initialisation."""
C11_BEHIND = 0.2
"""How far SGD without a warm-up must be above SGD with it, and that above Adam with it."""
C11_GAIN = 0.3
"""How far SGD with the warm-up must be below a constant guess."""
C12_AHEAD = 0.5
"""How far the small fixed rate must be below the large rate without a warm-up."""
C12_GAIN = 0.3
"""How far it must be below a constant guess."""
C13_AT_REST = 0.15
"""By how much a loss may change in the last fifth of a training that has come to its end."""
C13_NO_WORSE = 0.1
"""How far above Post-LN's end Pre-LN's may be."""
C14_BEHIND = 0.05
"""How far behind Post-LN's end Pre-LN may be after three fifths of the epochs."""
C15_SHARE = 0.5
"""The share of the gap between Adam without a warm-up and Adam with one that RAdam closes in Post-LN."""
C15_IN_PRE = 0.15
"""By how much RAdam and Adam may differ in Pre-LN."""
