"""The vendors' own Python clients against the fake. `cargo xtask test --only sdk` runs this.

The output is TAP: one line for each test."""

import sys
import traceback

import anthropic_api
import chat_api
import responses_api
from fake import Fake


def main() -> int:
    fake = Fake()
    passed = failed = 0
    for module in (anthropic_api, chat_api, responses_api):
        for name, test in module.tests(fake):
            try:
                test()
            except BaseException:
                failed += 1
                print(f"not ok {passed + failed} - {module.__name__}: {name}", flush=True)
                traceback.print_exc()
            else:
                passed += 1
                print(f"ok {passed + failed} - {module.__name__}: {name}", flush=True)
    print(f"# pass {passed}\n# fail {failed}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
