"""`standardwebhooks` as a judge. Speaks JSON, one object a line, over standard input and output.

verify   whether a delivery is signed as the standard says
sign     the headers of a decision
"""

import json
import sys
from datetime import datetime, timezone

from standardwebhooks import Webhook, WebhookVerificationError


def say(what):
    print(json.dumps(what), flush=True)


def main(what):
    for line in sys.stdin:
        line = json.loads(line)
        webhook = Webhook(line["secret"])
        if what == "sign":
            at = datetime.fromtimestamp(line["timestamp"], tz=timezone.utc)
            say({"signature": webhook.sign(line["id"], at, line["body"])})
            continue
        try:
            say({"taken": webhook.verify(line["body"], line["headers"])})
        except WebhookVerificationError as error:
            say({"refused": str(error)})


if __name__ == "__main__":
    main(sys.argv[1])
