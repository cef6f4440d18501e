"""The fixture home of the journeys, for what is measured against a real knowledge base."""

from tests.journey.conftest import corpus_home, corpus_master

__all__ = ["corpus_home", "corpus_master"]
