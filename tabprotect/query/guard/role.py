"""The database role of the guard: it reads what the policy names, and can do nothing else."""

from __future__ import annotations

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds
from tabprotect.query.guard.policy import Policy
from tabprotect.table.duck import quoted

__all__ = ["read_only_role"]


@of_kinds()
def read_only_role(policy: Policy, dialect: str = "postgres", role: str = "tabprotect_guard") -> str:
    """Return the SQL that creates the role (it is printed, not run; give it a password yourself).

    Only the columns of the policy are granted. What PostgreSQL lets every role do (temporary tables, and in versions
    before 15 tables of its own) is taken from all roles at once or from none, so that these lines are comments. DuckDB
    has no roles: its file is opened read-only instead.

    Raises
    ------
    InputError
        For any other database.

    Examples
    --------
    >>> from tabprotect.query.guard.policy import Field, TablePolicy
    >>> p = Policy("emp.id", {"emp": TablePolicy("id", ("dep",), {"salary": Field()})}, "nk=2,85", 3)
    >>> print(read_only_role(p))
    CREATE ROLE "tabprotect_guard" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
    ALTER ROLE "tabprotect_guard" SET default_transaction_read_only = on;
    GRANT SELECT ("id", "dep", "salary") ON "emp" TO "tabprotect_guard";
    -- every role may do this unless it is taken from all of them:
    -- REVOKE TEMPORARY ON DATABASE name FROM PUBLIC;
    -- REVOKE CREATE ON SCHEMA public FROM PUBLIC;
    """
    if dialect == "duckdb":
        return "-- DuckDB has no roles; open the file with duckdb.connect(path, read_only=True)"
    if dialect != "postgres":
        raise InputError(f"roles are written for 'postgres' (and not needed for 'duckdb'), not for '{dialect}'")
    name = quoted(role)
    lines = [
        f"CREATE ROLE {name} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;",
        f"ALTER ROLE {name} SET default_transaction_read_only = on;",
    ]
    unit_table, _, unit = policy.unit.partition(".")
    for table, t in policy.tables.items():
        columns = dict.fromkeys([t.key, *t.public, *t.confidential, *t.joins, *([unit] if table == unit_table else [])])
        lines.append(f"GRANT SELECT ({', '.join(map(quoted, columns))}) ON {quoted(table)} TO {name};")
    lines += [
        "-- every role may do this unless it is taken from all of them:",
        "-- REVOKE TEMPORARY ON DATABASE name FROM PUBLIC;",
        "-- REVOKE CREATE ON SCHEMA public FROM PUBLIC;",
    ]
    return "\n".join(lines)
