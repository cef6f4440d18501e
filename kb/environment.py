"""Environment variables → config settings: KB_<SECTION>__<KEY>, and names that other programs gave the same settings.

Knows no section and no key; what is said here is checked where the config is put together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

# Variables of the gateway that novelty was specified for (CONTEXT_GATEWAY_SELFREF_*), as section and key.
ALIASES = {
    "CONTEXT_GATEWAY_SELFREF_ENABLED": ("novelty", "enabled"),
    "CONTEXT_GATEWAY_SELFREF_SHINGLE_SIZE": ("novelty", "shingle_size"),
    "CONTEXT_GATEWAY_SELFREF_MINHASH_PERM": ("novelty", "minhash_permutations"),
    "CONTEXT_GATEWAY_SELFREF_DUP_HAMMING": ("novelty", "duplicate_hamming_bits"),
    "CONTEXT_GATEWAY_SELFREF_TRIGGER_OVERLAP": ("novelty", "trigger_overlap"),
    "CONTEXT_GATEWAY_SELFREF_MIN_NOVEL": ("novelty", "min_novel"),
}


def environment_settings(environment: Mapping[str, str]) -> Iterator[tuple[str, str, str, str]]:
    """Every setting as (variable, section, key, value), the one that wins last; an empty alias says nothing."""
    own: list[tuple[str, str, str, str]] = []
    for variable, value in environment.items():
        section, separator, name = variable.removeprefix("KB_").partition("__")
        if variable.startswith("KB_") and separator:
            own.append((variable, section.lower(), name.lower(), value))
    said = {(section, name) for _, section, name, _ in own}
    for variable, (section, name) in ALIASES.items():
        if environment.get(variable) and (section, name) not in said:
            yield variable, section, name, environment[variable]
    yield from own
