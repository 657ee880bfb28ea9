"""Global disclosure risk of Truta, Fotouhi and Barth-Jones (2004)."""
