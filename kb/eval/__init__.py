"""Suites → runs → metrics → compare → report: how good search and answers are, with numbers."""
