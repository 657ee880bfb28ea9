# The calls of docs/r.md on records.csv; every result is written as a CSV file.
arguments <- commandArgs(trailingOnly = TRUE)
source(arguments[1])
setwd(arguments[2])
firms <- read.csv("records.csv", colClasses = c(region = "factor", size = "character", nace = "integer", firm = "integer",
                                                turnover = "numeric", day = "Date"))
save <- function(result, name) write.csv(result, paste0(name, ".csv"), row.names = FALSE, na = "")

regions <- tp_hierarchy(Total = c("NO", "W"), NO = c("N", "O"))
save(tp_protect(firms, "threshold=3", by = c("region", "size")), "frequency")
save(tp_protect(firms, c("p%=10", "threshold=3"), by = c("region", "size"), value = "turnover", contributor = "firm",
                hierarchies = list(region = regions), method = tp_method("Suppress", method = "greedy")), "magnitude")
save(tp_protect(firms, c("nk=1,80", "nk=2,95"), by = c("region", "nace"), value = "turnover", contributor = "firm"),
     "dominance")
save(tp_protect(firms, "threshold=3", by = c("region", "size"), method = tp_method("Round", base = 5)), "rounded")

cells <- data.frame(region = c("Total", "N", "O", "W"), n = c(30L, 20L, 8L, 2L))
save(tp_protect_cells(cells, "threshold=3", by = "region", value = "n", table = list(kind = "frequency")), "cells")

linked <- tp_protect_linked(firms, "p%=10", by = list(T1 = c("region", "size"), T2 = c("region", "nace")),
                            value = "turnover", table = list(contributor = "firm", hierarchies = list(region = regions)))
save(linked$T1, "linked_T1")
save(linked$T2, "linked_T2")
stopifnot(identical(names(linked$T1), c("region", "size", "turnover", "status")), is.factor(linked$T1$region))

masked <- tp_mask(firms, list(tp_local_suppression(k = 3), tp_microaggregation("turnover", k = 3)),
                  keys = c("region", "size"), confidential = "turnover", identifiers = "firm", seed = 7)
save(masked, "masked")
stopifnot(is.factor(masked$region), identical(levels(masked$region), levels(firms$region)), is.integer(masked$nace),
          inherits(masked$day, "Date"), identical(masked$day, firms$day), is.character(masked$size), anyNA(masked$region) ||
            anyNA(masked$size), is.null(masked$firm))
save(tp_mask(firms, list(tp_pram("region"), tp_noise("turnover"), tp_top_coding("nace", threshold = 3)),
             keys = "region", confidential = "turnover", seed = 8), "perturbed")

release <- tp_protect(firms, "threshold=3", by = c("region", "size"))
tp_write(release, "out")
tp_summary(release)
stopifnot(file.exists("out/publish/table.csv"))
bare <- data.frame(region = c("Total", "N", "W"), n = c(9, 5, 4), status = c("p", "u", "p"))
unsafe <- tryCatch(tp_protect_cells(bare, "manual=20", by = "region", value = "n", table = list(status = "status")),
                   error = conditionMessage)
stopifnot(is.character(unsafe), grepl("not safe, so nothing is published", unsafe))
