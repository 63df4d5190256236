"""The web application: the HTTP interface, and the page that uses it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, Response
from pydantic_core import to_json
from starlette.exceptions import HTTPException

from sestra.agent import Agent, Context
from sestra.agent.parsing import check_word_count, count_words
from sestra.agent.trace import Turn
from sestra.drawing import draw_strip_svg
from sestra.drawing.attention_rows import TITLES
from sestra.drawing.sprites import sprites
from sestra.errors import InputError
from sestra.serve import phrases, schemas
from sestra.serve.admission import MAX_PER_CLIENT, Admission
from sestra.serve.batching import Batcher, BusyError, ClosedError
from sestra.serve.metrics import MEDIA_TYPE, Metrics
from sestra.serve.middleware import Guard
from sestra.serve.refusals import refusal
from sestra.version import __version__
from sestra.worlds import World

STATIC = Path(__file__).parent / "static"
EXPECTED_BODY = "send an object as the OpenAPI document describes it"
MEDIA_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
DESCRIPTION = (
    "Agents that follow sequences of natural-language instructions. The server keeps no state between requests. "
    "Every error response has the same shape and says what is wrong, and where."
)


Responses = dict[int | str, dict[str, Any]]
Given = TypeVar("Given")
Found = TypeVar("Found")


def _refusals(reasons: Mapping[int, str]) -> Responses:
    return {status: {"model": schemas.Refusal, "description": reason} for status, reason in reasons.items()}


_ALWAYS = _refusals(
    {
        401: "The key is missing or wrong",
        408: "The body took too long",
        413: "The body is too large",
        421: "Another host",
        429: "Too many requests are waiting",
        500: "The server failed",
        503: "The server is stopping, or has too many connections",
    }
)
_INVALID = _refusals({422: "What is wrong, and where"})

WorldQuery = Annotated[schemas.WorldName, Query()]
StateQuery = Annotated[schemas.StateText, Query()]
SeedQuery = Annotated[int, Query(ge=0, le=schemas.MAX_SEED)]
OptionalSeedQuery = Annotated[int | None, Query(ge=0, le=schemas.MAX_SEED)]


class RefusedError(InputError):
    """A request that is wrong: which field, and why."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(reason)
        self.where = where


def create_app(
    agents: Sequence[Agent],
    hosts: Collection[str] | None = None,
    *,
    api_key: str | None = None,
    per_client: int = MAX_PER_CLIENT,
    metrics: Metrics | None = None,
) -> FastAPI:
    """The application with these agents, one per world; ``hosts`` are the host names that it accepts, by default any.

    When the server is to stop, close its ``state.admission``, and its ``state.batcher`` when nothing more is to be answered.
    """
    by_world = {agent.world.name: agent for agent in agents}
    pages = {f"/{path.name}" for path in STATIC.iterdir()} | {"/"}
    admission = Admission(metrics, api_key=api_key, public=pages, per_client=per_client)
    batcher = Batcher({name: partial(_turns_as_json, agent, admission.metrics) for name, agent in by_world.items()})

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        batcher.close()
        batcher.open()  # the application may be started again
        admission.closed = False

    app = FastAPI(
        title="sestra",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # a redirect would repeat the request's host
        lifespan=lifespan,
        responses=_ALWAYS,
    )
    app.state.admission, app.state.batcher = admission, batcher
    _add_error_handlers(app)
    _add_probes(app, list(by_world), admission)
    _add_queries(app, by_world)

    @app.post("/api/follow", response_model=Turn, responses=_INVALID)
    async def follow(body: schemas.FollowRequest, request: Request) -> Response:
        """Follow one instruction; requests that arrive at the same time are answered as one batch."""
        begun, words = time.perf_counter(), _count_words(body)
        world = _world(by_world, body.world)
        for number, turn in enumerate(body.history):
            _parse(world, turn.state, f"history.{number}.state")
        _parse(world, body.state, "state")
        context = Context(
            (*(turn.state for turn in body.history), body.state),
            (*(turn.instruction for turn in body.history), body.instruction),
        )
        try:
            answer = await _until_disconnected(request, batcher.submit(world.name, context, words + len(context.instructions)))
        except BusyError as error:
            raise HTTPException(429, "too many requests are waiting; try again in a second", {"Retry-After": "1"}) from error
        except ClosedError as error:
            closed = {"Retry-After": "5", "Connection": "close"}
            raise HTTPException(503, "the server is stopping; try again when it is back", closed) from error
        if answer is None:
            return Response(status_code=499)
        admission.metrics.count_followed(time.perf_counter() - begun)
        return Response(answer, media_type="application/json")

    _add_page(app)
    app.add_middleware(Guard, hosts=hosts, admission=admission)
    return app


