"""What a recipe raises where it does not fit."""


class UnfitError(Exception):
    """A recipe does not fit a nest; the text says why, as the end of a sentence, or nothing."""
