"""DIBS's figures, tables and claims, by their ids."""

from overspill.papers.dibs import testbed
from overspill.papers.spec import Code

CODE = Code(testbed.FIGURES)
