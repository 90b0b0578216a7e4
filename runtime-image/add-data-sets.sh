#!/bin/sh
# Installs data sets from locked packages. NLTK: sentence models and stop words (from a wheel that carries them), VADER (vaderSentiment) and
# WordNet (Debian). seaborn: tips and iris (Plotly has them), penguins (palmerpenguins), flights (Box and Jenkins, 1976). `slim` has none.
set -eu
[ -d /tmp/data ] || exit 0
nltk=/usr/local/share/nltk_data
mkdir -p $nltk/corpora/wordnet $nltk/sentiment $nltk/tokenizers /tmp/data/vader_lexicon
unzip -q /tmp/data/llama_index_core-*.whl 'llama_index/core/_static/nltk_cache/*' -d /tmp/data
cache=/tmp/data/llama_index/core/_static/nltk_cache
cp -r $cache/corpora/stopwords $nltk/corpora/
cp -r $cache/tokenizers/punkt_tab $nltk/tokenizers/
# NLTK asks for this one inside an archive.
cp /usr/local/lib/python3.13/dist-packages/vaderSentiment/vader_lexicon.txt /tmp/data/vader_lexicon/
(cd /tmp/data && python3 -m zipfile -c $nltk/sentiment/vader_lexicon.zip vader_lexicon)
cp /usr/share/wordnet/* $nltk/corpora/wordnet/
# The same counts in an order that NLTK does not read.
rm $nltk/corpora/wordnet/cntlist
# Debian's package lacks the table of lexicographer files: number, name, part of speech (lexnames(5WN) of WordNet 3.0).
number=0
for name in adj.all adj.pert adv.all noun.Tops noun.act noun.animal noun.artifact noun.attribute noun.body noun.cognition \
  noun.communication noun.event noun.feeling noun.food noun.group noun.location noun.motive noun.object noun.person noun.phenomenon \
  noun.plant noun.possession noun.process noun.quantity noun.relation noun.shape noun.state noun.substance noun.time verb.body \
  verb.change verb.cognition verb.communication verb.competition verb.consumption verb.contact verb.creation verb.emotion verb.motion \
  verb.perception verb.possession verb.social verb.stative verb.weather adj.ppl; do
  case $name in noun.*) part=1 ;; verb.*) part=2 ;; adj.*) part=3 ;; *) part=4 ;; esac
  printf '%02d\t%s\t%d\n' $number $name $part
  number=$((number + 1))
done >$nltk/corpora/wordnet/lexnames
seaborn=/usr/local/share/seaborn-data
plotly=/usr/local/lib/python3.13/dist-packages/plotly/package_data/datasets
mkdir -p $seaborn
zcat $plotly/tips.csv.gz >$seaborn/tips.csv
zcat $plotly/iris.csv.gz | cut -d, -f1-5 >$seaborn/iris.csv
unzip -q /tmp/data/palmerpenguins-*.whl palmerpenguins/data/penguins.csv -d /tmp/data
cut -d, -f1-7 /tmp/data/palmerpenguins/data/penguins.csv | sed 's/,male$/,Male/; s/,female$/,Female/; s/\bNA\b//g' >$seaborn/penguins.csv
year=1949
echo year,month,passengers >$seaborn/flights.csv
while read -r passengers; do
  set -- $passengers
  for month in January February March April May June July August September October November December; do
    echo "$year,$month,$1"
    shift
  done
  year=$((year + 1))
done >>$seaborn/flights.csv <<'END'
112 118 132 129 121 135 148 148 136 119 104 118
115 126 141 135 125 149 170 170 158 133 114 140
145 150 178 163 172 178 199 199 184 162 146 166
171 180 193 181 183 218 230 242 209 191 172 194
196 196 236 235 229 243 264 272 237 211 180 201
204 188 235 227 234 264 302 293 259 229 203 229
242 233 267 269 270 315 364 347 312 274 237 278
284 277 317 313 318 374 413 405 355 306 271 306
315 301 356 348 355 422 465 467 404 347 305 336
340 318 362 348 363 435 491 505 404 359 310 337
360 342 406 396 420 472 548 559 463 407 362 405
417 391 419 461 472 535 622 606 508 461 390 432
END
rm -rf /tmp/data
