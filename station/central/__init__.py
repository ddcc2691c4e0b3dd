"""The central station: takes in the logs of all tables, shows the hall what happens."""
