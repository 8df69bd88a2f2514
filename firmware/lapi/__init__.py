"""Message layer `lapi`: host library over HAL, without firmware of its own."""
