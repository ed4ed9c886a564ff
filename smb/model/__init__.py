"""The domain as frozen values: identity, evidence, objects, revisions, and what the ledger says of them. No IO, no clock."""
