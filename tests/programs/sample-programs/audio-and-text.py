# %% a WAV file is written, read and played
#| file: tone.wav
#| mime: text/html
import numpy as np, wave
from IPython.display import Audio
rate = 8000; tone = (np.sin(2 * np.pi * 440 * np.arange(rate) / rate) * 32767).astype(np.int16)
with wave.open("/mnt/data/tone.wav", "wb") as file:
    file.setnchannels(1); file.setsampwidth(2); file.setframerate(rate); file.writeframes(tone.tobytes())
Audio("/mnt/data/tone.wav")

# %% spectrogram with scipy
#| figure
import numpy as np, matplotlib.pyplot as plt
from scipy.io import wavfile
from scipy.signal import butter, chirp, lfilter
t = np.linspace(0, 1, 8000); wavfile.write("/mnt/data/c.wav", 8000, chirp(t, 100, 1, 2000).astype(np.float32))
rate, sound = wavfile.read("/mnt/data/c.wav"); plt.specgram(lfilter(*butter(4, 0.5), sound), Fs=rate); plt.show()

# %% ffmpeg converts WAV to MP3
#| image: standard
#| file: t.mp3
!ffmpeg -v error -f lavfi -i "sine=frequency=440:duration=1" -y /mnt/data/t.mp3

# %% NLTK tokens, stop words and stems
#| image: standard
#| stdout: ['quick', 'brown', 'fox', 'jump']
import nltk
from nltk.corpus import stopwords
from nltk.stem import PorterStemmer
from nltk.tokenize import sent_tokenize, word_tokenize
words = [w for w in word_tokenize("The quick brown foxes jumped.".lower()) if w.isalpha() and w not in stopwords.words("english")]
print([PorterStemmer().stem(w) for w in words], len(sent_tokenize("A. B c d. E f.")))

# %% NLTK download of present data succeeds
#| image: standard
#| stdout: True
#| stderr: any
import nltk
print(nltk.download("punkt") and nltk.download("stopwords", quiet=True) and nltk.download("vader_lexicon", quiet=True))

# %% NLTK data that is absent is explained
#| image: standard
#| error: LookupError
#| hint: brown
from nltk.corpus import brown
brown.words()

# %% TextBlob's tags need data that is absent, and say which
#| image: standard
#| error: MissingCorpusError
#| hint: 'averaged_perceptron_tagger_eng' is not in this image and the sandbox has no network
from textblob import TextBlob
print(TextBlob("The quick brown fox jumps.").tags)

# %% VADER sentiment
#| image: standard
#| stdout: positive
from nltk.sentiment import SentimentIntensityAnalyzer
print("positive" if SentimentIntensityAnalyzer().polarity_scores("I love this!")["compound"] > 0 else "negative")

# %% WordNet lemmas
#| image: standard
#| stdout: goose
from nltk.corpus import wordnet
from nltk.stem import WordNetLemmatizer
print(WordNetLemmatizer().lemmatize("geese"), wordnet.synsets("bank")[0].definition())

# %% TextBlob sentiment
#| image: standard
#| stdout: 0.5
from textblob import TextBlob
print(round(TextBlob("good good. bad").sentences[0].sentiment.polarity * 0.714, 1), TextBlob("two words").words)

# %% TF-IDF similarity
#| stdout: 1.0
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity
m = TfidfVectorizer(stop_words="english").fit_transform(["red apple", "red apple", "blue sky"])
print(round(cosine_similarity(m)[0, 1], 3))

# %% regular expressions with named groups
#| stdout: {'year': '2024', 'month': '05'}
import re
print(re.match(r"(?P<year>\d{4})-(?P<month>\d\d)", "2024-05").groupdict())

# %% the regex module and Unicode classes
#| image: standard
#| stdout: ['Ä', 'Ж']
import regex
print(regex.findall(r"\p{Lu}", "Äa Жб"))

# %% fake data
#| image: standard
#| stdout: @
from faker import Faker
fake = Faker("de_DE"); Faker.seed(1); print(fake.name(), fake.email(), fake.address())

# %% text with emoji and wide characters
#| stdout: 👋 世界
print("👋 世界", "é".encode(), len("🇩🇪"))

# %% pydub reads and writes MP3
#| image: standard
#| stdout: 1000 8000 True
import math, struct, wave
from pydub import AudioSegment
with wave.open("tone.wav", "wb") as file:
    file.setnchannels(1); file.setsampwidth(2); file.setframerate(8000)
    file.writeframes(b"".join(struct.pack("<h", int(9000 * math.sin(n / 5))) for n in range(8000)))
AudioSegment.from_wav("tone.wav").export("tone.mp3", format="mp3")
sound = AudioSegment.from_mp3("tone.mp3")
print(round(len(sound), -3), sound.frame_rate, sound.max > 5000)
