"""The ledger in SQL: tables described once for every database, transaction bodies written once, engines beside them."""
