"""Which SQL is understood: sums, counts, averages and extremes with conditions, groups and joins along declared keys.

Everything is read into a tree, checked against a list of what is allowed, and written anew: no text of the user reaches
the database, neither comments nor casts nor functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from tabprotect.errors import InputError, did_you_mean
from tabprotect.query.guard.conditions import condition
from tabprotect.query.guard.policy import Policy
from tabprotect.query.guard.request import Aggregate, Request
from tabprotect.query.guard.sorting import inner_of, limit_of, ordering, place_of
from tabprotect.table.duck import quoted

__all__ = ["parse"]

LONGEST: Final = 20_000
"""Characters of a query; longer ones are refused unread."""

DEEPEST: Final = 60

_AGGREGATES: Final = {"Sum": "SUM", "Count": "COUNT", "Avg": "AVG", "Min": "MIN", "Max": "MAX"}


def parse(sql: str, policy: Policy, dialect: str) -> Request:
    """Read a query.

    Parameters
    ----------
    sql : str
    policy : Policy
    dialect : {'duckdb', 'postgres'}

    Raises
    ------
    InputError
        What is not allowed, and what is instead.

    Examples
    --------
    >>> from tabprotect.query.guard.policy import Field, TablePolicy
    >>> p = Policy("emp.id", {"emp": TablePolicy("id", ("dep",), {"salary": Field()})}, "nk=2,85", 3)
    >>> parse("select sum(salary) from emp where dep = 1 -- or 1=1", p, "duckdb").source
    'FROM "emp" WHERE "emp"."dep" = 1'
    >>> parse("select sum(salary) from emp where salary > 50", p, "duckdb")
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: column emp.salary is confidential: it may be summed, not used in conditions or groups
    """
    try:
        import sqlglot
        from sqlglot import errors
    except ImportError as error:
        raise InputError("queries in SQL need sqlglot: install tabprotect[query]") from error
    if len(sql) > LONGEST:
        raise InputError(f"the query has {len(sql)} characters; at most {LONGEST} are read")
    if wrong := sorted({f"U+{ord(c):04X}" for c in sql if c == "\0" or "\ud800" <= c <= "\udfff"}):
        raise InputError(f"the query holds {wrong[0]}, which is no character of a text")
    try:
        trees = sqlglot.parse(sql, dialect=dialect)
        if len(trees) != 1 or trees[0] is None:
            raise InputError(f"one query at a time; there are {len(trees)} statements")
        return _Reader(policy, dialect).read(trees[0])
    except (errors.SqlglotError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error).splitlines()[0]
        raise InputError(f"the query is not understood: {reason}") from None


class _Reader:
    def __init__(self, policy: Policy, dialect: str) -> None:
        self.policy, self.dialect = policy, dialect
        self.tables: dict[str, str] = {}

    def read(self, tree: Any) -> Request:
        kind = type(tree).__name__
        if kind != "Select":
            raise InputError(f"only SELECT is answered, not {kind.upper()}")
        allowed = {"expressions", "from", "from_", "joins", "where", "group", "kind", "order", "limit"}
        for name, value in tree.args.items():
            if value and name not in allowed:
                word = "WITH" if name.startswith("with") else name.strip("_").upper().replace("_", " ")
                raise InputError(f"{word} is not allowed; SELECT, FROM, JOIN, WHERE, GROUP BY, ORDER BY and LIMIT are")
        _bounded(tree)
        start = tree.args.get("from_") or tree.args.get("from")
        if start is None:
            raise InputError("FROM is missing")
        self._table(start.this)
        joins = [self._join(join) for join in tree.args.get("joins") or ()]
        root = self._root(joins)
        groups = self._groups(tree.args.get("group"), tree.expressions)
        request = self._selected(tree.expressions, root, groups)
        return replace(
            request,
            source=self._source(root, joins, tree.args.get("where")),
            order=ordering(tree.args.get("order"), tree.expressions),
            limit=limit_of(tree.args.get("limit")),
        )

    def _table(self, node: Any) -> str:
        if type(node).__name__ != "Table" or type(node.this).__name__ != "Identifier":
            raise InputError("FROM and JOIN take tables by name, nothing else")
        extra = [k for k, v in node.args.items() if v and k not in ("this", "alias")]
        alias = node.args.get("alias")
        if extra or (alias is not None and alias.args.get("columns")):
            raise InputError(f"table '{node.name}': only a name and an alias are allowed")
        name = _named(node.name, self.policy.tables, "table")
        word = alias.name if alias is not None else name
        if word.lower() in self.tables or name in self.tables.values():
            raise InputError(f"table '{name}' stands twice in the query; rows would be counted more than once")
        self.tables[word.lower()] = name
        return name

    def _join(self, node: Any) -> tuple[str, str, str]:
        bad = [k for k, v in node.args.items() if v and k not in ("this", "on", "using", "kind")]
        on, using = node.args.get("on"), node.args.get("using") or []
        if bad or (node.args.get("kind") or "INNER").upper() != "INNER" or (on is None) != (len(using) == 1):
            raise InputError(
                "joins are written JOIN table ON child.column = parent.key or JOIN table USING (key), inner ones only"
            )
        before = list(self.tables.values())
        joined = self._table(node.this)
        if using:
            return self._using(using[0].name, joined, before)
        while type(on).__name__ == "Paren":
            on = on.this
        if type(on).__name__ != "EQ" or any(type(s).__name__ != "Column" for s in (on.this, on.expression)):
            raise InputError("a join condition is one equality of two columns")
        left, right = self._find(on.this), self._find(on.expression)
        for child, parent in ((left, right), (right, left)):
            if self.policy.tables[child[0]].joins.get(child[1]) == f"{parent[0]}.{parent[1]}":
                return child[0], child[1], parent[0]
        raise InputError(f"{'.'.join(left)} = {'.'.join(right)} is no declared key; joins go along declared keys only")

    def _using(self, word: str, joined: str, before: list[str]) -> tuple[str, str, str]:
        """Return the declared key along which a table is joined by a column of the same name."""
        for other in before:
            for child, parent in ((other, joined), (joined, other)):
                for column, target in self.policy.tables[child].joins.items():
                    same = column.lower() == word.lower() == target.rpartition(".")[2].lower()
                    if same and target.rpartition(".")[0] == parent:
                        return child, column, parent
        raise InputError(f"USING ({word}) is no declared key; joins go along declared keys only")

    def _root(self, joins: list[tuple[str, str, str]]) -> str:
        parents = [parent for _, _, parent in joins]
        roots = [name for name in self.tables.values() if name not in parents]
        if len(roots) != 1 or len(parents) != len(set(parents)):
            raise InputError("the join would multiply rows: all joins must lead from one table to keys of others")
        return roots[0]

    def _find(self, node: Any) -> tuple[str, str]:
        """Return table and column of a column node, whatever its role."""
        if any(v for k, v in node.args.items() if k not in ("this", "table")) or type(node.this).__name__ == "Star":
            raise InputError(f"column '{node.sql()}': write table.column or column")
        word = node.table.lower()
        if word and word not in self.tables:
            raise InputError(f"table '{node.table}' is not in FROM{did_you_mean(node.table, self.tables)}")
        where = [self.tables[word]] if word else list(self.tables.values())
        found = [(t, c) for t in where for c in self._columns(t) if c.lower() == node.name.lower()]
        if not found:
            names = [c for t in where for c in self._columns(t)]
            raise InputError(f"column '{node.name}' is not open to queries{did_you_mean(node.name, names)}")
        if len(found) > 1:
            raise InputError(f"column '{node.name}' is in several tables; write table.column")
        return found[0]

    def _columns(self, table: str) -> list[str]:
        t = self.policy.tables[table]
        return list(dict.fromkeys([*t.public, *t.confidential, *t.joins, t.key]))

    def _public(self, node: Any) -> tuple[str, str]:
        table, column = self._find(node)
        if column in self.policy.tables[table].confidential:
            raise InputError(
                f"column {table}.{column} is confidential: it may be summed, not used in conditions or groups"
            )
        if column not in self.policy.tables[table].public:
            raise InputError(f"column {table}.{column} is for joins only")
        return table, column

    def _groups(self, group: Any, selected: list[Any]) -> list[tuple[str, str]]:
        if group is None:
            return []
        if any(v for k, v in group.args.items() if k not in ("expressions", "all")):
            raise InputError("GROUP BY takes public columns; ROLLUP, CUBE and GROUPING SETS are not allowed")
        columns = [inner_of(node) for node in selected] if group.args.get("all") else group.expressions
        if group.args.get("all"):
            columns = [node for node in columns if type(node).__name__ == "Column"]
        found = [self._meant(node, selected) for node in columns]
        if any(type(node).__name__ != "Column" for node in found):
            raise InputError("GROUP BY takes public columns by name, or by their place in SELECT")
        return list(dict.fromkeys(self._public(node) for node in found))

    def _meant(self, node: Any, selected: list[Any]) -> Any:
        """Return the column that a place in SELECT or an alias stands for; a column of that name comes first."""
        if type(node).__name__ == "Literal" and not node.is_string:
            return inner_of(place_of(node, selected))
        if type(node).__name__ == "Column" and not node.table:
            known = {column.lower() for table in self.tables.values() for column in self._columns(table)}
            if node.name.lower() not in known:
                return next((inner_of(s) for s in selected if s.alias.lower() == node.name.lower()), node)
        return node

    def _selected(self, expressions: Iterable[Any], root: str, groups: list[tuple[str, str]]) -> Request:
        aggregates: list[Aggregate] = []
        output, names = [], [column for _, column in groups]
        for node in expressions:
            name, inner = node.alias, inner_of(node)
            if type(inner).__name__ == "Column":
                where = self._public(inner)
                if where not in groups:
                    raise InputError(f"column '{inner.name}' is selected but not in GROUP BY")
                output.append(-1 - groups.index(where))
                names[groups.index(where)] = name or where[1]
            else:
                output.append(len(aggregates))
                aggregates.append(self._aggregate(inner, root, name))
        if not aggregates:
            raise InputError("nothing to add up: select SUM, COUNT, AVG, MIN or MAX")
        return Request(root, tuple(aggregates), tuple(groups), tuple(output), "", tuple(names))

    def _aggregate(self, node: Any, root: str, name: str) -> Aggregate:
        function = _AGGREGATES.get(type(node).__name__)
        if function is None:
            raise InputError(f"'{node.sql()[:60]}' is not allowed; select SUM, COUNT, AVG, MIN, MAX or a group column")
        if any(v for k, v in node.args.items() if k not in ("this", "big_int")):
            raise InputError(f"{function} takes one column")
        if type(node.this).__name__ == "Star" and function == "COUNT":
            return Aggregate("COUNT", "", name or "count")
        if type(node.this).__name__ != "Column":
            raise InputError(f"{function} takes one column, no expression and no DISTINCT")
        table, column = self._find(node.this)
        if table != root:
            raise InputError(
                f"{function}({table}.{column}): the join repeats rows of {table}; {root} rows are added up"
            )
        if function == "COUNT" and column not in self.policy.tables[root].confidential:
            raise InputError(f"write COUNT(*), and {column} IS NOT NULL in the condition where that is meant")
        if column not in self.policy.tables[root].confidential:
            self._public(node.this)
        return Aggregate(function, column, name or function.lower())

    def _source(self, root: str, joins: list[tuple[str, str, str]], where: Any) -> str:
        text = f"FROM {quoted(root)}"
        # parents of parents come after them, in whatever order they were written
        todo, there = list(joins), {root}
        while todo:
            ready = next((join for join in todo if join[0] in there), None)
            if ready is None:
                raise InputError("the joins do not hang on one table; lead every join to a table that is there")
            child, column, parent = ready
            key = self.policy.tables[parent].key
            text += f" JOIN {quoted(parent)} ON {quoted(child)}.{quoted(column)} = {quoted(parent)}.{quoted(key)}"
            there.add(parent)
            todo.remove(ready)
        if where is not None:
            text += f" WHERE {condition(where.this, self._public, self.dialect)}"
        return text


def _bounded(tree: Any) -> None:
    if max((depth for depth in _depths(tree)), default=0) > DEEPEST:
        raise InputError(f"the query is nested more than {DEEPEST} levels deep")


def _depths(tree: Any) -> Iterator[int]:
    from sqlglot import exp

    stack = [(tree, 1)]
    while stack:
        node, depth = stack.pop()
        yield depth
        # a long chain of AND or OR is no nesting that anybody wrote
        flat = isinstance(node, exp.Connector)
        stack += [(child, depth + (not flat)) for child in node.iter_expressions()]


def _named(word: str, known: Iterable[str], what: str) -> str:
    names = list(known)
    for name in names:
        if name.lower() == word.lower():
            return name
    raise InputError(f"{what} '{word}' is not open to queries{did_you_mean(word, names)}")
