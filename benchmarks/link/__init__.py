"""Durable events a second and the time to a durable acknowledgement: the link beside HTTP and MQTT.

Every contestant stores the same chained event of about 460 bytes in SQLite (write-ahead log,
``synchronous=FULL``) and counts an event as durable when its acknowledgement is back at the client.
"""
