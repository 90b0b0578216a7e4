# %% zip archive written and read
#| file: a.zip
#| stdout: ['x.txt']
import zipfile
with zipfile.ZipFile("/mnt/data/a.zip", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("x.txt", "x")
print(zipfile.ZipFile("/mnt/data/a.zip").namelist())

# %% archives by shutil, tar and gzip
#| file: b.tar.gz
import pathlib, shutil
folder = pathlib.Path("/tmp/b"); folder.mkdir(); (folder / "x.txt").write_text("x")
shutil.make_archive("/mnt/data/b", "gztar", folder); shutil.unpack_archive("/mnt/data/b.tar.gz", "/tmp/c")

# %% zip and unzip commands
#| image: standard
#| stdout: h.txt
!echo hello > /tmp/h.txt && cd /tmp && zip -q h.zip h.txt && rm h.txt && unzip h.zip

# %% xz and bzip2 commands
#| image: standard
#| stdout: data
%%bash
cd /tmp && echo data > f && xz f && unxz f.xz && bzip2 f && bunzip2 f.bz2 && cat f

# %% zstd, lzma and bz2 in Python
#| stdout: True
import bz2, gzip, lzma, zlib
print(all(m.decompress(m.compress(b"x" * 99)) == b"x" * 99 for m in (bz2, gzip, lzma, zlib)))

# %% files in folders are results
#| file: out/deep/report.txt
from pathlib import Path
path = Path("/mnt/data/out/deep/report.txt"); path.parent.mkdir(parents=True); path.write_text("ok")

# %% relative paths are in /mnt/data
#| file: relative.csv
#| stdout: /mnt/data
import os
open("relative.csv", "w").write("a\n1\n"); print(os.getcwd())

# %% imported modules leave no caches
#| files-only: helper.py
%%writefile helper.py
def double(x):
    return 2 * x

# %% a module beside the notebook is imported
#| stdout: 42
#| files-only: helper2.py
open("helper2.py", "w").write("def double(x):\n    return 2 * x\n")
import helper2
print(helper2.double(21))

# %% glob, walk and sizes
#| stdout: ['a.txt', 'b.txt']
import glob, os, pathlib
for name in "ab":
    pathlib.Path(f"/mnt/data/{name}.txt").write_text(name)
print(sorted(os.path.basename(p) for p in glob.glob("/mnt/data/**/*.txt", recursive=True)))

# %% temporary files are not results
#| files: none
import tempfile
with tempfile.NamedTemporaryFile("w+", suffix=".txt") as file:
    file.write("x"); file.flush()

# %% disk usage
#| stdout: free
import shutil
print("free" if shutil.disk_usage("/mnt/data").free > 100_000_000 else "full")

# %% tree, file, less and find commands
#| image: standard
#| stdout: ASCII text
#| stdout: 1 directory
!mkdir -p /tmp/t && echo hi > /tmp/t/a.txt && tree /tmp/t && file /tmp/t/a.txt && less /tmp/t/a.txt && find /tmp/t -name '*.txt' | xargs wc -l

# %% memory-mapped numpy array
#| file: big.npy
#| stdout: 10.0
import numpy as np
a = np.lib.format.open_memmap("/mnt/data/big.npy", mode="w+", dtype="f8", shape=(10,)); a[:] = 1; a.flush(); print(np.load("/mnt/data/big.npy", mmap_mode="r").sum())

# %% a file that is left open has its content for the next call
#| stdout: first line
log = open("log.txt", "w"); log.write("first line\n")
print("written")
#| next
%%bash
cat log.txt

# %% caches of pytest and Jupyter are no results
#| files-only: kept.txt
import os
for folder in (".pytest_cache/v", ".ipynb_checkpoints", "__pycache__"):
    os.makedirs(folder, exist_ok=True)
    open(f"{folder}/note", "w").close()
open("kept.txt", "w").close()

# %% ls, find and du show the files of folders that are links
#| stdout: linked-a.txt
#| stdout: /workspace/linked-a.txt
#| stdout: large
open("/mnt/data/linked-a.txt", "w").write("x" * 100_000)
!ls -1 /home/user | grep linked
!find /workspace -name 'linked-*'
!test "$(du -s /app | cut -f1)" -ge 96 && echo large
