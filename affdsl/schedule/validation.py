"""What a schedule that is validated raises, apart from it: few are, and start-up need not wait for what that takes."""

from affdsl.passes.validation.pipeline import ValidationError as ValidationError
