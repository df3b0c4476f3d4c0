"""What online policies can achieve: policies, the sequences that are hard for them, and bounds.

The theorems and their proofs stand in ``docs/background/online.md``.
"""
