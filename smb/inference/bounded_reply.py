"""How much of a server's reply is read, and that nothing but its bytes counts.

Owns the transports of the two clients of Ollama: a reply that is longer than allowed or compressed is refused before it takes
memory, and of a reply's headers none goes further, so that no charset, cookie or redirection of a server's choosing has any effect.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator

import httpx

from smb.inference.wire import ReplyBounds

UNCOMPRESSED = {"Accept-Encoding": "identity"}  # what goes with every request
_HEADERS = {"Content-Type": "application/json"}


class AsyncBoundedTransport(httpx.AsyncHTTPTransport):
    def __init__(self, bounds: ReplyBounds):
        super().__init__(trust_env=False)
        self._bounds = bounds

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        if refusal := self._bounds.refusal(response.headers):
            await response.aclose()
            raise refusal
        assert isinstance(response.stream, httpx.AsyncByteStream)
        return httpx.Response(response.status_code, headers=_HEADERS, stream=_AsyncBounded(response.stream, self._bounds), extensions=response.extensions)


class BoundedTransport(httpx.HTTPTransport):
    def __init__(self, bounds: ReplyBounds):
        super().__init__(trust_env=False)
        self._bounds = bounds

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        if refusal := self._bounds.refusal(response.headers):
            response.close()
            raise refusal
        assert isinstance(response.stream, httpx.SyncByteStream)
        return httpx.Response(response.status_code, headers=_HEADERS, stream=_Bounded(response.stream, self._bounds), extensions=response.extensions)


class _AsyncBounded(httpx.AsyncByteStream):
    """Its time is its reader's to limit, who can be interrupted."""

    def __init__(self, stream: httpx.AsyncByteStream, bounds: ReplyBounds):
        self._stream, self._bounds = stream, bounds

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._bounds.bytes
        async for chunk in self._stream:
            left -= len(chunk)
            if left < 0:
                raise self._bounds.too_long()
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Bounded(httpx.SyncByteStream):
    """Ends a reply that trickles: the timeout of a single read never comes to it."""

    def __init__(self, stream: httpx.SyncByteStream, bounds: ReplyBounds):
        self._stream, self._bounds = stream, bounds

    def __iter__(self) -> Iterator[bytes]:
        left = self._bounds.bytes
        end = time.monotonic() + self._bounds.seconds
        for chunk in self._stream:
            left -= len(chunk)
            if left < 0:
                raise self._bounds.too_long()
            if time.monotonic() > end:
                raise httpx.ReadTimeout("the reply trickles")
            yield chunk

    def close(self) -> None:
        self._stream.close()
