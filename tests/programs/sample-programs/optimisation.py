# %% linear programme with PuLP
#| image: standard
#| stdout: Optimal
#| stdout: 2 6
from pulp import PULP_CBC_CMD, LpMaximize, LpProblem, LpStatus, LpVariable
x, y = LpVariable("x", lowBound=0), LpVariable("y", lowBound=0)
problem = LpProblem("production", LpMaximize)
problem += 3 * x + 5 * y
problem += x <= 4
problem += 2 * y <= 12
problem += 3 * x + 2 * y <= 18
problem.solve(PULP_CBC_CMD(msg=False))
print(LpStatus[problem.status], round(x.value()), round(y.value()))

# %% knapsack with PuLP's default solver
#| image: standard
#| stdout: ['a', 'c']
import pulp
value, weight = {"a": 10, "b": 4, "c": 7}, {"a": 5, "b": 4, "c": 3}
take = pulp.LpVariable.dicts("take", value, cat="Binary")
problem = pulp.LpProblem("knapsack", pulp.LpMaximize)
problem += pulp.lpSum(value[k] * take[k] for k in value)
problem += pulp.lpSum(weight[k] * take[k] for k in value) <= 8
problem.solve()
print([k for k in value if take[k].value() > 0.5])

# %% portfolio with CVXPY
#| image: full
#| stdout: optimal
#| stdout: 1.0
import cvxpy as cp, numpy as np
mean, covariance = np.array([0.1, 0.2, 0.15]), np.diag([0.05, 0.2, 0.1])
w = cp.Variable(3)
problem = cp.Problem(cp.Maximize(mean @ w - cp.quad_form(w, covariance)), [cp.sum(w) == 1, w >= 0])
problem.solve()
print(problem.status, round(float(w.value.sum()), 6))

# %% semidefinite programme and integer programme with CVXPY
#| image: full
#| stdout: 3.0
#| stdout: 4.0
import cvxpy as cp, numpy as np
X = cp.Variable((2, 2), PSD=True)
print(round(float(cp.Problem(cp.Maximize(cp.trace(X)), [X[0, 0] <= 1, X[1, 1] <= 2]).solve()), 3))
n = cp.Variable(integer=True)
print(round(float(cp.Problem(cp.Maximize(n), [n <= 4.7]).solve()), 3))

# %% constraint programme with OR-Tools
#| image: full
#| stdout: OPTIMAL 92 solutions
from ortools.sat.python import cp_model
class Counter(cp_model.CpSolverSolutionCallback):
    count = 0
    def on_solution_callback(self): self.count += 1
model = cp_model.CpModel()
queens = [model.new_int_var(0, 7, f"q{i}") for i in range(8)]
model.add_all_different(queens); model.add_all_different([q + i for i, q in enumerate(queens)]); model.add_all_different([q - i for i, q in enumerate(queens)])
solver = cp_model.CpSolver(); solver.parameters.enumerate_all_solutions = True
counter = Counter(); status = solver.solve(model, counter)
print(solver.status_name(status), counter.count, "solutions")

# %% travelling salesman with OR-Tools
#| image: full
#| stdout: length 80
from ortools.constraint_solver import pywrapcp, routing_enums_pb2
distance = [[0, 10, 15, 20], [10, 0, 35, 25], [15, 35, 0, 30], [20, 25, 30, 0]]
manager = pywrapcp.RoutingIndexManager(4, 1, 0); routing = pywrapcp.RoutingModel(manager)
callback = routing.RegisterTransitCallback(lambda a, b: distance[manager.IndexToNode(a)][manager.IndexToNode(b)])
routing.SetArcCostEvaluatorOfAllVehicles(callback)
options = pywrapcp.DefaultRoutingSearchParameters(); options.first_solution_strategy = routing_enums_pb2.FirstSolutionStrategy.PATH_CHEAPEST_ARC
print("length", routing.SolveWithParameters(options).ObjectiveValue())

# %% linear solver of OR-Tools
#| image: full
#| stdout: 34
from ortools.linear_solver import pywraplp
solver = pywraplp.Solver.CreateSolver("SCIP")
x, y = solver.IntVar(0, solver.infinity(), "x"), solver.IntVar(0, solver.infinity(), "y")
solver.Add(x + 2 * y <= 14); solver.Add(3 * x - y >= 0); solver.Add(x - y <= 2); solver.Maximize(3 * x + 4 * y)
solver.Solve(); print(int(solver.Objective().Value()))

# %% Optuna searches parameters
#| image: full
#| stdout: found
#| stderr: any
import optuna
optuna.logging.set_verbosity(optuna.logging.WARNING)
study = optuna.create_study(direction="minimize", sampler=optuna.samplers.TPESampler(seed=1))
study.optimize(lambda trial: (trial.suggest_float("x", -10, 10) - 2) ** 2, n_trials=40)
print("found" if abs(study.best_params["x"] - 2) < 1.5 else study.best_params)
