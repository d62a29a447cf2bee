"""A refund waits for a person. Start `holdpoint demo`, set the two variables that it prints for a program, run this,
and answer on the page: approve it, change the amount, or deny it."""

import argparse

from holdpoint import Denied, gate


@gate(title=lambda args: f"Refund {args['amount']} to {args['customer']}")
def refund(customer: str, amount: float) -> str:
    return f"refunded {amount} to {customer}"


if __name__ == "__main__":
    words = argparse.ArgumentParser()
    words.add_argument("--customer", default="customer-7")
    try:
        print(refund(words.parse_args().customer, 20.0))
    except Denied as denied:
        print(f"not refunded: {denied.reason}")
