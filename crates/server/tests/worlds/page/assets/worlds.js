fetch("/api/worlds")
