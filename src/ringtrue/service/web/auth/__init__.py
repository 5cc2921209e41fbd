"""Who is asking, and whether they may: passwords, invitations, guards of routes."""
