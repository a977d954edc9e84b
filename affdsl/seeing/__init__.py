"""What an expert looks at to make a kernel faster: its assembly, and where its time goes."""
