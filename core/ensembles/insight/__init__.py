"""What many trees tell besides answers: how good they are, why they answer so, and what they rely on."""
