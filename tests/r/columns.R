# Every kind of column goes to Python and back, and is the same.
arguments <- commandArgs(trailingOnly = TRUE)
source(arguments[1])
records <- data.frame(
  factor = factor(c("x", NA, "z"), levels = c("z", "y", "x")),
  ordered = factor(c("lo", "hi", NA), levels = c("lo", "hi"), ordered = TRUE),
  integer = c(1L, NA, -3L),
  all_integer = c(.Machine$integer.max, 0L, -.Machine$integer.max),
  double = c(1 / 3, NA, -2),
  whole = c(1, 2, 3),
  large = c(2^53, 1e300, 5e-324),
  text = c("\u00fc \u4e2d", NA, "b"),
  logical = c(TRUE, NA, FALSE),
  all_logical = c(TRUE, FALSE, TRUE),
  date = as.Date(c("2024-02-29", NA, "1899-12-31")),
  time = as.POSIXct(c("2024-01-01 10:00:00", NA, "2020-07-01 01:02:03"), tz = "Europe/Paris"),
  midnight = as.POSIXct(c("2024-01-01", "2024-01-02", NA), tz = "UTC"),
  nothing = c(NA, NA, NA),
  no_text = c(NA_character_, NA_character_, NA_character_),
  "a name" = 1:3,
  stringsAsFactors = FALSE, check.names = FALSE
)
before <- records
back <- tp_data_frame(tp_frame(records), like = records)
stopifnot(identical(names(back), names(records)))
for (name in names(records)) {
  if (!identical(back[[name]], records[[name]])) {
    str(records[[name]])
    str(back[[name]])
    stop("column ", name, " is not the same")
  }
}
stopifnot(identical(records, before))

one <- records[1, , drop = FALSE]
stopifnot(identical(tp_data_frame(tp_frame(one), like = one), one))
none <- records[0, c("factor", "integer", "double", "text", "date", "all_logical")]
empty <- tp_data_frame(tp_frame(none), like = none)
stopifnot(nrow(empty) == 0, identical(names(empty), names(none)), is.factor(empty$factor), is.double(empty$double))

# what Python sees
types <- reticulate::py_to_r(tp_frame(records)$dtypes$astype("str")$to_dict())
stopifnot(types$factor == "category", types$integer == "Int64", types$double == "float64", types$logical == "boolean",
          grepl("^datetime64", types$date), grepl("Europe/Paris", types$time))
stopifnot(reticulate::py_to_r(tp_frame(records)$ordered$cat$ordered))

fails <- function(expression, says) {
  words <- tryCatch({
    expression
    "nothing"
  }, error = conditionMessage)
  if (!grepl(says, words)) stop("'", words, "' instead of '", says, "'")
}
fails(tp_frame(list(a = 1)), "data must be a data.frame, not list")
fails(tp_frame(data.frame(a = 1:2, b = I(list(1, 2)))), "column 'b' is of class AsIs")
fails(tp_frame(data.frame(z = complex(real = 1))), "column 'z' is of type complex")
fails(tp_protect(records, "threshold=2", by = c("factr", "text")), "^no column 'factr'; did you mean 'factor'")
fails(tp_protect(records, "treshold=2", by = "all_integer"), "did you mean 'threshold'|treshold")
fails(tp_mask(records, tp_pram("factor"), keys = "fator"), "fator")
fails(tp_step("Microaggregation", list("whole"), k = -1), "k")
fails(tp_release(records), "no result of tp_protect")
cat("done\n")
