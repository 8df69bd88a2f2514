"""Wire formats: layouts of messages in memory and on a link, one file for each message layer."""
