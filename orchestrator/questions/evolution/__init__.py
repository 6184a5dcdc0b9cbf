"""What readers make of records that another schema wrote."""
