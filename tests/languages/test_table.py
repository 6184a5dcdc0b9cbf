"""The table of promises: what it counts, and what it says where there is nothing to count."""

from __future__ import annotations

from tests.languages.table import Promise, page, read

FIRST = b"""<testsuites><testsuite>
<testcase classname="tests.conformance.promises.test_tls" name="test_a[rest/x]"/>
<testcase classname="tests.conformance.promises.test_tls" name="test_a[rest/y]"><failure message="no"/></testcase>
<testcase classname="tests.conformance.promises.test_tls" name="test_b"><skipped message="tcp has no TLS"/></testcase>
<testcase classname="tests.conformance.promises.test_tls" name="test_c[0]"><failure message="no"/></testcase>
<testcase classname="tests.conformance.promises.test_ping" name="test_d[NOTSET]">
<skipped message="got empty parameter set for (pinging)"/></testcase>
</testsuite></testsuites>"""
AGAIN = FIRST.replace(b'name="test_a[rest/y]"><failure message="no"/></testcase>', b'name="test_a[rest/y]"/>')


def test_cases_are_counted_by_promise_and_one_that_passes_the_second_time_has_passed() -> None:
    assert read(FIRST)["test_tls", "test_a"] == Promise(passed=1, failed=1)
    kept = read(FIRST, AGAIN)
    assert kept["test_tls", "test_a"] == Promise(passed=2)
    assert kept["test_tls", "test_c"] == Promise(failed=1)


def test_the_page_says_why_there_is_no_case_and_which_failed() -> None:
    text = page({"Go": read(FIRST, AGAIN), "Rust": read(FIRST)}, {("test_languages_meet", "test_x"): Promise(passed=7)})
    assert 'tls: a,2,"1 failed, 1 passed"\n' in text
    assert "tls: b,[2],[2]\n" in text
    assert "[1] it offers nothing that this could be asked of\n[2] tcp has no TLS\n" in text
    assert "cases that passed,2,1\n" in text
    assert text.endswith('"pairs of two languages: 7 passed, 0 failed, 0 skipped"\n')
