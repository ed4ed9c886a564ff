"""What a model thinks aloud in a stream, kept from whoever reads the answer."""

from __future__ import annotations

from smb.inference.model_errors import AnswerMalformed, AnswerTruncated

_TAGS = ("<think>", "<thinking>", "<thought>", "<reasoning>")
_LONGEST = max(map(len, _TAGS)) + 1


class ThinkingFilter:
    """Feeds on the pieces of one answer and gives back those that are meant for the reader. Thinking stands at its beginning."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._held = ""
        self._close = ""  # the tag that ends the thinking, while there is some
        self._begun = False

    def feed(self, piece: str) -> str:
        """The text that can be shown now. Raises AnswerMalformed where thinking ends that never began."""
        self._held += piece
        if self._close:
            before, closed, after = self._held.partition(self._close)
            if not closed:
                self._held = before[-len(self._close) :]
                return ""
            self._held, self._close = after, ""
        if not self._begun:
            start = self._held.lstrip().lower()
            if (tag := next((tag for tag in _TAGS if start.startswith(tag)), None)) is not None:
                self._close = f"</{tag[1:]}"
                held, self._held = self._held.lstrip()[len(tag) :], ""
                return self.feed(held)
            if any(tag.startswith(start) for tag in _TAGS):
                return ""
            self._begun = True
        cut = self._held.rfind("<", max(0, len(self._held) - _LONGEST))
        shown, self._held = (self._held[:cut], self._held[cut:]) if cut >= 0 else (self._held, "")
        self._refuse_close(shown)
        return shown

    def rest(self) -> str:
        """What is left at the end. Raises AnswerTruncated where the thinking never ended."""
        if self._close:
            raise AnswerTruncated(self._model, "the thinking never ends")
        shown, self._held = self._held, ""
        self._refuse_close(shown)
        return shown

    def _refuse_close(self, shown: str) -> None:
        if "</think>" in shown:
            raise AnswerMalformed(self._model, "it thinks aloud in the middle of the answer")
