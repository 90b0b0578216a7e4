"""The data of charts as series, read from the objects of plotting libraries."""
