# %% values, vectors and a summary
#| image: full
#| stdout: [1] 5.5
#| result: Median
x <- 1:10
mean(x)
summary(x)

# %% linear regression
#| image: full
#| result: Multiple R-squared
model <- lm(mpg ~ wt + hp, data = mtcars)
summary(model)

# %% base plots become pictures
#| image: full
#| figures: 2
plot(mtcars$wt, mtcars$mpg, main = "Weight and consumption", pch = 19)
hist(mtcars$mpg, col = "steelblue")

# %% ggplot2 with facets
#| image: full
#| figure
library(ggplot2)
ggplot(mtcars, aes(wt, mpg, colour = factor(cyl))) + geom_point() + facet_wrap(~gear) + theme_minimal() + labs(title = "Größe und Verbrauch")

# %% dplyr pipeline
#| image: full
#| result: # A tibble: 3
suppressPackageStartupMessages(library(dplyr))
mtcars |> group_by(cyl) |> summarise(mean = mean(mpg), n = n()) |> arrange(desc(mean))

# %% the tidyverse reads, reshapes and writes
#| image: full
#| file: long.csv
#| stdout: 4
suppressPackageStartupMessages(library(tidyverse))
wide <- tibble(id = 1:2, a = c(1, 2), b = c(3, 4))
long <- pivot_longer(wide, c(a, b), names_to = "key")
write_csv(long, "/mnt/data/long.csv")
cat(nrow(read_csv("/mnt/data/long.csv", show_col_types = FALSE)), "\n")

# %% strings and dates
#| image: full
#| stdout: [1] "2024-03-01"
#| result: [1] "Ab" "Cd"
library(stringr)
print(lubridate::ymd("2024-02-29") + 1)
str_to_title(c("ab", "cd"))

# %% data.table and JSON
#| image: full
#| stdout: {"x":[1,2]}
#| result: 4
suppressPackageStartupMessages(library(data.table))
cat(jsonlite::toJSON(list(x = c(1, 2))), "\n")
data.table(g = c("a", "b", "a"), v = 1:3)[, .(total = sum(v)), by = g]

# %% Excel files
#| image: full
#| file: cars.xlsx
#| stdout: [1] 32 11
writexl::write_xlsx(mtcars, "/mnt/data/cars.xlsx")
print(dim(readxl::read_excel("/mnt/data/cars.xlsx")))

# %% a data frame has HTML and its data
#| image: full
#| mime: text/html
#| mime: application/vnd.dataresource+json
#| result: 1 1.5      x<y
data.frame(a = c(1.5, NA, Inf), b = c("x<y", NA, "q\"uo\\te"), d = as.Date(c("2024-01-01", NA, "2024-02-01")))

# %% forecast with ARIMA
#| image: full
#| figure
#| stdout: ARIMA
#| stderr: any
library(forecast)
fit <- auto.arima(AirPassengers)
print(fit)
plot(forecast(fit, h = 12))

# %% random forest and caret
#| image: full
#| stdout: Accuracy
#| stderr: any
library(caret)
set.seed(1)
fit <- train(Species ~ ., data = iris, method = "rf", trControl = trainControl(method = "cv", number = 3))
print(fit)

# %% t-test and ANOVA
#| image: full
#| stdout: p-value
#| result: Pr(>F)
print(t.test(extra ~ group, data = sleep))
summary(aov(len ~ supp, data = ToothGrowth))

# %% survival and clustering
#| image: full
#| stdout: sex=2
#| result: 3
library(survival)
print(survfit(Surv(time, status) ~ sex, data = lung))
length(unique(kmeans(iris[, 1:4], 3)$cluster))

# %% functions, loops and a failure
#| image: full
#| stdout: 120
#| error: Error
#| hint: negative
factorial2 <- function(n) if (n < 0) stop("negative number") else if (n == 0) 1 else n * factorial2(n - 1)
print(factorial2(5))
factorial2(-1)

# %% a warning is shown
#| image: full
#| stderr: NAs introduced by coercion
#| result: NA
as.numeric("abc")

# %% a package that is missing
#| image: full
#| error: packageNotFoundError
#| hint: there is no package called
library(notInstalledHere)

# %% a plot written to a file
#| image: full
#| file: plot.png
#| file: plot.pdf
png("/mnt/data/plot.png", width = 800, height = 600); barplot(c(a = 1, b = 2)); invisible(dev.off())
pdf("/mnt/data/plot.pdf"); pie(c(1, 2)); invisible(dev.off())

# %% matrix algebra
#| image: full
#| result: [1,]
solve(matrix(c(2, 1, 1, 3), 2)) %*% c(1, 2)

# %% regular expressions and files
#| image: full
#| file: words.txt
#| result: [1] 2
writeLines(c("apple pie", "pear"), "/mnt/data/words.txt")
sum(grepl("p", readLines("/mnt/data/words.txt")))

# %% a session keeps variables, packages and options
#| image: full
#| stdout: [1] 3.14
#| result: [1] "scales" "5"
options(digits = 3)
library(scales)
x <- 5
#| next
print(pi)
c(intersect("scales", .packages()), as.character(x))

# %% a session continues after a failure
#| image: full
#| result: [1] 1
kept <- 1
#| next
stop("no")
#| next
kept
