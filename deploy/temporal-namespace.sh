#!/bin/sh
# Registers the namespace of this installation, unless it is there. TEMPORAL_ADDRESS says which server.
set -eu

temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" > /dev/null 2>&1 ||
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention 72h
