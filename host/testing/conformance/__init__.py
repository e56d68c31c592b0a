"""What a plugin of one kind must do, as checks that run with pytest or without it.

A store of your own, with pytest::

    @pytest.mark.parametrize("check", STORE_CHECKS.values(), ids=STORE_CHECKS.keys())
    def test_my_store(check):
        check(MyStore())

and without::

    for outcome in check_store(MyStore):
        print(outcome)
"""

from host.testing.conformance.stores import SHARED_STORE_CHECKS, STORE_CHECKS, Outcome, check_store

__all__ = ["SHARED_STORE_CHECKS", "STORE_CHECKS", "Outcome", "check_store"]
