"""The web application: the HTTP interface, and the page that uses it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Collection, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, get_args

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, Response
from starlette.exceptions import HTTPException

from sestra.agent import Agent, Context
from sestra.agent.limits import max_state_length
from sestra.agent.options import How
from sestra.agent.parsing import check_word_count, count_words
from sestra.agent.trace import Turn
from sestra.agent.trace_json import turn_to_json
from sestra.data.examples import in_words
from sestra.drawing.attention_rows import TITLES
from sestra.errors import InputError
from sestra.serve import phrases, schemas
from sestra.serve.admission import MAX_PER_CLIENT, Admission
from sestra.serve.batching import Batcher, BusyError, ClosedError
from sestra.serve.drawings import add_drawings, title
from sestra.serve.lookup import Lookup, RefusedError, checked
from sestra.serve.metrics import MEDIA_TYPE, Metrics
from sestra.serve.middleware import Guard
from sestra.serve.refusals import refusal
from sestra.serve.watch import WatchedRun, add_watch
from sestra.version import __version__

STATIC = Path(__file__).parent / "static"
EXPECTED_BODY = "send an object as the OpenAPI document describes it"
MEDIA_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
DESCRIPTION = (
    "Agents that follow sequences of natural-language instructions. The server keeps no state between requests. "
    "Every error response has the same shape and says what is wrong, and where."
)


Responses = dict[int | str, dict[str, Any]]


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


def create_app(
    agents: Sequence[Agent],
    hosts: Collection[str] | None = None,
    *,
    api_key: str | None = None,
    per_client: int = MAX_PER_CLIENT,
    metrics: Metrics | None = None,
    watched: WatchedRun | None = None,
) -> FastAPI:
    """The application with these agents, of which a world's first is used if none is named.

    ``hosts`` are the host names that it accepts, by default any; ``watched`` is a run that has a page of its own, also without any agent.
    When the server is to stop, close its ``state.admission``, and its ``state.batcher`` when nothing more is to be answered.
    """
    lookup = Lookup(agents, [watched.world] if watched else [])
    limits = schemas.Limits(state=lookup.longest_state, body=max(schemas.MAX_BODY_BYTES, 2 * schemas.MAX_FRAMES * lookup.longest_state))
    pages = {f"/{path.name}" for path in STATIC.iterdir()} | {"/"}
    admission = Admission(metrics, api_key=api_key, public=pages, per_client=per_client)
    batcher = Batcher(
        {_key(agent, how): partial(_turns_as_json, agent, how, admission.metrics) for agent in agents for how in get_args(How)}
    )

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
    _add_probes(app, lookup.names, admission)
    _add_queries(app, lookup, limits, watched.name if watched else None)
    add_drawings(app, lookup, _INVALID)
    if watched:
        add_watch(app, watched, _INVALID)

    @app.post("/api/follow", response_model=Turn, responses=_INVALID)
    async def follow(body: schemas.FollowRequest, request: Request) -> Response:
        """Follow one instruction; requests that arrive at the same time are answered as one batch."""
        begun, words = time.perf_counter(), _count_words(body)
        agent = lookup.agent(body.world, body.agent)
        for number, turn in enumerate(body.history):
            lookup.parse(agent.world, turn.state, f"history.{number}.state")
        lookup.parse(agent.world, body.state, "state")
        for number, action in enumerate(body.actions):
            checked(f"actions.{number}", agent.world.parse_action, action)
        context = Context(
            (*(turn.state for turn in body.history), body.state),
            (*(turn.instruction for turn in body.history), body.instruction),
            tuple(body.actions),
        )
        item, size = (context, body.seed, body.caution), words + len(context.instructions)
        try:
            answer = await _until_disconnected(request, batcher.submit(_key(agent, body.how), item, size))
        except BusyError as error:
            raise HTTPException(429, "too many requests are waiting; try again in a second", {"Retry-After": "1"}) from error
        except ClosedError as error:
            closed = {"Retry-After": "5", "Connection": "close"}
            raise HTTPException(503, "the server is stopping; try again when it is back", closed) from error
        if answer is None:
            return Response(status_code=499)
        admission.metrics.count_followed(time.perf_counter() - begun)
        return Response(answer, media_type="application/json")

    _add_page(app, "watch.html" if watched and not agents else "index.html")
    app.add_middleware(Guard, hosts=hosts, admission=admission, largest_body=limits.body)
    return app


Item = tuple[Context, int | None, float | None]
"""A context, the seed of a sample, and the caution."""


def _key(agent: Agent, how: How) -> str:
    """What requests that are answered as one batch have in common."""
    return f"{agent.name} {how}"


def _turns_as_json(agent: Agent, how: How, metrics: Metrics, items: Sequence[Item]) -> list[bytes]:
    """The turn in each context; samples have seeds of their own, so they are drawn one by one."""
    metrics.count_batch(len(items))
    if how == "sample":
        turns = [turn for context, seed, caution in items for turn in agent.take_turns([context], how=how, seed=seed, caution=caution)]
        return [turn_to_json(turn) for turn in turns]
    answers: dict[int, bytes] = {}
    for caution in {each for _, _, each in items}:
        chosen = [number for number, (_, _, each) in enumerate(items) if each == caution]
        turns = agent.take_turns([items[number][0] for number in chosen], how=how, caution=caution)
        answers |= dict(zip(chosen, map(turn_to_json, turns), strict=True))
    return [answers[number] for number in range(len(items))]


def _count_words(body: schemas.FollowRequest) -> int:
    """The words of all instructions, counted before anything else is done with them."""
    earlier = [(f"history.{number}.instruction", turn.instruction) for number, turn in enumerate(body.history)]
    count = sum(checked(where, count_words, instruction) for where, instruction in (*earlier, ("instruction", body.instruction)))
    checked("history", check_word_count, count)
    return count


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


def _add_queries(app: FastAPI, lookup: Lookup, limits: schemas.Limits, watched: str | None) -> None:
    """Everything that needs no policy and no drawing."""

    @app.get("/api/worlds")
    async def worlds() -> schemas.Worlds:
        """The worlds that the server has agents for."""
        summaries = [_summary(lookup.agents(name)) for name in lookup.names]
        return schemas.Worlds(worlds=summaries, watched=watched, attention=TITLES, limits=limits)

    @app.get("/api/examples", responses=_INVALID)
    def examples(
        world: WorldQuery, count: Annotated[int, Query(ge=1, le=schemas.MAX_EXAMPLES)] = 6, seed: OptionalSeedQuery = None
    ) -> schemas.Examples:
        """Start states with instructions: built-in, stored and generated ones; with a seed, generated ones or random states."""
        agent = lookup.agent(world)
        return schemas.Examples(examples=phrases.examples(agent.world, count, seed, agent.about.examples))

    @app.get("/api/suggestions", responses=_INVALID)
    def suggestions(world: WorldQuery, state: StateQuery, spoken: bool = False, seed: SeedQuery = 0) -> schemas.Suggestions:
        """Instructions that make sense in a state; ``spoken`` means that there is an earlier turn to refer to."""
        agent = lookup.agent(world)
        parsed = lookup.parse(agent.world, state, "state")
        found = phrases.suggestions(agent.world, parsed, spoken=spoken, seed=seed, stored=agent.about.examples)
        return schemas.Suggestions(suggestions=found)


def _summary(agents: Sequence[Agent]) -> schemas.WorldSummary:
    """Of a world, by all its agents."""
    world = agents[0].world
    return schemas.WorldSummary(
        name=world.name,
        title=title(world),
        agent=agents[0].name,
        agents=[
            schemas.AgentSummary(name=agent.name, label=phrases.agent_label(agent), description=phrases.agent_in_words(agent))
            for agent in agents
        ],
        actions={str(action): in_words(world, action) for action in world.actions},
        state_length=max_state_length(world),
    )


def _add_page(app: FastAPI, first: str) -> None:
    """The files of the pages, and no others."""
    files = {path.name: path for path in STATIC.iterdir() if path.suffix in MEDIA_TYPES}

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def page() -> Response:
        return FileResponse(files[first], media_type=MEDIA_TYPES[".html"])

    @app.api_route("/{name}", methods=["GET", "HEAD"], include_in_schema=False)
    async def file(name: str) -> Response:
        if name not in files:
            raise HTTPException(404, "there is nothing at this address; the page is at /, the interface is described at /openapi.json")
        return FileResponse(files[name], media_type=MEDIA_TYPES[files[name].suffix])


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
