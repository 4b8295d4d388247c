"""The errors that users can mend: their messages are shown without a traceback."""


class PrelnError(Exception):
    """Something that the user can mend; the message says what is wrong, where, and what to do."""
