"""Histogram subtraction: larger sibling = parent - smaller sibling."""

from __future__ import annotations

import numpy as np

from gtgbm import _core
from gtgbm.exact import I64
from gtgbm.tree.nodes import Level


class SiblingPlan:
    """Which histograms of a level are built from rows and which by subtraction.

    Slots 0 .. k - 1 belong to the nodes asked for; further ones to siblings that are built only to be
    subtracted.

    Parameters
    ----------
    nodes : ndarray of int64, shape (k,)
        Nodes of the level whose histograms are asked for.
    """

    def __init__(self, level: Level, nodes: I64, kept: KeptHistograms) -> None:
        k, size = nodes.shape[0], level.size
        self.n_slots = k
        self.slots: I64 = np.arange(k)
        self.built, self.built_slot = nodes, self.slots
        self.subtracted_slot = self.parent_slot = self.sibling_slot = self.slots[:0]
        if kept.step + 1 != level.step:
            # A level in between was not asked for: what is kept is not the parents' level.
            return
        parent = level.parent[nodes]
        parent_slot = np.where(parent < 0, -1, kept.slot[parent])
        # Nodes without a parent have no sibling either: comparing them with themselves does no harm.
        sibling = np.where(parent < 0, nodes, nodes ^ 1)
        larger = (size[nodes] > size[sibling]) | ((size[nodes] == size[sibling]) & ((nodes & 1) == 1))
        larger &= parent_slot >= 0
        slot_of = np.full(len(level), -1, dtype=np.int64)
        slot_of[nodes] = self.slots
        siblings = nodes[larger] ^ 1
        extra = siblings[slot_of[siblings] < 0]
        slot_of[extra] = k + np.arange(extra.shape[0])
        self.n_slots = k + extra.shape[0]
        self.built = np.concatenate([nodes[~larger], extra])
        self.built_slot = slot_of[self.built]
        self.parent_slot = parent_slot[larger]
        self.sibling_slot = slot_of[siblings]
        self.subtracted_slot = slot_of[nodes[larger]]


class KeptHistograms:
    """Histograms of one level, kept for the level below; two buffers take turns."""

    def __init__(self) -> None:
        # Fresh memory for each level would cost more in page faults than filling it.
        self._buffers: list[I64] = [np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)]
        self.forget()

    def forget(self) -> None:
        """Keep nothing."""
        self.step = -2
        self.slot: I64 = np.empty(0, dtype=np.int64)
        self._hist: I64 = np.empty((0, 0), dtype=np.int64)

    def take_buffer(self, slots: int, cells: int) -> I64:
        """Memory for the histograms of the level at hand, shape (slots, cells)."""
        self._buffers.reverse()
        if self._buffers[0].shape[0] < slots * cells:
            self._buffers[0] = np.empty(slots * cells * 5 // 4, dtype=np.int64)
        return self._buffers[0][: slots * cells].reshape(slots, cells)

    def subtract(self, pool: _core.Pool, plan: SiblingPlan, n_cells: int, hist: I64) -> None:
        """Fill in the larger siblings, up to their first `n_cells` cells."""
        if plan.subtracted_slot.shape[0]:
            _core.subtract_histograms(
                pool=pool,
                parents=self._hist,
                parent=plan.parent_slot,
                sibling=plan.sibling_slot,
                slot=plan.subtracted_slot,
                n_cells=n_cells,
                hist=hist,
            )

    def keep(self, level: Level, nodes: I64, plan: SiblingPlan, hist: I64) -> None:
        """Remember the histograms of some nodes of a level."""
        self.step, self._hist = level.step, hist
        self.slot = np.full(len(level), -1, dtype=np.int64)
        self.slot[nodes] = plan.slots
