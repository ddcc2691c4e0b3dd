"""The link between tables and the central station: replication of a table's log over ZeroMQ with CURVE."""
