"""Step 4 of the answerability test: after one more answer, whether all that is sensitive can still move far enough."""

from __future__ import annotations

from dataclasses import dataclass, field

from tabprotect.query.audit.decision import Denial
from tabprotect.query.audit.options import DEFAULTS, Options
from tabprotect.query.audit.records import Records
from tabprotect.query.audit.state import State
from tabprotect.query.audit.task import Task
from tabprotect.query.audit.witnesses import Worlds

__all__ = ["Safety", "judge"]


@dataclass(eq=False)
class Safety:
    """The outcome.

    Attributes
    ----------
    denial : Denial or None
        None when safe.
    text : str
        What was found (internal).
    worlds : list of Worlds
        New ones, for every intruder.
    work : int
        What was spent.
    out : list of int
        Queries that were left out so that demands could be met; see `tabprotect.query.audit.conflicts`.
    """

    denial: Denial | None = None
    text: str = ""
    worlds: list[Worlds] = field(default_factory=list)
    work: int = 0
    out: list[int] = field(default_factory=list)


def judge(state: State, records: Records, work: int, *, explain: bool = True, options: Options = DEFAULTS) -> Safety:
    """Look at every sensitive class, for every rule, side and intruder.

    Parameters
    ----------
    state : State
        With the new queries in it.
    records : Records
    work : int
        Simplex iterations that may be spent; when they are used up the answer is `Denial.UNDECIDED`.
    explain : bool
        Whether `text` says what could be inferred, for which the interval of a sum is worked out.
    options : Options
    """
    result, sensitive = Safety(), 0
    for k in state.knowledge:
        task = Task.of(state, records, k, work, explain, options)
        denied = task.run()
        work -= task.search.spent
        result.work += task.search.spent
        result.worlds.append(task.found)
        sensitive = max(sensitive, task.targets)
        if denied is not None:
            result.denial, result.text = denied
            return result
    n = int(state.partition.asked.sum())
    result.text = f"{n} classes; " + (
        f"all of the {sensitive} demands of sensitive ones are met by other data sets with the same answers"
        if sensitive
        else "none is sensitive, and so no union of them"
    )
    return result
