"""The page of `autoj view`: stored runs over a loopback server, live while they are written."""
