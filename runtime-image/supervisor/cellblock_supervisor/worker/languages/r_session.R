# An R session: evaluates cells one after another in the global environment. A request comes on descriptor 3: a line with the sizes of its fields in bytes,
# then the fields. Fields of a cell: "run", folder of its pictures, working directory, code, then names and values of variables in turn. The answer on
# descriptor 4 ends with a null byte; the character 0x1E separates its fields.

(function() {
  requests <- file("/dev/fd/3", "rb", blocking = TRUE, raw = TRUE)
  answers <- file("/dev/fd/4", "wb", blocking = TRUE, raw = TRUE)
  separator <- "\x1e"
  max_result_characters <- 256L * 1024L
  max_calls <- 30L
  first_options <- NULL
  first_packages <- search()

  as_text <- function(value) iconv(enc2utf8(paste(value, collapse = "\n")), "UTF-8", "UTF-8", sub = "?")

  receive <- function() {
    head <- readLines(requests, 1L)
    if (length(head) == 0L) quit(save = "no")
    vapply(as.integer(strsplit(head, " ", fixed = TRUE)[[1L]]), function(size) {
      text <- rawToChar(readBin(requests, "raw", size))
      Encoding(text) <- "UTF-8"
      text
    }, "")
  }

  send <- function(...) {
    fields <- gsub(separator, " ", vapply(list(...), as_text, ""), fixed = TRUE)
    writeBin(charToRaw(paste(fields, collapse = separator)), answers)
    writeBin(as.raw(0L), answers)
    flush(answers)
  }

  # A plot without a device opens this one: a picture per page.
  open_pictures <- function(folder) {
    options(device = function(...) {
      grDevices::png(file.path(folder, "%04d.png"), width = 1400, height = 1000, res = 200, type = "cairo")
      device <<- grDevices::dev.cur()
    })
  }
  device <- NULL
  close_pictures <- function() {
    if (!is.null(device) && device %in% grDevices::dev.list()) grDevices::dev.off(device)
    device <<- NULL
  }

  # As at R's prompt, values that are visible are printed. The last one is the cell's result.
  evaluate <- function(code) {
    expressions <- parse(text = code, keep.source = FALSE, encoding = "UTF-8")
    result <- NULL
    frame <- c("", "")
    for (index in seq_along(expressions)) {
      value <- withVisible(eval(expressions[[index]], globalenv()))
      if (!value$visible) next
      if (index < length(expressions)) {
        print(value$value)
        next
      }
      result <- utils::capture.output(print(value$value))
      frame <- frame_of(value$value)
    }
    close_pictures()
    c(substr(as_text(result), 1L, max_result_characters), frame)
  }

  # A data frame as HTML, and as the tabular data resource that a frame of pandas has (`table_data.py`): the first rows and columns.
  max_rows <- 20L
  max_columns <- 30L
  max_text_characters <- 200L

  json_text <- function(text) {
    text <- iconv(enc2utf8(text), "UTF-8", "UTF-8", sub = "?")
    text <- ifelse(nchar(text) > max_text_characters, paste0(substr(text, 1L, max_text_characters), "..."), text)
    paste0('"', gsub('(["\\\\])', "\\\\\\1", gsub("[[:cntrl:]]", " ", text)), '"')
  }

  json_number <- function(values) {
    short <- sprintf("%.15g", values)
    ifelse(is.na(values) | suppressWarnings(as.numeric(short)) == values, short, sprintf("%.17g", values))
  }

  # The type of a field of the Table Schema, and its values as JSON.
  column_of <- function(values) {
    if (inherits(values, "Date")) column <- list("datetime", json_text(format(values, "%Y-%m-%d")))
    else if (inherits(values, "POSIXt")) column <- list("datetime", json_text(format(values, "%Y-%m-%dT%H:%M:%S")))
    else if (is.list(values)) return(list("any", json_text(vapply(values, toString, ""))))
    else if (is.object(values)) column <- list("string", json_text(as.character(values)))
    else if (is.logical(values)) column <- list("boolean", tolower(as.character(values)))
    else if (is.integer(values)) column <- list("integer", as.character(values))
    else if (is.numeric(values)) column <- list("number", json_number(replace(values, !is.finite(values), NA)))
    else column <- list("string", json_text(as.character(values)))
    column[[2L]][is.na(values) | (is.numeric(values) & !is.finite(values))] <- "null"
    column
  }

  describe_frame <- function(frame) {
    rows <- min(nrow(frame), max_rows)
    columns <- min(ncol(frame), max_columns)
    shown <- lapply(seq_len(columns), function(at) utils::head(frame[[at]], rows))
    names(shown) <- make.unique(names(frame)[seq_len(columns)])
    labels <- if (.row_names_info(frame) > 0L) row.names(frame) else seq_len(nrow(frame))
    fields <- lapply(c(list(index = utils::head(labels, rows)), shown), column_of)
    names <- json_text(make.unique(c("index", names(shown))))
    field <- sprintf('{"name":%s,"type":"%s"}', names, vapply(fields, `[[`, "", 1L))
    entries <- lapply(seq_along(fields), function(at) paste0(names[at], ":", fields[[at]][[2L]]))
    records <- if (rows == 0L) character() else paste0("{", do.call(paste, c(entries, sep = ",")), "}")
    sprintf(
      '{"schema":{"fields":[%s],"primaryKey":["index"]},"data":[%s],"cellblock":{"rows":%d,"columns":%d,"rows_shown":%d,"columns_shown":%d}}',
      paste(field, collapse = ","), paste(records, collapse = ","), nrow(frame), ncol(frame), rows, columns
    )
  }

  html_text <- function(text) gsub(">", "&gt;", gsub("<", "&lt;", gsub("&", "&amp;", text, fixed = TRUE), fixed = TRUE), fixed = TRUE)

  frame_html <- function(frame) {
    rows <- min(nrow(frame), max_rows)
    columns <- seq_len(min(ncol(frame), max_columns))
    cells <- lapply(columns, function(at) {
      values <- utils::head(frame[[at]], rows)
      text <- if (is.list(values)) vapply(values, toString, "") else format(values)
      paste0("<td>", html_text(substr(trimws(text), 1L, max_text_characters)), "</td>")
    })
    labels <- if (.row_names_info(frame) > 0L) utils::head(row.names(frame), rows) else seq_len(rows)
    head <- paste0("<th>", html_text(names(frame)[columns]), "</th>", collapse = "")
    body <- if (rows == 0L) "" else paste0("<tr><th>", html_text(labels), "</th>", do.call(paste0, cells), "</tr>", collapse = "\n")
    size <- sprintf("%s: %d \u00d7 %d", class(frame)[1L], nrow(frame), ncol(frame))
    paste0("<table>\n<caption>", html_text(size), "</caption>\n<thead><tr><th></th>", head, "</tr></thead>\n<tbody>\n", body, "\n</tbody>\n</table>")
  }

  # HTML and data of a result; empty texts for one that is no data frame.
  frame_of <- function(value) {
    if (!is.data.frame(value)) return(c("", ""))
    tryCatch({
      frame <- as.data.frame(value)
      c(frame_html(value), describe_frame(frame))
    }, error = function(...) c("", ""))
  }

  first_line <- function(call) substr(deparse(call, nlines = 1L)[1L], 1L, 200L)

  # Calls from the cell's own to the one that failed.
  calls_of_cell <- function(calls) {
    starts <- which(vapply(calls, function(call) identical(call[[1L]], quote(withVisible)), NA))
    if (length(starts) == 0L) return(character())
    calls <- calls[-seq_len(starts[1L] + 2L)]
    raises <- which(vapply(calls, function(call) is.symbol(call[[1L]]) && as.character(call[[1L]]) %in% c("stop", ".handleSimpleError", "h"), NA))
    if (length(raises) > 0L) calls <- calls[seq_len(raises[1L] - 1L)]
    vapply(utils::head(calls, max_calls), first_line, "")
  }

  describe <- function(error, calls) {
    name <- if (inherits(error, "simpleError")) "Error" else class(error)[1L]
    call <- conditionCall(error)
    # Of the session itself: the code has a syntax error, or failed outside of any function.
    is_own <- is.null(call) || as.character(call[1L]) %in% c("parse", "eval") && grepl(r"(expressions\[\[index\]\]|text = code)", first_line(call))
    where <- if (is_own) "Error" else paste("Error in", first_line(call))
    steps <- if (length(calls) == 0L) character() else paste0(seq_along(calls), ": ", calls)
    list(name, conditionMessage(error), paste0(where, ": ", as_text(conditionMessage(error))), steps)
  }

  run <- function(folder, directory, code, variables) {
    set <- variables[c(TRUE, FALSE)]
    before <- Sys.getenv(set, unset = NA, names = TRUE)
    from <- getwd()
    on.exit({
      Sys.unsetenv(names(before)[is.na(before)])
      if (any(!is.na(before))) do.call(Sys.setenv, as.list(before[!is.na(before)]))
      if (directory != "") setwd(from)
      while (sink.number() > 0L) sink()
    })
    calls <- list()
    failed <- NULL
    result <- tryCatch(
      withCallingHandlers(
        {
          if (directory != "") setwd(directory)
          if (length(set) > 0L) do.call(Sys.setenv, stats::setNames(as.list(variables[c(FALSE, TRUE)]), set))
          open_pictures(folder)
          evaluate(code)
        },
        error = function(error) calls <<- sys.calls()
      ),
      error = function(error) {
        failed <<- error
        NULL
      }
    )
    try(close_pictures(), silent = TRUE)
    flush(stdout())
    if (is.null(failed)) do.call(send, c("ok", as.list(result))) else do.call(send, c("error", describe(failed, tryCatch(calls_of_cell(calls), error = function(...) character()))))
  }

  plain_options <- function() Filter(is.atomic, options())

  # Variables, attached packages, options and the folder. Those that do not fit, the largest first, are named, and so are connections.
  save_state <- function(path, max_bytes) {
    values <- mget(ls(globalenv(), all.names = TRUE), envir = globalenv())
    open <- vapply(values, inherits, NA, "connection")
    parts <- lapply(values[!open], serialize, connection = NULL)
    largest <- order(-lengths(parts))
    too_large <- cumsum(rev(as.numeric(lengths(parts[largest])))) > max_bytes
    too_large <- names(parts)[rev(largest)][too_large]
    now <- plain_options()
    changed <- now[!vapply(names(now), function(name) identical(now[[name]], first_options[[name]]), NA)]
    packages <- rev(sub("^package:", "", grep("^package:", setdiff(search(), first_packages), value = TRUE)))
    saveRDS(list(parts = parts[setdiff(names(parts), too_large)], packages = packages, options = changed, folder = getwd()), path, compress = FALSE)
    left_out <- c(rbind(c(names(values)[open], too_large), rep(c("An open connection cannot be saved.", "too_large"), c(sum(open), length(too_large)))))
    send("ok", left_out)
  }

  load_state <- function(path) {
    state <- readRDS(path)
    missing <- Filter(function(name) !suppressPackageStartupMessages(require(name, character.only = TRUE, quietly = TRUE)), state$packages)
    options(state$options)
    if (dir.exists(state$folder)) setwd(state$folder)
    for (name in names(state$parts)) {
      restored <- tryCatch({
        assign(name, unserialize(state$parts[[name]]), envir = globalenv())
        TRUE
      }, error = function(...) FALSE)
      if (!restored) missing <- c(missing, name)
    }
    send("ok", missing)
  }

  # A folder that the environment has by the name of a link, as `pwd` of a shell shows it.
  real_folder <- base::getwd
  shown_folder <- function() {
    folder <- real_folder()
    name <- Sys.getenv("PWD")
    target <- if (nzchar(name)) normalizePath(name, mustWork = FALSE) else ""
    if (name == target || target == "") return(folder)
    if (folder == target) name else if (startsWith(folder, paste0(target, "/"))) paste0(name, substring(folder, nchar(target) + 1L)) else folder
  }
  unlockBinding("getwd", baseenv())
  assign("getwd", shown_folder, envir = baseenv())
  lockBinding("getwd", baseenv())

  # Warnings appear when they happen, not at the end of the session.
  options(warn = 1L, bitmapType = "cairo", device.ask.default = FALSE, browser = "false", menu.graphics = FALSE)
  first_options <- plain_options()
  repeat {
    fields <- receive()
    if (fields[1L] == "run") run(fields[2L], fields[3L], fields[4L], fields[-(1:4)])
    else tryCatch(
      if (fields[1L] == "save") save_state(fields[2L], as.numeric(fields[3L])) else load_state(fields[2L]),
      error = function(error) send("error", "Error", conditionMessage(error), "", "")
    )
  }
})()
