# tabprotect from R, through reticulate: a data.frame goes in, a data.frame comes out.
#
#   library(reticulate)
#   source(file.path(dirname(import("tabprotect")$`__file__`), "r", "tabprotect.R"))
#
# Factors, NA, integer, logical, character, Date and POSIXct columns keep what they mean on both ways. A call that fails
# stops with the message of tabprotect.

.tp_modules <- new.env(parent = emptyenv())

.tp_import <- function(name) {
  if (!exists(name, envir = .tp_modules)) {
    assign(name, reticulate::import(name, convert = FALSE), envir = .tp_modules)
  }
  get(name, envir = .tp_modules)
}

# Evaluate a call of Python; its error becomes one of R without the call and the name of the class.
.tp_try <- function(expression) {
  tryCatch(expression, error = function(condition) {
    words <- sub("^(tabprotect\\.errors\\.)?[A-Za-z]*Error: ", "", conditionMessage(condition))
    words <- sub("\n.*Run `?reticulate::py_last_error.*$", "", words)
    stop(trimws(words), call. = FALSE)
  })
}

# A whole number of R is a double as a rule: 3 is 3L for Python. Vectors of length 1 stay scalars; use as.list for lists.
.tp_argument <- function(x) {
  if (is.list(x) && !is.data.frame(x) && !inherits(x, "python.builtin.object")) {
    return(lapply(x, .tp_argument))
  }
  if (is.double(x) && is.null(attributes(x)) && !anyNA(x) && all(x == round(x)) && all(abs(x) <= .Machine$integer.max)) {
    return(as.integer(x))
  }
  x
}

# Numbers go over as bytes: the NumPy of Python may be newer than the one that reticulate was built for.
.tp_array <- function(x, type) {
  bytes <- writeBin(if (is.double(x)) as.vector(x) else as.integer(x), raw(), endian = "little")
  .tp_import("numpy")$frombuffer(reticulate::r_to_py(bytes), dtype = if (is.double(x)) "<f8" else "<i4")$astype(type)
}

.tp_bytes <- function(array, type, what, size) {
  bytes <- reticulate::py_to_r(.tp_import("builtins")$bytearray(array$astype(type)$tobytes()))
  readBin(bytes, what, n = length(bytes) / size, size = size, endian = "little")
}

.tp_doubles <- function(array) .tp_bytes(array, "<f8", "double", 8L)
.tp_integers <- function(array) .tp_bytes(array, "<i4", "integer", 4L)

.tp_texts <- function(codes, levels) {
  pandas <- .tp_import("pandas")
  codes[is.na(codes)] <- 0L
  labels <- reticulate::r_to_py(as.list(enc2utf8(levels)))
  list(codes = .tp_array(codes - 1L, "int64"), labels = labels, pandas = pandas)
}

.tp_column <- function(x, name) {
  pandas <- .tp_import("pandas")
  if (is.factor(x)) {
    made <- .tp_texts(as.integer(x), levels(x))
    return(pandas$Categorical$from_codes(made$codes, made$labels, ordered = is.ordered(x)))
  }
  if (inherits(x, "Date")) {
    return(pandas$to_datetime(.tp_array(as.double(x), "float64"), unit = "D"))
  }
  if (inherits(x, "POSIXct")) {
    zone <- attr(x, "tzone")
    made <- pandas$to_datetime(.tp_array(as.double(x), "float64"), unit = "s", utc = TRUE)
    return(made$tz_convert(if (is.null(zone) || zone[1] == "") "UTC" else zone[1]))
  }
  if (is.object(x) || !is.null(dim(x)) || is.list(x)) {
    stop(sprintf("column '%s' is of class %s; give a factor, numbers, text, logical, Date or POSIXct", name, class(x)[1]),
         call. = FALSE)
  }
  gone <- is.na(x)
  if (is.logical(x)) {
    if (!any(gone)) return(.tp_array(x, "bool"))
    return(pandas$arrays$BooleanArray(.tp_array(x & !gone, "bool"), .tp_array(gone, "bool")))
  }
  if (is.integer(x)) {
    if (!any(gone)) return(.tp_array(x, "int64"))
    x[gone] <- 0L
    return(pandas$arrays$IntegerArray(.tp_array(x, "int64"), .tp_array(gone, "bool")))
  }
  if (is.double(x)) {
    x[gone] <- NaN
    return(.tp_array(x, "float64"))
  }
  if (is.character(x)) {
    made <- .tp_texts(match(x, unique(x[!gone])), unique(x[!gone]))
    return(pandas$Categorical$from_codes(made$codes, made$labels)$astype("object"))
  }
  stop(sprintf("column '%s' is of type %s; give a factor, numbers, text, logical, Date or POSIXct", name, typeof(x)),
       call. = FALSE)
}

