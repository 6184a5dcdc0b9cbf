/** Users, posts and comments in memory: their rows, and what is asked of them (`protos/posts.md`). */

import { createHash } from "node:crypto";
import { BadRequest } from "./bad-request.js";
import { below, DICTIONARY, words } from "./generator.js";

/**
 * @typedef {{ user: number, name: string, about: string, joined: number }} User
 * @typedef {{ post: number, author: number, title: string, text: string, likes: number }} Post
 * @typedef {{ comment: number, post: number, author: number, text: string }} Comment
 * @typedef {{ user: number, count: number, each: number }} Page
 */

const USERS = 1000;
const POSTS = 10_000;
const COMMENTS = 30_000;
const MOST = 100;
const PREPARED = 1024;
const LAST = 10;
const EACH = 5;
const STEP = 5; // places between two words of a phrase

/** @param {number} place */
function wordAt(place) {
  return DICTIONARY[place % DICTIONARY.length];
}

/**
 * @param {number} word
 * @param {number} count
 */
function phrase(word, count) {
  const first = below(word, DICTIONARY.length);
  return Array.from({ length: count }, (_, place) => wordAt(first + STEP * place)).join(" ");
}

/**
 * The rows of a table, each made of so many words.
 * @template Row
 * @param {string} label
 * @param {number} count
 * @param {number} each
 * @param {(number: number, drawn: number[]) => Row} make
 * @returns {Row[]}
 */
export function table(label, count, each, make) {
  const drawn = words(label, each * count);
  return Array.from({ length: count }, (_, i) => make(i + 1, [...drawn.subarray(each * i, each * (i + 1))]));
}

/** @param {number[]} drawn */
export function twoWords([w0 = 0, w1 = 0]) {
  return `${wordAt(below(w0, DICTIONARY.length))} ${wordAt(below(w1, DICTIONARY.length))}`;
}

/**
 * @param {unknown} value
 * @param {string} name
 * @param {number} most
 * @returns {number}
 */
export function whole(value, name, most) {
  if (typeof value === "number" && Number.isInteger(value) && value > 0 && value <= most) return value;
  throw new BadRequest(`\`${name}\` is a whole number from 1 to ${most}, not ${JSON.stringify(value)}`);
}

/**
 * @template Row
 * @param {Row[]} rows in the order of their numbers
 * @param {(row: Row) => number} key
 * @returns {Map<number, Row[]>} those of each key, the greatest number first
 */
export function newestFirst(rows, key) {
  /** @type {Map<number, Row[]>} */
  const found = new Map();
  for (const row of rows.toReversed()) {
    const those = found.get(key(row));
    if (those === undefined) found.set(key(row), [row]);
    else those.push(row);
  }
  return found;
}

/** The rows, never written to; `queries` counts how many a database would have been asked. */
export class Posts {
  constructor() {
    this.queries = 0;
    this.users = table("users", USERS, 4, (user, drawn) => {
      const [, , w2 = 0, w3 = 0] = drawn;
      return { user, name: twoWords(drawn), about: phrase(w2, 24), joined: 15_000 + below(w3, 5000) };
    });
    this.posts = table("posts", POSTS, 4, (post, [w0 = 0, w1 = 0, w2 = 0, w3 = 0]) => ({
      post,
      author: 1 + below(w0, USERS),
      title: phrase(w1, 4),
      text: phrase(w2, 40),
      likes: below(w3, 10_000),
    }));
    this.comments = table("comments", COMMENTS, 3, (comment, [w0 = 0, w1 = 0, w2 = 0]) => ({
      comment,
      post: 1 + below(w0, POSTS),
      author: 1 + below(w1, USERS),
      text: phrase(w2, 16),
    }));
    this.byAuthor = newestFirst(this.posts, (post) => post.author);
    this.byPost = newestFirst(this.comments, (comment) => comment.post);
  }

  /** SHA-256 of all rows, as the page defines it. */
  digest() {
    const hash = createHash("sha256");
    for (const row of [...this.users, ...this.posts, ...this.comments])
      hash.update(`${Object.values(row).join("\t")}\n`);
    return hash.digest("hex");
  }

  /**
   * One query.
   * @param {Pick<Page, "user">} request
   * @returns {User}
   */
  user({ user }) {
    this.queries += 1;
    return /** @type {User} */ (this.users[whole(user, "user", USERS) - 1]);
  }

  /**
   * One query: the last posts of a user.
   * @param {Pick<Page, "user" | "count">} request
   */
  postsOf({ user, count }) {
    this.queries += 1;
    return this.last(whole(user, "user", USERS), whole(count, "count", MOST));
  }

  /**
   * One query: the last comments under each of the last posts of a user.
   * @param {Page} request
   */
  commentsOf({ user, count, each }) {
    const last = this.last(whole(user, "user", USERS), whole(count, "count", MOST));
    return this.under(
      last.map(({ post }) => post),
      each,
    );
  }

  /**
   * One query: the last comments under each of these posts.
   * @param {number[]} posts
   * @param {number} each
   * @returns {Comment[]}
   */
  under(posts, each) {
    this.queries += 1;
    whole(each, "each", MOST);
    return posts.flatMap((post) => (this.byPost.get(post) ?? []).slice(0, each));
  }

  /**
   * @param {number} user
   * @param {number} count
   */
  last(user, count) {
    return (this.byAuthor.get(user) ?? []).slice(0, count);
  }
}

/** @type {Record<string, (store: Posts, request: Page) => Record<string, unknown>>} what each operation answers */
export const PAGES = {
  user: (store, request) => ({ ...store.user(request) }),
  posts: (store, request) => ({ posts: store.postsOf(request) }),
  comments: (store, request) => ({ comments: store.commentsOf(request) }),
  feed: (store, request) => ({
    ...store.user(request),
    posts: store.postsOf(request),
    comments: store.commentsOf(request),
  }),
};

/**
 * The 1,024 requests of any of the four, with the fields of that one.
 * @param {string} operation
 * @param {number} seed
 */
export function pagesAsked(operation, seed) {
  const fixed = {
    user: {},
    posts: { count: LAST },
    comments: { count: LAST, each: EACH },
    feed: { count: LAST, each: EACH },
  };
  const more = fixed[/** @type {keyof typeof fixed} */ (operation)];
  return Array.from(words(`feed/${seed}`, PREPARED), (word) => ({ user: 1 + below(word, USERS), ...more }));
}
