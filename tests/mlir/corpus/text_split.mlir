// Chunks: separators with spaces about them, several in a row, after other text, an empty last chunk.
func.func private @first()
// -----
func.func private @first()

// -----

// -----

// Not a separator: - ---- and //-----.
func.func private @first()
  // -----
func.func private @first() // -----
func.func private @first()
// -----