#' A data.frame as a pandas frame.
tp_frame <- function(data) {
  if (!is.data.frame(data)) stop("data must be a data.frame, not ", class(data)[1], call. = FALSE)
  pandas <- .tp_import("pandas")
  columns <- Map(.tp_column, data, names(data))
  made <- .tp_dict(columns)
  .tp_try(pandas$DataFrame(made, index = pandas$RangeIndex(as.integer(nrow(data)))))
}

.tp_vector <- function(series, like) {
  pandas <- .tp_import("pandas")
  kind <- reticulate::py_to_r(.tp_import("builtins")$str(series$dtype))
  gone <- .tp_integers(series$isna()$to_numpy(dtype = "bool")) == 1L
  numbers <- function(zero) .tp_doubles(series$fillna(zero)$to_numpy(dtype = "float64"))
  if (kind == "category") {
    codes <- .tp_integers(series$cat$codes$to_numpy()) + 1L
    labels <- as.character(unlist(reticulate::py_to_r(series$cat$categories$astype("str")$tolist())))
    codes[gone] <- NA_integer_
    return(factor(labels[codes], levels = labels, ordered = reticulate::py_to_r(series$cat$ordered)))
  }
  if (kind %in% c("bool", "boolean")) {
    made <- numbers(FALSE) == 1
    made[gone] <- NA
    return(made)
  }
  if (grepl("^u?int", kind, ignore.case = TRUE)) {
    made <- numbers(0L)
    made[gone] <- NA_real_
    whole <- !is.double(like) && all(abs(made[!gone]) <= .Machine$integer.max)
    return(if (whole) as.integer(made) else made)
  }
  if (grepl("^(float|double)", kind, ignore.case = TRUE)) {
    made <- numbers(0)
    made[gone] <- NA_real_
    return(made)
  }
  if (grepl("^datetime64", kind)) {
    zone <- sub("^datetime64\\[[a-z]+(, )?(.*)\\]$", "\\2", kind)
    if (zone != "") series <- series$dt$tz_convert("UTC")$dt$tz_localize(NULL)
    seconds <- .tp_doubles(series$to_numpy(dtype = "datetime64[us]")$astype("int64")) / 1e6
    seconds[gone] <- NA_real_
    if (zone != "" || inherits(like, "POSIXct") || any(seconds[!gone] %% 86400 != 0)) {
      return(as.POSIXct(seconds, origin = "1970-01-01", tz = if (zone == "") "UTC" else zone))
    }
    return(as.Date(seconds / 86400, origin = "1970-01-01"))
  }
  found <- pandas$factorize(series$astype("object"))
  codes <- .tp_integers(found[0]) + 1L
  labels <- as.character(unlist(reticulate::py_to_r(pandas$Index(found[1])$astype("str")$tolist())))
  codes[codes == 0L] <- NA_integer_
  made <- labels[codes]
  if (is.factor(like)) factor(made, levels = union(levels(like), unique(made[!is.na(made)]))) else made
}

#' A pandas frame as a data.frame; columns are of the classes of those of `like` that have the same name.
tp_data_frame <- function(frame, like = NULL) {
  names <- as.character(unlist(reticulate::py_to_r(frame$columns$tolist())))
  columns <- lapply(seq_along(names), function(k) {
    .tp_vector(frame$iloc$`__getitem__`(reticulate::tuple(.tp_import("builtins")$slice(NULL), k - 1L)), like[[names[k]]])
  })
  names(columns) <- names
  as.data.frame(columns, stringsAsFactors = FALSE, check.names = FALSE, optional = TRUE)
}

.tp_published <- function(release, data) {
  made <- tp_data_frame(.tp_try(release$published), like = data)
  attr(made, "release") <- release
  made
}

#' A method of tabprotect: tp_method("Round", base = 5), tp_method("Suppress", method = "exact").
tp_method <- function(name, ...) .tp_try(do.call(.tp_import("tabprotect")[[name]], .tp_argument(list(...))))

#' A code list: a total, and for every group its parts: tp_hierarchy(Total = c("NO", "W"), NO = c("N", "O")).
tp_hierarchy <- function(...) {
  groups <- lapply(list(...), function(parts) reticulate::tuple(as.list(as.character(parts))))
  splits <- unname(Map(function(parent, parts) reticulate::tuple(parent, parts), names(groups), groups))
  .tp_try(.tp_import("tabprotect")$Hierarchy(reticulate::tuple(splits)))
}

.tp_dict <- function(x) reticulate::py_dict(as.list(names(x)), unname(x), convert = FALSE)

.tp_options <- function(given) {
  for (name in c("by", "maxima", "holders")) if (!is.null(given[[name]])) given[[name]] <- as.list(given[[name]])
  if (!is.null(given$hierarchies)) given$hierarchies <- .tp_dict(given$hierarchies)
  .tp_argument(given)
}

.tp_release <- function(table, rules, method, options, data) {
  arguments <- c(list(table, as.list(rules)), if (is.null(method)) list() else list(method), options)
  release <- .tp_try(do.call(.tp_import("tabprotect")$protect, arguments))
  if (!reticulate::py_to_r(release$safe) && !isTRUE(options$allow_unsafe)) .tp_try(release$public)
  release
}

