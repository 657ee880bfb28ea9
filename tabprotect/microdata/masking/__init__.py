"""Methods that mask records: every module holds one method or one family of methods."""
