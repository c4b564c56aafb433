"""What `bench tables` writes of the saved result of each benchmark."""
