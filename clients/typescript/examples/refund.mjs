// A refund waits for a person. Start `holdpoint demo`, set the two variables that it prints for a program, run this, and
// answer on the page: approve it, change the amount, or deny it.

import { Denied, gate } from "holdpoint";

const refund = gate(({ customer, amount }) => `refunded ${amount} to ${customer}`, {
  tool: "refund",
  title: ({ customer, amount }) => `Refund ${amount} to ${customer}`,
});

try {
  console.log(await refund({ customer: process.argv[2] ?? "customer-7", amount: 20 }));
} catch (error) {
  if (!(error instanceof Denied)) throw error;
  console.log(`not refunded: ${error.reason}`);
}
