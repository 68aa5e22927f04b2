# The rest of the configuration is JSON.
