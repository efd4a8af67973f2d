"""Every kernel run once, so that all of them are compiled or loaded before there is work."""
