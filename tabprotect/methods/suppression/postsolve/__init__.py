"""From a pattern to a result: completion, judgement, exact repair."""
