# %% numba compiles a loop
#| image: full
#| stdout: 4999950000
import numba
@numba.njit
def total(n):
    s = 0
    for i in range(n):
        s += i
    return s
print(total(100_000))

# %% numba in parallel, vectorised and cached
#| image: full
#| stdout: 6.0
#| stdout: [2. 4.]
import numba, numpy as np
@numba.njit(parallel=True, cache=True)
def add(a):
    s = 0.0
    for i in numba.prange(a.size):
        s += a[i]
    return s
@numba.vectorize(["float64(float64)"])
def double(x): return x * 2
print(add(np.array([1.0, 2.0, 3.0])), double(np.array([1.0, 2.0])))

# %% CatBoost classifier with text categories
#| image: full
#| stdout: accuracy 1.0
import pandas as pd
from catboost import CatBoostClassifier, Pool
data = pd.DataFrame({"colour": ["red", "blue"] * 50, "n": range(100)}); target = [1, 0] * 50
model = CatBoostClassifier(iterations=20, depth=3, verbose=False, allow_writing_files=False)
model.fit(Pool(data, target, cat_features=["colour"]))
print("accuracy", model.score(data, target))

# %% CatBoost regressor, importance and saved model
#| image: full
#| file: model.cbm
#| stdout: x
import numpy as np, pandas as pd
from catboost import CatBoostRegressor
X = pd.DataFrame({"x": np.arange(200.0), "noise": np.random.default_rng(0).normal(size=200)})
model = CatBoostRegressor(iterations=50, silent=True).fit(X, X.x * 2)
model.save_model("/mnt/data/model.cbm")
print(CatBoostRegressor().load_model("/mnt/data/model.cbm").get_feature_importance(prettified=True).iloc[0, 0])

# %% SHAP explains a tree model
#| stderr: any
#| image: full
#| figure
#| stdout: (80, 4)
import shap
from sklearn.datasets import make_regression
from sklearn.ensemble import RandomForestRegressor
X, y = make_regression(80, 4, random_state=0)
values = shap.TreeExplainer(RandomForestRegressor(20, random_state=0).fit(X, y)).shap_values(X)
print(values.shape)
shap.summary_plot(values, X)

# %% SHAP explains XGBoost with a waterfall
#| image: full
#| figure
import pandas as pd, shap, xgboost
X = pd.DataFrame({"a": range(60), "b": [v % 7 for v in range(60)]})
explanation = shap.Explainer(xgboost.XGBRegressor(n_estimators=20).fit(X, X.a * 2 + X.b))(X)
shap.plots.waterfall(explanation[0])

# %% UMAP embeds digits
#| image: full
#| stdout: (300, 2)
#| stderr: any
import umap
from sklearn.datasets import load_digits
print(umap.UMAP(n_neighbors=10, random_state=1).fit_transform(load_digits().data[:300]).shape)

# %% association rules
#| image: full
#| stdout: bread
import pandas as pd
from mlxtend.frequent_patterns import apriori, association_rules
from mlxtend.preprocessing import TransactionEncoder
baskets = [["bread", "milk"], ["bread", "butter"], ["bread", "milk", "butter"], ["milk"]]
encoder = TransactionEncoder(); table = pd.DataFrame(encoder.fit(baskets).transform(baskets), columns=encoder.columns_)
rules = association_rules(apriori(table, min_support=0.4, use_colnames=True), metric="confidence", min_threshold=0.6)
print(rules[["antecedents", "consequents", "confidence"]].to_string())

# %% survival curve with lifelines
#| image: full
#| figure
#| stdout: median
import matplotlib.pyplot as plt
from lifelines import KaplanMeierFitter
curve = KaplanMeierFitter().fit([5, 6, 6, 2, 4, 4], [1, 0, 0, 1, 1, 1])
print("median", curve.median_survival_time_); curve.plot(); plt.show()

# %% GARCH model
#| image: full
#| stdout: omega
import numpy as np
from arch import arch_model
returns = np.random.default_rng(1).normal(size=500)
print(arch_model(returns, vol="Garch", p=1, q=1).fit(disp="off").params.to_string())

# %% forecast with Prophet
#| image: full
#| figure
#| stdout: 130
#| stderr: any
import numpy as np, pandas as pd
from prophet import Prophet
data = pd.DataFrame({"ds": pd.date_range("2024-01-01", periods=100), "y": np.arange(100) + 5 * np.sin(np.arange(100) / 7)})
model = Prophet(); model.fit(data)
forecast = model.predict(model.make_future_dataframe(periods=30))
print(len(forecast)); model.plot(forecast);

# %% automatic ARIMA
#| image: full
#| stdout: 5
#| stderr: any
import numpy as np, pmdarima as pm
series = np.cumsum(np.random.default_rng(0).normal(size=80))
print(len(pm.auto_arima(series, seasonal=False, suppress_warnings=True, max_p=2, max_q=2).predict(5)))

# %% word vectors with gensim
#| image: full
#| stdout: (20,)
from gensim.models import Word2Vec
texts = [["cat", "sits", "mat"], ["dog", "sits", "rug"], ["cat", "and", "dog"]] * 20
print(Word2Vec(texts, vector_size=20, min_count=1, epochs=5, seed=1, workers=1).wv["cat"].shape)

# %% spectrum of a sound with librosa
#| image: full
#| figure
#| stdout: 440
import librosa, librosa.display, matplotlib.pyplot as plt, numpy as np
rate = 22050; sound = 0.5 * np.sin(2 * np.pi * 440 * np.arange(rate * 2) / rate).astype(np.float32)
mel = librosa.feature.melspectrogram(y=sound, sr=rate)
print(round(float(np.median(librosa.yin(sound, fmin=200, fmax=800, sr=rate)))))
librosa.display.specshow(librosa.power_to_db(mel), sr=rate, x_axis="time", y_axis="mel"); plt.show()

# %% communities of a network with igraph
#| image: full
#| stdout: 2 communities
import igraph as ig
graph = ig.Graph([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)])
print(len(graph.community_leiden(objective_function="modularity")), "communities")

# %% sequences with Biopython
#| image: full
#| stdout: MAIVMGR
#| file: seq.fasta
from Bio import SeqIO
from Bio.Seq import Seq
from Bio.SeqRecord import SeqRecord
print(Seq("ATGGCCATTGTAATGGGCCGC").translate())
SeqIO.write([SeqRecord(Seq("ATGC"), id="a", description="")], "/mnt/data/seq.fasta", "fasta")
