/**
 * Types of the lines that are read, as `protos/schemas` describes them, with defaults filled in.
 *
 * @typedef {{ path: string, sha256: string }} CheckedFile
 * @typedef {{ certificate: string, key: string }} ServingTls
 * @typedef {{
 *   protocol: string, identity: string, implementation: string | null, host: string, port: number,
 *   knobs: Record<string, string>, schema: CheckedFile | null, operations: string[],
 *   resources: Record<string, string> | null, tls: ServingTls | null,
 * }} Serve
 * @typedef {{ host: string, port: number, identity: string | null, anonymous: boolean }} Target
 * @typedef {{
 *   kind: string, size: number, reply_size: number, count: number, per_second: number, path: string | null,
 *   sha256: string | null, full_decode: boolean, opening: number, schema_change: string,
 * }} Payload
 * @typedef {{
 *   concurrency: number, requests: number | null, duration_s: number | null, rate_per_s: number | null,
 *   arrivals: "poisson" | "uniform", think_s: number, thinking: "constant" | "exponential",
 * }} Load
 * @typedef {{ requests: number, at_least_s: number, at_most_s: number }} Warmup
 * @typedef {{ operation: string, weight: number, payload: Payload }} Mixed
 * @typedef {{
 *   protocol: string, client: string, operation: string, record: string, target: Target | null, payload: Payload,
 *   connection: "reuse" | "per-request", load: Load, warmup: Warmup, timeout_s: number, seed: number, calls: number,
 *   start_at_unix_ns: number | bigint | null, hold: boolean, turn_warm_up: number | null,
 *   knobs: Record<string, string>, schema: CheckedFile | null, tls: CheckedFile | null, mix: Mixed[],
 * }} Trial
 *
 * @typedef {Record<string, any>} Fields of a message, in plain values
 */

export {};
