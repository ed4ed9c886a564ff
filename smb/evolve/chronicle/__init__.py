"""When things were, who and what is named, and what notes mark as to do, open or decided."""
