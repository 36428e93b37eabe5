"""Published evaluation protocols by name: which rows, which references, which correlation."""

from sightline.meta.protocols.base import Protocol, make_protocol, protocol, protocols

__all__ = ["Protocol", "make_protocol", "protocol", "protocols"]
