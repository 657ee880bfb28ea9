"""What the owner alone holds: secret keys, encryption and decryption."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.query.delegation.library import tenseal
from tabprotect.query.delegation.parameters import Parameters

__all__ = ["Decrypted", "Keys", "whole"]

Residues = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Decrypted:
    """The content of one ciphertext.

    Parameters
    ----------
    values : array of int64, shape (ring,), or None
        Residues; nothing where the bytes are no ciphertext of these keys.
    budget : int
        Bits of noise budget left, as the library measures it with the secret key; 0 means that the values are wrong.
    """

    values: Residues | None
    budget: int


class Keys:
    """Fresh secret keys, one for each plain modulus.

    The scheme is BFV with symmetric encryption, so that no key that encrypts leaves the owner, at the 128-bit security
    level of SEAL.

    Parameters
    ----------
    parameters : Parameters
        Ring and plain moduli.
    multiplies : bool
        Whether ciphertexts are to be multiplied; relinearisation keys are only sent if so.
    """

    def __init__(self, parameters: Parameters, multiplies: bool) -> None:
        self.parameters = parameters
        self._multiplies = multiplies
        ts = tenseal()
        self._contexts = [
            ts.context(
                ts.SCHEME_TYPE.BFV,
                poly_modulus_degree=parameters.ring,
                plain_modulus=modulus,
                encryption_type=ts.ENCRYPTION_TYPE.SYMMETRIC,
            )
            for modulus in parameters.moduli
        ]

    def public(self) -> tuple[bytes, ...]:
        """Return the contexts for the handler: parameters and relinearisation keys, without secret keys."""
        return tuple(
            context.serialize(
                save_public_key=False,
                save_secret_key=False,
                save_galois_keys=False,
                save_relin_keys=self._multiplies,
            )
            for context in self._contexts
        )

    def encrypt(self, residues: Residues, which: int) -> bytes:
        """Encrypt one value a slot under one modulus."""
        modulus = self.parameters.moduli[which]
        values = np.where(residues > modulus // 2, residues - modulus, residues)
        return bytes(tenseal().bfv_vector(self._contexts[which], values.tolist()).serialize())

    def decrypt(self, blob: bytes, which: int) -> Decrypted:
        """Decrypt what came back, whatever it is."""
        context = self._contexts[which]
        try:
            vector = tenseal().bfv_vector_from(context, blob)
            ciphertexts = vector.ciphertext()
            if len(ciphertexts) != 1 or vector.size() != self.parameters.ring:
                return Decrypted(None, 0)
            budget = int(context.decryptor().data.invariant_noise_budget(ciphertexts[0]))
            values = np.asarray(vector.decrypt(), dtype=np.int64)
        except (
            ValueError,
            RuntimeError,
            TypeError,
            IndexError,
            OverflowError,
        ):  # whatever the library says of others' bytes
            return Decrypted(None, 0)
        if values.shape != (self.parameters.ring,):
            return Decrypted(None, 0)
        return Decrypted(values % self.parameters.moduli[which], budget)


def whole(residues: Sequence[Residues], moduli: Sequence[int]) -> npt.NDArray[Any]:
    """Put residues together by the Chinese remainder theorem.

    Returns
    -------
    array of int64, or of object where the product of the moduli exceeds 62 bits
        Whole numbers of least magnitude.
    """
    product = prod(moduli)
    total = residues[0] if product < 2**62 else residues[0].astype(object)
    joined = moduli[0]
    for part, modulus in zip(residues[1:], moduli[1:], strict=True):
        factor = (part - total) % modulus * pow(joined, -1, modulus) % modulus
        total, joined = total + joined * factor, joined * modulus
    found: npt.NDArray[Any] = np.where(total > product // 2, total - product, total)
    return found
