"""Histogram subtraction: larger sibling = parent - smaller sibling."""

from __future__ import annotations

import numpy as np

from gtgbm import _core
from gtgbm.exact import I64
from gtgbm.tree.nodes import Level


class SiblingPlan:
    """Decides which histograms of a level are built from rows and which by subtraction.

    Parameters
    ----------
    nodes : ndarray of int64, shape (k,)
        Nodes of the level whose histograms are needed.
    kept : KeptHistograms
        Histograms of the level above, if they were kept.

    Attributes
    ----------
    n_slots : int
        Number of histograms. Slots 0 .. k - 1 belong to `nodes`, further slots to smaller siblings that are
        built only to be subtracted.
    slots : ndarray of int64, shape (k,)
    built, built_slot : ndarray of int64
        Nodes that are built from rows, and their slots.
    subtracted_slot, parent_slot, sibling_slot : ndarray of int64
        Slots of the larger siblings, of their parents among `kept`, and of their smaller siblings.
    """

    def __init__(self, level: Level, nodes: I64, kept: KeptHistograms) -> None:
        k, size = nodes.shape[0], level.size
        self.n_slots = k
        self.slots: I64 = np.arange(k)
        self.built, self.built_slot = nodes, self.slots
        self.subtracted_slot = self.parent_slot = self.sibling_slot = self.slots[:0]
        if kept.step + 1 != level.step:
            # The kept histograms are not those of the parents, so nothing can be subtracted.
            return
        parent = level.parent[nodes]
        parent_slot = np.where(parent < 0, -1, kept.slot[parent])
        # Nodes without a parent have no sibling; they are compared with themselves and excluded below.
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
    """Histograms of one level, kept for the level below; two buffers alternate."""

    def __init__(self) -> None:
        # Allocating memory for each level would cost more in page faults than filling it.
        self._buffers: list[I64] = [np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)]
        self.forget()

    def forget(self) -> None:
        """Discard the kept histograms."""
        self.step = -2
        self.slot: I64 = np.empty(0, dtype=np.int64)
        self._hist: I64 = np.empty((0, 0), dtype=np.int64)

    def take_buffer(self, slots: int, cells: int) -> I64:
        """Return memory for the histograms of the current level, shape (slots, cells)."""
        self._buffers.reverse()
        if self._buffers[0].shape[0] < slots * cells:
            self._buffers[0] = np.empty(slots * cells * 5 // 4, dtype=np.int64)
        return self._buffers[0][: slots * cells].reshape(slots, cells)

    def subtract(self, pool: _core.Pool, plan: SiblingPlan, n_cells: int, hist: I64) -> None:
        """Compute the first `n_cells` numbers of the larger siblings by subtraction."""
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
        """Keep the histograms of some nodes of a level."""
        self.step, self._hist = level.step, hist
        self.slot = np.full(len(level), -1, dtype=np.int64)
        self.slot[nodes] = plan.slots
