"""`tenner release`: one signed file with the code for a chip family."""
