# %% linear regression with scikit-learn
#| stdout: R2 1.00
import numpy as np
from sklearn.linear_model import LinearRegression
x = np.arange(10).reshape(-1, 1)
print(f"R2 {LinearRegression().fit(x, 2 * x.ravel() + 1).score(x, 2 * x.ravel() + 1):.2f}")

# %% classification report of a random forest
#| stdout: precision
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import classification_report
from sklearn.model_selection import train_test_split
x, y = load_iris(return_X_y=True)
a, b, c, d = train_test_split(x, y, random_state=0)
print(classification_report(d, RandomForestClassifier(n_estimators=20, random_state=0, n_jobs=-1).fit(a, c).predict(b)))

# %% statsmodels OLS summary
#| image: standard
#| stdout: OLS Regression Results
import numpy as np, statsmodels.api as sm
rng = np.random.default_rng(0); x = rng.normal(size=50)
print(sm.OLS(3 * x + rng.normal(size=50), sm.add_constant(x)).fit().summary())

# %% statsmodels formula and ANOVA
#| image: standard
#| stdout: C(group)
import pandas as pd, statsmodels.api as sm
from statsmodels.formula.api import ols
df = pd.DataFrame({"group": list("aaabbbccc"), "v": [1, 2, 1, 4, 5, 4, 7, 8, 9]})
print(sm.stats.anova_lm(ols("v ~ C(group)", data=df).fit(), typ=2))

# %% ARIMA forecast
#| image: standard
#| stdout: 5
#| stderr: any
import numpy as np
from statsmodels.tsa.arima.model import ARIMA
print(len(ARIMA(np.cumsum(np.random.default_rng(0).normal(size=80)), order=(1, 1, 1)).fit().forecast(5)))

# %% seasonal decomposition plot
#| image: standard
#| figure
import numpy as np, pandas as pd, matplotlib.pyplot as plt
from statsmodels.tsa.seasonal import seasonal_decompose
s = pd.Series(np.sin(np.arange(48) / 2) + np.arange(48), index=pd.date_range("2020-01-01", periods=48, freq="MS"))
seasonal_decompose(s, model="additive").plot(); plt.show()

# %% t-test and confidence interval with scipy
#| stdout: p =
from scipy import stats
a, b = [5.1, 4.9, 5.6, 5.8], [6.1, 6.4, 5.9, 6.8]
print("p =", round(stats.ttest_ind(a, b, equal_var=False).pvalue, 4), stats.t.interval(0.95, 3, loc=5.35, scale=0.2))

# %% optimisation and curve fitting
#| stdout: [2. 3.]
import numpy as np
from scipy.optimize import curve_fit, linprog, minimize
x = np.linspace(0, 4, 30)
print(np.round(curve_fit(lambda x, a, b: a * x + b, x, 2 * x + 3)[0], 3))
assert minimize(lambda v: (v[0] - 1) ** 2, [0]).success and linprog([1], bounds=[(0, 1)]).success

# %% xgboost classifier
#| image: standard
#| stdout: accuracy
from sklearn.datasets import load_breast_cancer
from xgboost import XGBClassifier
x, y = load_breast_cancer(return_X_y=True)
print("accuracy", round(XGBClassifier(n_estimators=20, max_depth=3, eval_metric="logloss").fit(x, y).score(x, y), 2))

# %% lightgbm regressor
#| image: standard
#| stdout: score
import lightgbm as lgb, numpy as np
x = np.random.default_rng(0).normal(size=(200, 3))
print("score", lgb.LGBMRegressor(n_estimators=30, verbose=-1).fit(x, x[:, 0]).score(x, x[:, 0]) > 0.5)

# %% k-means, PCA and a pipeline
#| stdout: (150, 2)
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
x = load_iris().data
print(make_pipeline(StandardScaler(), PCA(2)).fit_transform(x).shape, len(set(KMeans(3, n_init=10).fit_predict(x))))

# %% symbolic mathematics
#| result: x
#| mime: text/latex
import sympy as sp
x = sp.symbols("x")
sp.integrate(sp.sin(x) * x, x)

# %% equations solved with sympy
#| stdout: [2, 3]
from sympy import Eq, solve, symbols
x = symbols("x")
print(solve(Eq(x**2 - 5 * x + 6, 0), x))

# %% graph algorithms
#| stdout: ['a', 'b', 'd']
import networkx as nx
g = nx.Graph([("a", "b"), ("b", "d"), ("a", "c")])
print(nx.shortest_path(g, "a", "d"), nx.density(g) > 0)

# %% cross validation in parallel processes
#| stdout: 5
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
print(len(cross_val_score(LogisticRegression(max_iter=500), *load_iris(return_X_y=True), cv=5, n_jobs=2)))

# %% model saved with joblib and pickle
#| file: model.joblib
#| stdout: [1.]
import joblib, numpy as np
from sklearn.linear_model import LinearRegression
joblib.dump(LinearRegression().fit([[0], [1]], [0, 1]), "/mnt/data/model.joblib")
print(np.round(joblib.load("/mnt/data/model.joblib").predict([[1]]), 3))

# %% forecasts of a seasonal series with two models
#| image: standard
#| stdout: [48.0, 54.0] 2024-01-01
#| figure
import matplotlib.pyplot as plt, numpy as np, pandas as pd
from statsmodels.tsa.arima.model import ARIMA
from statsmodels.tsa.holtwinters import ExponentialSmoothing
from statsmodels.tsa.seasonal import seasonal_decompose
months = np.arange(48)
series = pd.Series(months + 10 * np.sin(months / 12 * 2 * np.pi), index=pd.date_range("2020", periods=48, freq="MS"))
smooth = ExponentialSmoothing(series, trend="add", seasonal="add", seasonal_periods=12).fit()
print(smooth.forecast(2).round(0).tolist(), ARIMA(series, order=(1, 1, 0)).fit().forecast(1).index[0].date())
seasonal_decompose(series).plot(); plt.show()

# %% grid search on all processors and its confusion matrix
#| stdout: True
#| figure
#| result: GridSearchCV
import matplotlib.pyplot as plt
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import GridSearchCV
features, kinds = load_iris(return_X_y=True)
search = GridSearchCV(RandomForestClassifier(20, random_state=0), {"max_depth": [2, 3]}, n_jobs=-1, cv=3).fit(features, kinds)
print(search.best_score_ > 0.9)
ConfusionMatrixDisplay.from_estimator(search, features, kinds); plt.show()
search