def _turns_as_json(agent: Agent, metrics: Metrics, contexts: Sequence[Context]) -> list[bytes]:
    metrics.count_batch(len(contexts))
    return [to_json(turn) for turn in agent.take_turns(contexts)]


def _count_words(body: schemas.FollowRequest) -> int:
    """The words of all instructions, counted before anything else is done with them."""
    earlier = [(f"history.{number}.instruction", turn.instruction) for number, turn in enumerate(body.history)]
    count = sum(_checked(where, count_words, instruction) for where, instruction in (*earlier, ("instruction", body.instruction)))
    _checked("history", check_word_count, count)
    return count


def _checked(where: str, check: Callable[[Given], Found], value: Given) -> Found:
    """The result of the check; an error names the field."""
    try:
        return check(value)
    except InputError as error:
        raise RefusedError(where, str(error)) from error


async def _until_disconnected(request: Request, pending: Coroutine[Any, Any, bytes]) -> bytes | None:
    """The answer, or None as soon as the client has disconnected."""

    async def disconnected() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    answer, gone = asyncio.create_task(pending), asyncio.create_task(disconnected())
    try:
        await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
        return answer.result() if answer.done() else None
    finally:
        answer.cancel()
        gone.cancel()


def _add_probes(app: FastAPI, worlds: list[str], admission: Admission) -> None:
    """What those ask who run the server."""

    @app.get("/healthz")
    async def health() -> schemas.Health:
        """Whether the server runs, and its worlds."""
        return schemas.Health(status="ok", version=__version__, worlds=worlds)

    @app.get("/readyz")
    async def ready() -> schemas.Readiness:
        """Whether the server takes requests; 503 while it stops."""
        if admission.closed:
            raise HTTPException(503, "the server is stopping; send requests to another one")
        return schemas.Readiness(status="ready")

    @app.get("/metrics", response_class=Response, responses={200: {"content": {MEDIA_TYPE: {}}, "description": "In Prometheus' format"}})
    async def metrics() -> Response:
        """Counts of responses, connections and batches, and how long instructions took."""
        return Response(admission.metrics.text(), media_type=MEDIA_TYPE)


