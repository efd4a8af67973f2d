"""How fast the service answers: a load beside a constant answer, other servers, and work that goes on meanwhile."""
