#!/bin/sh
# Installs NLTK's data sets from locked packages: sentence models and stop words (from a wheel that carries them), VADER (vaderSentiment) and
# WordNet (Debian). `slim` has none.
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
rm -rf /tmp/data
