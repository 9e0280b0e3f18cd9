"""Several judges on the same pairs, each beside the first: `autoj bench ablation`."""