def _add_queries(app: FastAPI, agents: Mapping[str, Agent]) -> None:
    """Everything that needs no policy."""

    @app.get("/api/worlds")
    async def worlds() -> schemas.Worlds:
        """The worlds that the server has agents for."""
        summaries = [
            schemas.WorldSummary(
                name=name,
                agent=agent.name,
                actions={str(action): phrases.in_words(agent.world, action) for action in agent.world.actions},
            )
            for name, agent in agents.items()
        ]
        return schemas.Worlds(worlds=summaries, attention=TITLES, limits=schemas.Limits())

    @app.get("/api/examples", responses=_INVALID)
    def examples(
        world: WorldQuery, count: Annotated[int, Query(ge=1, le=schemas.MAX_EXAMPLES)] = 6, seed: OptionalSeedQuery = None
    ) -> schemas.Examples:
        """Start states with instructions: built-in and generated ones, or only generated ones if there is a seed."""
        return schemas.Examples(examples=phrases.examples(_world(agents, world), count, seed))

    @app.get("/api/suggestions", responses=_INVALID)
    def suggestions(world: WorldQuery, state: StateQuery, spoken: bool = False, seed: SeedQuery = 0) -> schemas.Suggestions:
        """Instructions that make sense in a state; ``spoken`` means that there is an earlier turn to refer to."""
        known = _world(agents, world)
        return schemas.Suggestions(suggestions=phrases.suggestions(known, _parse(known, state, "state"), spoken=spoken, seed=seed))

    @app.get("/api/drawing", responses=_INVALID)
    def drawing(world: WorldQuery) -> dict[str, Any]:
        """The shapes that the page draws states with."""
        return sprites(_world(agents, world))

    @app.post(
        "/api/picture",
        response_class=Response,
        responses={200: {"content": {"image/svg+xml": {}}, "description": "One picture of all frames"}, **_INVALID},
    )
    def picture(request: schemas.PictureRequest) -> Response:
        """Captions and states, one below the other, as one SVG."""
        world = _world(agents, request.world)
        frames = [(frame.caption, _parse(world, frame.state, f"frames.{n}.state")) for n, frame in enumerate(request.frames)]
        return Response(draw_strip_svg(world, frames), media_type="image/svg+xml")


def _add_page(app: FastAPI) -> None:
    """The files of the page, and no others."""
    files = {path.name: path for path in STATIC.iterdir() if path.suffix in MEDIA_TYPES}

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def page() -> Response:
        return FileResponse(files["index.html"], media_type=MEDIA_TYPES[".html"])

    @app.api_route("/{name}", methods=["GET", "HEAD"], include_in_schema=False)
    async def file(name: str) -> Response:
        if name not in files:
            raise HTTPException(404, "there is nothing at this address; the page is at /, the interface is described at /openapi.json")
        return FileResponse(files[name], media_type=MEDIA_TYPES[files[name].suffix])


def _world(agents: Mapping[str, Agent], name: str) -> World[Any]:
    if name not in agents:
        raise RefusedError("world", f"there is no agent for {name!r}; expected one of {', '.join(agents)}")
    return agents[name].world


def _parse(world: World[Any], text: str, where: str) -> tuple[Any, ...]:
    return _checked(where, world.parse, text)


def _add_error_handlers(app: FastAPI) -> None:
    @app.exception_handler(RequestValidationError)
    async def malformed(_request: Request, error: RequestValidationError) -> Response:
        return refusal(422, [_problem(each) for each in error.errors()])

    @app.exception_handler(InputError)
    async def wrong(_request: Request, error: InputError) -> Response:
        return refusal(422, [(error.where if isinstance(error, RefusedError) else "", str(error))])

    @app.exception_handler(HTTPException)
    async def http(_request: Request, error: HTTPException) -> Response:
        if error.status_code == 400:  # FastAPI's, for a body that is not UTF-8 or nested too deeply
            return refusal(422, [("body", f"is not JSON; {EXPECTED_BODY}")])
        return refusal(error.status_code, [("", str(error.detail))], dict(error.headers or {}))


def _problem(error: Any) -> tuple[str, str]:
    """The field and the reason, without the value itself, which may be very long."""
    where = ".".join(str(part) for part in error["loc"] if part not in ("body", "query"))
    reason, limits = str(error["msg"]), error.get("ctx", {})
    if error["type"] == "string_too_long":
        reason = f"{len(error['input']):,} characters; expected at most {limits['max_length']:,}; write less"
    elif error["type"] == "string_too_short":
        reason = "is empty; write something"
    elif error["type"] == "too_long":
        reason = f"more than {limits['max_length']:,} items; send fewer"
    elif error["type"] == "extra_forbidden":
        reason = "is not a field of this request; leave it out"
    elif error["type"] == "json_invalid":
        reason = f"is not JSON ({limits.get('error', '')}); {EXPECTED_BODY}"
    return where or "body", reason
