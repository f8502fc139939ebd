"""How things come in: the arguments of calls, the options of users, the packages of others."""
