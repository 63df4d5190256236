"""The application: a few questions about worlds and agents, and the page that asks them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, Response
from pydantic_core import to_json
from starlette.exceptions import HTTPException

from sestra.agent import Agent, Context
from sestra.agent.parsing import count_words
from sestra.drawing import draw_strip_svg
from sestra.drawing.attention_rows import TITLES
from sestra.drawing.sprites import sprites
from sestra.errors import InputError
from sestra.serve import phrases as sayings
from sestra.serve import schemas as models
from sestra.serve.batching import Batcher, BusyError, ClosedError
from sestra.serve.middleware import Guard, refusal
from sestra.version import __version__
from sestra.worlds import World

STATIC = Path(__file__).parent / "static"
AN_OBJECT = "send an object as the OpenAPI document describes it"
MEDIA_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
DESCRIPTION = (
    "Agents that follow sequences of natural-language instructions. Nothing is remembered between two requests. "
    "Whatever is wrong with a request, the answer says where and why, always in the same shape."
)


Responses = dict[int | str, dict[str, Any]]


def _refusals(reasons: Mapping[int, str]) -> Responses:
    return {status: {"model": models.Refusal, "description": reason} for status, reason in reasons.items()}


_ALWAYS = _refusals({408: "The body took too long", 413: "The body is too large", 421: "Another host was meant", 500: "The server failed"})
_SAYS_NO = _refusals({422: "What is wrong, and where"})
_CANNOT_NOW = _refusals({429: "Too many requests are waiting", 503: "The server is stopping"})

WorldQuery = Annotated[models.WorldName, Query()]
StateQuery = Annotated[models.StateText, Query()]
SeedQuery = Annotated[int, Query(ge=0, le=models.LARGEST_SEED)]
OptionalSeedQuery = Annotated[int | None, Query(ge=0, le=models.LARGEST_SEED)]


class RefusedError(Exception):
    """A request that cannot be answered, with what is wrong and where."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(reason)
        self.where, self.reason = where, reason


def create_app(agents: Sequence[Agent], hosts: Collection[str] | None = None) -> FastAPI:
    """The application with these agents, one a world; it answers to these names of its host, by default to any.

    Its ``state.batcher`` is to be closed as soon as it is to stop.
    """
    by_world = {agent.world.name: agent for agent in agents}
    batcher: Batcher[Context, bytes] = Batcher({name: _taking_turns(agent) for name, agent in by_world.items()})

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        batcher.close()
        batcher.open()  # the application may be started again

    app = FastAPI(
        title="sestra", version=__version__, description=DESCRIPTION, docs_url=None, redoc_url=None, lifespan=lifespan, responses=_ALWAYS
    )
    app.state.batcher = batcher
    _refuse_uniformly(app)
    _add_questions(app, by_world)

    @app.post("/api/follow", response_model=models.Turn, responses={**_SAYS_NO, **_CANNOT_NOW})
    async def follow(asked: models.FollowRequest, request: Request) -> Response:
        """Follow one instruction; requests that arrive together are answered together."""
        words = _count_words(asked)
        world = _world(by_world, asked.world)
        for number, turn in enumerate(asked.history):
            _parse(world, turn.state, f"history.{number}.state")
        _parse(world, asked.state, "state")
        context = Context(
            (*(turn.state for turn in asked.history), asked.state),
            (*(turn.instruction for turn in asked.history), asked.instruction),
        )
        answer = await _while_there(request, batcher.ask(world.name, context, words + len(context.instructions)))
        return Response(status_code=499) if answer is None else Response(answer, media_type="application/json")

    _add_page(app)
    app.add_middleware(Guard, hosts=hosts)
    return app


def _taking_turns(agent: Agent) -> Callable[[Sequence[Context]], list[bytes]]:
    def take(contexts: Sequence[Context]) -> list[bytes]:
        return [to_json(turn.to_json()) for turn in agent.take_turns(contexts)]

    return take


def _count_words(asked: models.FollowRequest) -> int:
    """All that the agent is to read, counted before anything is done with it."""
    told = [(f"history.{number}.instruction", turn.instruction) for number, turn in enumerate(asked.history)]
    count = 0
    for where, instruction in (("instruction", asked.instruction), *told):
        try:
            count += count_words(instruction)
        except InputError as error:
            raise RefusedError(where, str(error)) from error
        if count > models.MOST_WORDS:
            if where == "instruction":
                raise RefusedError(where, f"{count:,} words; expected at most {models.MOST_WORDS:,}; write less")
            raise RefusedError(
                "history", f"more than {models.MOST_WORDS:,} words with the instruction's; begin a new interaction, or leave turns out"
            )
    return count


