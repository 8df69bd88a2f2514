"""The link: characters, CRC-8, packets as they stand on the wire."""
