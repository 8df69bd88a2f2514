"""Link: characters, CRC-8, packets on the wire."""
