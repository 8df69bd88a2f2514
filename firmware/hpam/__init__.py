"""Message layer `hpam`: Active Messages in a card's buffers, without firmware."""
