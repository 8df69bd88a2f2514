"""Message layer `pipes`: host library over HAL, without firmware of its own."""
