"""Runs in object stores: judged on a local disk, and synced to a bucket while they grow.

A store has neither an append nor a lock. So a run is a set of objects that never change, each named
after the session that stored it and its content, and a numbered manifest that lists them:

```
manifest-000000000042.json   the state after 42 commits: who writes, and what each file consists of
ledger.jsonl.9f86d0818843…   a piece of the ledger, or of failures.jsonl: the ledger is its pieces
cases.jsonl.60303ae22b99…    a whole file, likewise run.json, plan.jsonl, verdicts.jsonl, …
```

`ownership` says who may write, `storing` turns files into pieces, `fetching` makes files of them,
and `stored_run` is a session of all three. A commit makes the manifest of the next number, which
must not be there yet: of two writers one finds that it is, and stops. Names come from the fixed
names of a run's files and from digests, never from what is judged.
"""
