"""What people look at: tables of scores and the page in one HTML file."""
