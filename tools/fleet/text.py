# SPDX-License-Identifier: Apache-2.0
"""Text from files, as a terminal may have it."""


def plain(text):
    """Nothing in a name may steer a terminal or turn the text around."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
