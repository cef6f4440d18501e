"""A follow-up question and the turns before it → a complete question to be searched for, by rules."""
