"""Papers reproduced: their experiments as data, what comes out of ours beside what they published."""
