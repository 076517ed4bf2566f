"""What can be asked: every option once, and every command in one table; both doors are made of it."""
