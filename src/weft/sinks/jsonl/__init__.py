"""Items in a file of JSON lines, from one worker or from several."""
