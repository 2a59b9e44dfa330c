"""What other memory programs wrote, as notes: one module for each format."""
