/** Short forms for JSON Schemas. */

export const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
});

export const text = (description: string, more: object = {}) => ({ type: 'string', description, ...more });
