"""Wire formats: the layouts that messages have in memory and on a link, one file per message layer."""
