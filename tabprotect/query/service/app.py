"""The FastAPI application: one query in, one answer or a clear denial out."""

from __future__ import annotations

import math
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds
from tabprotect.query.guard.guard import Guard
from tabprotect.query.guard.sql import LONGEST
from tabprotect.query.service.keys import Keys, Rate

__all__ = ["create_app"]


class Query(BaseModel):
    """A query."""

    model_config = ConfigDict(extra="forbid")

    sql: str = Field(min_length=1, max_length=LONGEST, examples=["SELECT SUM(salary) FROM emp WHERE dep = 'Services'"])


class Reply(BaseModel):
    """An answer, or a denial with its reason; cells that are not published are null."""

    answered: bool
    columns: list[str]
    rows: list[list[str | int | float | bool | None]]
    reason: str


class Refusal(BaseModel):
    """Why a request was not looked at."""

    detail: str


@of_kinds()
def create_app(guard: Guard, keys: Keys, *, per_minute: int = 60) -> Any:
    """Make the service.

    Parameters
    ----------
    guard : Guard
    keys : Keys
    per_minute : int
        Queries that every user may ask in a minute.

    Returns
    -------
    fastapi.FastAPI

    Raises
    ------
    InputError
        If FastAPI is not installed (extra ``serve``).
    """
    try:
        from fastapi import Depends, FastAPI, HTTPException, Request
        from fastapi.exceptions import RequestValidationError
        from fastapi.responses import JSONResponse
        from fastapi.security import APIKeyHeader
    except ImportError as error:
        raise InputError("the service needs FastAPI: install tabprotect[serve]") from error

    rate = Rate(per_minute)
    header = APIKeyHeader(name="X-API-Key", auto_error=False)
    given = Depends(header)
    app = FastAPI(
        title="tabprotect query guard",
        description="Exact answers to statistical queries, as far as all answers together disclose nobody.",
        docs_url=None,
        redoc_url=None,
    )

    def who(key: str | None = given) -> str:
        user = keys.user(key) if key else None
        if user is None:
            raise HTTPException(401, "the header X-API-Key is missing or unknown", {"WWW-Authenticate": "ApiKey"})
        seconds = rate.wait(user)
        if seconds:
            after = {"Retry-After": str(math.ceil(seconds))}
            raise HTTPException(429, f"at most {rate.per_minute} queries a minute are answered", after)
        return user

    asking = Depends(who)
    refusals: dict[int | str, dict[str, Any]] = {
        401: {"model": Refusal, "description": "No key, or an unknown one"},
        429: {"model": Refusal, "description": "Too many queries"},
        503: {"model": Refusal, "description": "The log cannot be written, or the data have changed"},
    }

    @app.post("/query", responses=refusals)
    def query(asked: Query, user: str = asking) -> Reply:
        """Ask; denials come with status 200, answered = false and the reason."""
        return Reply(**guard.query(asked.sql, user=user).public())

    @app.get("/health")
    def health() -> dict[str, str]:
        """Say that the service runs."""
        return {"status": "ok"}

    @app.exception_handler(InputError)
    def unavailable(_request: Request, _error: InputError) -> JSONResponse:
        # the message may name files of the owner
        return JSONResponse({"detail": "nothing can be answered now; ask the owner of the data"}, 503)

    @app.exception_handler(RequestValidationError)
    def invalid(_request: Request, error: RequestValidationError) -> JSONResponse:
        # without what was sent: it may hold characters that no answer can
        kept = [{name: one[name] for name in ("loc", "msg", "type")} for one in error.errors()]
        return JSONResponse({"detail": kept}, 422)

    return app
