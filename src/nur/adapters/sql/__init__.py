"""The stores in SQL: tables described once for every database, each query written once, one folder per engine."""
