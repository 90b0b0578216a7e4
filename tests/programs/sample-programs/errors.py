# %% an exception has its traceback
#| error: ZeroDivisionError
1 / 0

# %% a syntax error names the line
#| error: SyntaxError
def broken(:
    pass

# %% a missing module is explained
#| error: ModuleNotFoundError
#| hint: no network
import tensorflow

# %% a misspelled module names a similar one
#| error: ModuleNotFoundError
#| hint: pandas
import pandsa

# %% a missing file
#| error: FileNotFoundError
open("/mnt/data/none.csv")

# %% sys.exit(0) succeeds
#| stdout: before
import sys
print("before"); sys.exit(0)

# %% exit() and quit() succeed
#| stdout: before
print("before"); exit()

# %% sys.exit(1) fails
#| error: SystemExit
import sys
sys.exit(1)

# %% unittest.main passes
#| stderr: OK
import unittest
class T(unittest.TestCase):
    def test(self): self.assertEqual(1, 1)
unittest.main(argv=[""], exit=False)

# %% unittest.main with exit
#| stderr: OK
import unittest
class T(unittest.TestCase):
    def test(self): self.assertEqual(1, 1)
if __name__ == "__main__":
    unittest.main(argv=["x"])

# %% a failing test is reported
#| stderr: FAILED
import unittest
class T(unittest.TestCase):
    def test(self): self.assertEqual(1, 2)
unittest.main(argv=[""], exit=False)

# %% pytest runs
#| image: standard
#| stdout: 1 passed
open("/mnt/data/test_x.py", "w").write("def test_x():\n    assert 1 == 1\n")
!pytest -q -p no:cacheprovider test_x.py

# %% recursion error ends by itself
#| error: RecursionError
def f(): return f()
f()

# %% warnings are shown once
#| stderr: UserWarning: careful
import warnings
warnings.warn("careful")

# %% assertion with a message
#| error: AssertionError
#| hint: too small
assert 1 > 2, "too small"

# %% KeyError of a DataFrame
#| error: KeyError
import pandas as pd
pd.DataFrame({"a": [1]})["b"]

# %% traceback module prints
#| stderr: ValueError: x
import traceback
try:
    raise ValueError("x")
except ValueError:
    traceback.print_exc()

# %% writing outside of /mnt/data is refused
#| error: OSError
open("/usr/x", "w")

# %% cloud libraries that are absent say so
#| error: ModuleNotFoundError
#| hint: is not installed
import boto3

# %% a module of other services names what reads PDF files here
#| error: ModuleNotFoundError
#| hint: Similar: pypdf, pdfplumber, pypdfium2
#| image: standard
import fitz

# %% a traceback through a library shows no warnings of its source
#| image: standard
#| error: CouldntDecodeError
from pydub import AudioSegment
open("broken.mp3", "w").write("no sound")
AudioSegment.from_mp3("broken.mp3")

# %% ffprobe says what to use instead
#| image: standard
#| until: standard
#| stderr: Use ffmpeg -i FILE
!ffprobe -v error -show_format -of json missing.mp4

# %% an error in a pool of processes has its own type
#| error: ZeroDivisionError
from concurrent.futures import ProcessPoolExecutor
def divide(number): return 1 / number
with ProcessPoolExecutor(2) as pool: print(list(pool.map(divide, [1, 0])))

# %% a long number converts to text up to the limit of Python
#| error: ValueError
#| hint: set_int_max_str_digits
str(10**5000)

# %% pip knows installed packages by the names of their variants
#| image: standard
#| stdout: Requirement already satisfied: opencv-python (`import cv2` works)
#| stdout: Requirement already satisfied: xgboost (`import xgboost` works)
#| stdout: `nothing-such` is not installed
import subprocess
print(subprocess.run("pip install xgboost opencv-python nothing-such", shell=True, text=True, stdout=-1, stderr=-2).stdout)

# %% pip explains a missing file and an address in a sentence
#| stdout: ERROR: The requirements file 'missing.txt' cannot be read: No such file or directory.
#| stdout: ERROR: `git+https://example.com/a.git` cannot be installed, because this sandbox has no network.
#| not-stdout: Traceback
import subprocess
for arguments in ("-r missing.txt", "git+https://example.com/a.git"):
    print(subprocess.run(f"pip install {arguments}", shell=True, text=True, stdout=-1, stderr=-2).stdout)

# %% pip list has two columns, pip freeze has requirements
#| stdout: True True True
import subprocess
listed, frozen = (subprocess.run(["pip", command], text=True, stdout=-1).stdout.splitlines() for command in ("list", "freeze"))
print(listed[0].split() == ["Package", "Version"], set(listed[1]) == {"-", " "}, all("==" in line for line in frozen))

# %% programs that need a network say that there is none
#| image: standard
#| stderr: wget: this sandbox has no network
#| stderr: curl: this sandbox has no network
#| stderr: so git reaches no remote repository
#| stderr: apt-get: this sandbox has no network, so nothing can be installed
#| stderr: npm: this sandbox has no network
#| stderr: conda: this sandbox has no network
#| stderr: apt-get: this sandbox has no network
!wget -q https://example.com/data.csv
!curl -s https://example.com
!git clone -q https://github.com/psf/requests
!apt-get install -y cowsay
!npm install lodash
!conda install -y numpy
!sudo apt-get update

# %% programs of the larger image are named
#| image: standard
#| until: standard
#| stderr: soffice is not installed in this image. A container with the image full has it.
#| stderr: tesseract is not installed in this image.
!soffice --version; tesseract --version

# %% an array beyond the memory is refused, and variables stay
#| stdout: Unable to allocate 6.71 GiB
#| stdout: kept
import numpy as np
kept = "kept"
try: np.zeros((30_000, 30_000)).fill(1)
except MemoryError as error: print(error, kept)
