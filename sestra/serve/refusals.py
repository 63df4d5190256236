"""Error responses, which all have the same shape."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.responses import Response

from sestra.serve.schemas import Problem, Refusal


def refusal(status: int, problems: Iterable[tuple[str, str]], headers: dict[str, str] | None = None) -> Response:
    """An error response; ``problems`` are pairs of a field and a reason."""
    found = [Problem(where=where, reason=reason) for where, reason in problems]
    together = "; ".join(f"{problem.where}: {problem.reason}" if problem.where else problem.reason for problem in found)
    body = Refusal(reason=together, problems=found).model_dump_json().encode("utf-8", "backslashreplace")
    return Response(body, status, headers, media_type="application/json")