#' Protect the table of records: by = c("region", "size"), value = "turnover", contributor = "firm".
#'
#' rules is such as c("p%=10", "threshold=3"); further arguments are those of tabprotect.protect. Stops where no safe
#' table was found. The result has the published rows; tp_summary() says what was done, tp_write() writes the release.
tp_protect <- function(data, rules, by, ..., method = NULL) {
  options <- .tp_options(c(list(by = by), list(...)))
  .tp_published(.tp_release(tp_frame(data), rules, method, options, data), data)
}

#' Protect a finished table, one row a cell, margins included; `table` has further arguments of Table.from_cells.
tp_protect_cells <- function(data, rules, by, value, ..., table = list(), method = NULL) {
  given <- .tp_options(c(list(by = by, value = value), table))
  cells <- .tp_try(do.call(.tp_import("tabprotect")$Table$from_cells, c(list(tp_frame(data)), given)))
  .tp_published(.tp_release(cells, rules, method, .tp_options(list(...)), data), data)
}

#' Protect linked tables of the same records: by = list(T1 = c("region", "size"), T2 = c("region", "nace")).
#'
#' `table` has further arguments of tabprotect.tabulate. The result is a list of data.frames.
tp_protect_linked <- function(data, rules, by, value = NULL, ..., table = list(), method = NULL) {
  tabprotect <- .tp_import("tabprotect")
  frame <- tp_frame(data)
  given <- .tp_options(c(if (is.null(value)) list() else list(value = value), table))
  trees <- given$hierarchies
  tables <- lapply(names(by), function(name) {
    used <- given
    if (!is.null(trees)) {
      wanted <- intersect(by[[name]], names(table$hierarchies))
      used$hierarchies <- .tp_dict(table$hierarchies[wanted])
    }
    .tp_try(do.call(tabprotect$tabulate, c(list(frame, as.list(by[[name]])), used)))
  })
  names(tables) <- names(by)
  linked <- .tp_try(tabprotect$link(.tp_dict(tables)))
  release <- .tp_release(linked, rules, method, .tp_options(list(...)), data)
  whole <- tp_data_frame(.tp_try(release$published), like = data)
  made <- lapply(names(by), function(name) {
    rows <- whole[whole$table == name, c(by[[name]], setdiff(names(whole), c("table", unlist(by)))), drop = FALSE]
    rownames(rows) <- NULL
    rows
  })
  names(made) <- names(by)
  attr(made, "release") <- release
  made
}

#' The release behind a result, for everything that tabprotect.Release can do; confidential.
tp_release <- function(result) {
  release <- attr(result, "release")
  if (is.null(release)) stop("this is no result of tp_protect or tp_mask, or its attributes were dropped", call. = FALSE)
  release
}

#' What was done and how good it is; confidential.
tp_summary <- function(result) cat(reticulate::py_to_r(.tp_import("builtins")$str(tp_release(result)$summary())), "\n")

#' Write publish/ and internal/.
tp_write <- function(result, folder, formats = "csv") {
  .tp_try(tp_release(result)$write(path.expand(folder), as.list(formats)))
  invisible(folder)
}

#' A step of masking: tp_step("PRAM", "sex", floor = 0.8); names and arguments are those of tabprotect.microdata.
tp_step <- function(name, ...) {
  .tp_try(do.call(.tp_import("tabprotect.microdata")[[name]], .tp_argument(list(...))))
}

tp_local_suppression <- function(k = 3, ...) tp_step("LocalSuppression", k = k, ...)
tp_microaggregation <- function(columns, k = 3, ...) tp_step("Microaggregation", as.list(columns), k = k, ...)
tp_pram <- function(column, ...) tp_step("PRAM", column, ...)
tp_noise <- function(columns, ...) tp_step("Noise", as.list(columns), ...)
tp_top_coding <- function(column, ...) tp_step("TopCoding", column, ...)
tp_rank_swapping <- function(columns, ...) tp_step("RankSwapping", as.list(columns), ...)

#' Mask records step by step. The result has the released records; steps that draw need no seed: a secret one is drawn.
tp_mask <- function(data, steps, keys = character(), confidential = character(), identifiers = character(),
                    weight = NULL, household = NULL, strata = character(), seed = NULL, ...) {
  microdata <- .tp_import("tabprotect.microdata")
  schema <- .tp_try(microdata$Schema(keys = as.list(keys), confidential = as.list(confidential),
                                     identifiers = as.list(identifiers), weight = weight, household = household,
                                     strata = as.list(strata), ...))
  if (inherits(steps, "python.builtin.object")) steps <- list(steps)
  masked <- .tp_try(microdata$mask(tp_frame(data), schema, unname(steps), seed = .tp_argument(seed)))
  made <- tp_data_frame(masked$frame, like = data)
  attr(made, "release") <- masked
  made
}
