"""Reproduction of papers: experiments as data, and measured values beside the published ones."""
