"""Files that trainable coreference systems read, each with the keys of that system's public reader."""
