"""An intruder who reads what is published, and nothing of the program that made it.

Nothing here imports tabprotect; the standard library, numpy, scipy and HiGHS only.

What every intruder is taken to know:

1. the files of ``publish/``: every value that any of them shows, the codes, and which code is the sum of which others
   (the tree that the page folds). A code that is a total means the same in linked tables that lack its dimension;
2. that tables add up: in every dimension a code is the sum of its parts, a row that is left out being an empty cell;
3. what values can be at all: not below zero, or within the bounds that the office takes everybody to know;
4. that counts are whole numbers;
5. where the office shows empty cells as empty (``empty="structural"``) or leaves them out (``"drop"``), that a cell
   that is hidden is not empty: a hidden count is one at least;
6. of changed values, the method and its parameters, but not its random numbers: how far from a published value the
   true one can be. Of an adjusted table only what the office tells (cells that are fixed, a largest change).

A respondent, who speaks for the whole of a holding, knows besides the values of all cells in which he is alone. That
he is alone he knows, too.

What must not come of it, for the public and (where respondents are guarded against) for every respondent:

- a sensitive cell whose interval ends nearer to the true value than its rule's protection level, and nearer than it
  would with every cell hidden that can be hidden;
- a sum of two to eight hidden cells that the published values determine exactly, over any number of equations, and
  which the rules find sensitive as if it were a cell. For a respondent sums of cells that he does not know count,
  unless everybody can compute them, but for cells that hold nothing but his own. In p%, pq and threshold rules he is
  one more contributor, as large as the largest other one, in place of what he has in the sum; dominance rules know no
  respondent and judge the sum as it is;
- a sum of two to four hidden cells that have no part in common and in each of which the same contributor is the
  largest, which the rules find sensitive, and whose interval ends nearer to the true value than the level of the sum,
  and nearer than with every cell hidden: for the public and for every respondent. Of a contributor with more than eight
  such cells these are pairs, and all of them together.

Sensitivity and levels are computed from the microdata anew, by formulas of `benchmarks.intruder.rules`. What is not
attacked: intervals of other sums than those, differences of cells, what the choice of the hidden cells itself
tells whoever knows the algorithm, coalitions of respondents, and contributions known in cells of several respondents.
"""
