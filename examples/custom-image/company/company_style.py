"""A library of the company that every container has."""

COLOURS = ["#3b55d9", "#1b7a4b", "#b3261e"]
