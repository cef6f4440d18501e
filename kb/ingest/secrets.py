"""Names and contents of files → why they look like keys or passwords, which nobody means to search. Pure."""

from __future__ import annotations

import re
from fnmatch import translate

SKIPPED = "looks like a secret"
# Globs over a file's lower-case name.
_NAMES = {
    "a private key": ("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.ppk", "id_rsa", "id_dsa", "id_ecdsa*", "id_ed25519*"),
    "passwords or tokens": (
        ".env*",
        "*.env",
        "credentials*",
        "*[_-]credentials*",
        ".netrc",
        "_netrc",
        ".pgpass",
        ".htpasswd",
        ".git-credentials",
        ".npmrc",
        ".pypirc",
        "*.kdbx",
    ),
}  # fmt: skip
# What is made to be copied and filled in, or to be given away.
_HARMLESS = ("*.example", "*.sample", "*.template", "*.dist", "*.pub", "*.example.*", "*.md", "*.rst", "*.py", "*.html")
_NAME_KINDS = {what: re.compile("|".join(map(translate, names))) for what, names in _NAMES.items()}
_ANY_NAME = re.compile("|".join(pattern.pattern for pattern in _NAME_KINDS.values()))
_HARMLESS_NAME = re.compile("|".join(map(translate, _HARMLESS)))
# Line ends as a file has them, or as JSON writes them: keys of cloud services stand in strings.
_PRIVATE_KEY = re.compile(
    rb"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr])+(?:[A-Za-z-]+: .*\s+)*[A-Za-z0-9+/=]{40}"
)
# Formats that one issuer uses and checks; a word that merely looks random is none.
_TOKENS = {
    "a GitHub token": re.compile(rb"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{82})\b"),
    "a GitLab token": re.compile(rb"\bglpat-[A-Za-z0-9_-]{20}\b"),
    "a Slack token": re.compile(rb"\bxox[abprs]-\d{8,}-[A-Za-z0-9-]{20,}"),
    "an AWS secret key": re.compile(rb"(?i)aws_secret_access_key\W{1,5}[a-z0-9/+]{40}(?![a-z0-9/+])"),
    "an API key": re.compile(rb"\bsk-(?:ant-|proj-)[A-Za-z0-9_-]{40,}"),
    "a Stripe key": re.compile(rb"\b[rs]k_live_[A-Za-z0-9]{24,}\b"),
    "a Hugging Face token": re.compile(rb"\bhf_[A-Za-z0-9]{34}\b"),
    "an npm token": re.compile(rb"\bnpm_[A-Za-z0-9]{36}\b"),
    "a PyPI token": re.compile(rb"\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,}"),
    "a Google API key": re.compile(rb"\bAIza[A-Za-z0-9_-]{35}\b"),
}
# Marks of tokens that documentation prints: nobody can use them.
_MADE_UP = re.compile(rb"(?i)example|x{6}|0{8}|123456|abcdef|your[_-]")


def secret_by_name(name: str) -> str | None:
    """Why a file of this name is left out, None for any other.

    >>> secret_by_name("id_rsa"), secret_by_name("id_rsa.pub"), secret_by_name(".env.example")
    ('looks like a secret: a private key, by its name', None, None)
    """
    lower = name.lower()
    if not _ANY_NAME.match(lower) or _HARMLESS_NAME.match(lower):
        return None
    what = next(what for what, pattern in _NAME_KINDS.items() if pattern.match(lower))
    return f"{SKIPPED}: {what}, by its name"


def secret_by_content(raw: bytes) -> str | None:
    """Why a file with these bytes is left out, None for any other."""
    if b"PRIVATE KEY" in raw and _PRIVATE_KEY.search(raw):
        return f"{SKIPPED}: it holds a private key"
    for what, pattern in _TOKENS.items():
        for found in pattern.finditer(raw):
            if not _MADE_UP.search(found[0]):
                return f"{SKIPPED}: it holds {what}"
    return None