async def _while_there(request: Request, asking: Coroutine[Any, Any, bytes]) -> bytes | None:
    """The answer, or None as soon as whoever asked has gone."""

    async def leave() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    answer, gone = asyncio.create_task(asking), asyncio.create_task(leave())
    try:
        await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
        return answer.result() if answer.done() else None
    finally:
        answer.cancel()
        gone.cancel()


def _add_questions(app: FastAPI, agents: Mapping[str, Agent]) -> None:
    """All that needs no model."""

    @app.get("/healthz")
    async def health() -> models.Health:
        """Whether the server is there, and for which worlds."""
        return models.Health(status="ok", version=__version__, worlds=list(agents))

    @app.get("/api/worlds")
    async def worlds() -> models.Worlds:
        """The worlds that there are agents for."""
        summaries = [
            models.WorldSummary(
                name=name,
                agent=agent.name,
                actions={str(action): sayings.in_words(agent.world, action) for action in agent.world.actions},
            )
            for name, agent in agents.items()
        ]
        return models.Worlds(worlds=summaries, attention=TITLES, limits=models.Limits())

    @app.get("/api/examples", responses=_SAYS_NO)
    def examples(
        world: WorldQuery, count: Annotated[int, Query(ge=1, le=models.MOST_EXAMPLES)] = 6, seed: OptionalSeedQuery = None
    ) -> models.Examples:
        """Start states with instructions: built-in and generated ones, or with a seed generated ones alone."""
        return models.Examples(examples=sayings.examples(_world(agents, world), count, seed))

    @app.get("/api/suggestions", responses=_SAYS_NO)
    def suggestions(world: WorldQuery, state: StateQuery, spoken: bool = False, seed: SeedQuery = 0) -> models.Suggestions:
        """Instructions that make sense in a state; ``spoken`` says that something was said before, which can be referred to."""
        known = _world(agents, world)
        return models.Suggestions(suggestions=sayings.suggestions(known, _parse(known, state, "state"), spoken=spoken, seed=seed))

    @app.get("/api/drawing", responses=_SAYS_NO)
    def drawing(world: WorldQuery) -> dict[str, Any]:
        """The shapes that the page draws states with."""
        return sprites(_world(agents, world))

    @app.post(
        "/api/picture",
        response_class=Response,
        responses={200: {"content": {"image/svg+xml": {}}, "description": "One picture of all frames"}, **_SAYS_NO},
    )
    def picture(request: models.PictureRequest) -> Response:
        """Captions and states below each other, as one SVG."""
        world = _world(agents, request.world)
        frames = [(frame.caption, _parse(world, frame.state, f"frames.{n}.state")) for n, frame in enumerate(request.frames)]
        return Response(draw_strip_svg(world, frames), media_type="image/svg+xml")


def _add_page(app: FastAPI) -> None:
    """The files of the page by their names; nothing else can be asked for."""
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
    try:
        return world.parse(text)
    except InputError as error:
        raise RefusedError(where, str(error)) from error


def _refuse_uniformly(app: FastAPI) -> None:
    @app.exception_handler(RequestValidationError)
    async def malformed(_request: Request, error: RequestValidationError) -> Response:
        return refusal(422, [_problem(each) for each in error.errors()])

    @app.exception_handler(RefusedError)
    async def refused(_request: Request, error: RefusedError) -> Response:
        return refusal(422, [(error.where, error.reason)])

    @app.exception_handler(InputError)
    async def wrong(_request: Request, error: InputError) -> Response:
        return refusal(422, [("", str(error))])

    @app.exception_handler(BusyError)
    async def busy(_request: Request, _error: BusyError) -> Response:
        return refusal(429, [("", "too many requests are waiting; try again in a second")], {"Retry-After": "1"})

    @app.exception_handler(ClosedError)
    async def closed(_request: Request, _error: ClosedError) -> Response:
        return refusal(503, [("", "the server is stopping; ask again when it is back")], {"Retry-After": "5", "Connection": "close"})

    @app.exception_handler(HTTPException)
    async def http(_request: Request, error: HTTPException) -> Response:
        if error.status_code == 400:  # FastAPI's, for bytes that are no text or nested beyond reason
            return refusal(422, [("body", f"is not JSON; {AN_OBJECT}")])
        return refusal(error.status_code, [("", str(error.detail))], dict(error.headers or {}))


def _problem(error: Any) -> tuple[str, str]:
    """Where and what, without the value itself, which may be as long as its sender liked."""
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
        reason = f"is not JSON ({limits.get('error', '')}); {AN_OBJECT}"
    return where or "body", reason
