import assert from "node:assert/strict";
import { test } from "node:test";
import { Accounts, OF_ACCOUNTS, paymentRefusal } from "../src/operations/accounts.js";
import { BadRequest } from "../src/operations/bad-request.js";
import { PAGES, Posts } from "../src/operations/posts.js";
import { Held, stored, verify } from "../src/operations/stored.js";

test("the rows are those of the pages", () => {
  assert.equal(new Accounts().digest(), "7de8a7bcc3f115260663794a9a63263803263c1c1bd3eea0b92863d644cca464");
  assert.equal(new Posts().digest(), "fdacc05ee55d69624f6ad4f2f16eb2572c139993ed91912bc7e30784b6f7a03b");
});

for (const operation of [...Object.keys(OF_ACCOUNTS), ...Object.keys(PAGES)]) {
  test(`what a store answers to ${operation} is what a requester takes for right, and nothing else is`, () => {
    const held = new Held(operation in OF_ACCOUNTS ? "accounts" : "pages");
    for (const request of stored(operation, 7).slice(0, 50)) {
      const reply = held.answer(operation, request);
      assert.equal(verify(operation, request, reply), null);
      assert.notEqual(verify(operation, request, { ...reply, more: 1 }), null);
      const [[name] = [""]] = Object.entries(reply);
      assert.notEqual(verify(operation, request, { ...reply, [name]: null }), null);
    }
  });
}

test("a payment that is not covered is declined, and changes nothing", () => {
  const store = new Accounts();
  const { balance } = store.balance({ account: 1 });
  const request = { payer: 1, payee: 2, amount: balance + 1 };
  const reply = store.payment(request);
  assert.deepEqual(reply, { accepted: false, payment: 0, balance });
  assert.equal(paymentRefusal(request, reply), null);
  assert.deepEqual(store.payment({ ...request, amount: balance }), { accepted: true, payment: 100_001, balance: 0 });
  assert.equal(store.transactions({ account: 1, count: 1 }).transactions[0]?.number, 100_001);
});

test("what cannot be met is refused", () => {
  const store = new Accounts();
  for (const ask of [
    () => store.balance({ account: 10_001 }),
    () => store.payment({ payer: 1, payee: 1, amount: 1 }),
    () => store.payment({ payer: 1, payee: 2, amount: 0 }),
    () => store.page({ after: 0, count: 1001 }),
    () => new Posts().postsOf({ user: 0, count: 1 }),
    () => new Posts().under([1], 101),
  ]) {
    assert.throws(ask, BadRequest);
  }
});

test("queries are counted as a database would be asked", () => {
  const held = new Held("pages");
  held.answer("feed", { user: 1, count: 10, each: 5 });
  held.answer("user", { user: 1 });
  const { requests, queries } = held.told();
  assert.deepEqual([requests, queries], [2, 4]);
});
