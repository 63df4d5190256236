"""The requests about drawings: what the page draws a world with, its states taken apart, edits of a state, pictures."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import FastAPI, Query
from fastapi.responses import Response

from sestra.drawing import changed, describe, draw_strip_svg, drawing_of
from sestra.serve import schemas
from sestra.serve.lookup import Lookup, RefusedError
from sestra.worlds import World


def add_drawings(app: FastAPI, lookup: Lookup, refusals: dict[int | str, dict[str, Any]]) -> None:
    @app.get("/api/drawing", responses=refusals)
    def drawing(world: Annotated[schemas.WorldName, Query()]) -> schemas.Drawing:
        """The shapes that the page draws states with, and the brushes that it edits them with."""
        known = lookup.world(world)
        drawn = drawing_of(known)
        return schemas.Drawing(
            world=world,
            title=title(known),
            place=drawn.own.place,
            columns=known.columns,
            brushes=[schemas.Brush(**vars(brush)) for brush in drawn.editor().brushes],
            hint=drawn.editor().hint,
            **drawn.sprites().plain(),
        )

    @app.post("/api/frames", responses=refusals)
    def frames(request: schemas.FramesRequest) -> schemas.Frames:
        """States as the page draws them: parts that come, go and move."""
        known = lookup.world(request.world)
        shown = []
        for number, frame in enumerate(request.frames):
            state = lookup.parse(known, frame.state, f"frames.{number}.state")
            since = lookup.parse(known, frame.since, f"frames.{number}.since")
            shown.append(_frame(known, state, since))
        return schemas.Frames(frames=shown)

    @app.post("/api/edit", responses=refusals)
    def edit(request: schemas.EditRequest) -> schemas.Edited:
        """The state after a brush was put on a place."""
        known = lookup.world(request.world)
        state, drawn = lookup.parse(known, request.state, "state"), drawing_of(known)
        names = [brush.name for brush in drawn.editor().brushes]
        if request.brush not in names:
            raise RefusedError("brush", f"there is no such brush; expected one of {', '.join(names)}")
        if request.place > drawn.places:
            raise RefusedError("place", f"{request.place}: expected a number from 1 to {drawn.places}")
        edited = drawn.editor().paint(state, request.place - 1, request.brush)
        return schemas.Edited(state=None if edited is None else known.format(edited))

    @app.post(
        "/api/picture",
        response_class=Response,
        responses={200: {"content": {"image/svg+xml": {}}, "description": "One picture of all frames"}, **refusals},
    )
    def picture(request: schemas.PictureRequest) -> Response:
        """Captions and states, one below the other, as one SVG."""
        world = lookup.world(request.world)
        frames = [(frame.caption, lookup.parse(world, frame.state, f"frames.{n}.state")) for n, frame in enumerate(request.frames)]
        return Response(draw_strip_svg(world, frames), media_type="image/svg+xml")


def title(world: World[Any]) -> str:
    return world.name.replace("_", " ").replace("-", " ").capitalize()


def _frame(world: World[Any], state: tuple[Any, ...], since: tuple[Any, ...]) -> schemas.ShownFrame:
    drawn, places = drawing_of(world), sorted(changed(world, since, state))
    return schemas.ShownFrame(
        parts=drawn.sprites().plain_parts(state, places),
        changed=places,
        description=describe(world, state),
        places=[drawn.describe_place(state, place) for place in range(drawn.places)],
    )
