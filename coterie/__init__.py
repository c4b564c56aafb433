"""Coterie: organisations compute on a joined table that none of them ever sees."""

__version__ = "0.1.0"
