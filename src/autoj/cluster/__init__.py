"""One run on many machines: its shards are judged as tasks of a cluster, then merged."""
