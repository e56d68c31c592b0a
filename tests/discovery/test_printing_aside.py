"""What foreign code prints is kept out of standard output, in its own thread and nowhere else."""

from __future__ import annotations

import sys
import threading

import pytest

from host.discovery.aside import printing_aside


def test_threads_that_overlap_leave_standard_output_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout
    inside, outside = threading.Event(), threading.Event()

    def long() -> None:
        with printing_aside():
            print("from the long one")
            inside.set()
            outside.wait(20)

    thread = threading.Thread(target=long)
    with printing_aside():
        thread.start()
        inside.wait(20)
        print("from the short one")
    print("the answer")
    outside.set()
    thread.join()
    print("and more")
    assert capsys.readouterr() == ("the answer\nand more\n", "from the long one\nfrom the short one\n")
    assert sys.stdout is before


def test_it_may_be_nested_and_an_error_ends_it(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout
    with pytest.raises(ValueError, match="no"), printing_aside():
        with printing_aside():
            print("a")
        print("b")
        raise ValueError("no")
    assert sys.stdout is before and capsys.readouterr() == ("", "a\nb\n")
