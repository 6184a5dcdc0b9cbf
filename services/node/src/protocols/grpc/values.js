/** JSON values as `google.protobuf.Value`, and back. */

/** @typedef {import("../../contract/types.js").Fields} Fields */

/**
 * @param {unknown} value
 * @returns {Fields}
 */
export function toValue(value) {
  switch (typeof value) {
    case "number":
      return { numberValue: value };
    case "string":
      return { stringValue: value };
    case "boolean":
      return { boolValue: value };
  }
  if (value === null || value === undefined) return { nullValue: 0 };
  if (Array.isArray(value)) return { listValue: { values: value.map(toValue) } };
  const fields = Object.fromEntries(
    Object.entries(/** @type {Fields} */ (value)).map(([key, item]) => [key, toValue(item)]),
  );
  return { structValue: { fields } };
}

/**
 * @param {Fields} value
 * @returns {unknown}
 */
export function fromValue(value) {
  if (value.numberValue !== undefined) return value.numberValue;
  if (value.stringValue !== undefined) return value.stringValue;
  if (value.boolValue !== undefined) return value.boolValue;
  if (value.listValue !== undefined) return /** @type {Fields[]} */ (value.listValue.values ?? []).map(fromValue);
  if (value.structValue !== undefined) {
    const fields = /** @type {Record<string, Fields>} */ (value.structValue.fields ?? {});
    return Object.fromEntries(Object.entries(fields).map(([key, item]) => [key, fromValue(item)]));
  }
  if (value.nullValue !== undefined) return null;
  throw new Error("a google.protobuf.Value without a value");
}
