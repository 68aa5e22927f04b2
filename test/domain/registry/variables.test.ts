import { describe, expect, it } from 'vitest';
import { checkSchema } from '#domain/registry/variables/check.ts';
import { maskVariables, mergeVariables, secretNames, validateVariables } from '#domain/registry/variables/variables.ts';
import { TimeLimitExceeded } from '#domain/shared/evaluation/time-limit.ts';
import type { JsonObject } from '#domain/shared/values/json.ts';
import { within } from '#test/support/slowness.ts';

const withVariables = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});

const errorsOf = (properties: JsonObject, input: JsonObject, more: JsonObject = {}) =>
  validateVariables(withVariables(properties, more), input).errors;

const secret = { type: 'string', writeOnly: true };

describe('the variables of a template', () => {
  const schema = withVariables(
    {
      size: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
      region: { enum: ['eu', 'us'] },
      day: { type: 'string', format: 'date' },
      network: {
        type: 'object',
        properties: { cidr: { type: 'string', pattern: '^[0-9./]+$' }, tags: { type: 'array', uniqueItems: true } },
        required: ['cidr'],
        additionalProperties: false,
      },
    },
    { required: ['region'] },
  );

  it('get their defaults in a copy of the input', () => {
    const input = { region: 'eu' };
    expect(validateVariables(schema, input)).toEqual({
      valid: true,
      errors: [],
      variables: { region: 'eu', size: 3 },
    });
    expect(input).toEqual({ region: 'eu' });
  });

  it('are refused with every error and its path', () => {
    const input = { size: 12, day: 'soon', network: { tags: [1, 1], 'a/b': 1 }, sise: 1, other: 1 };
    const { valid, errors } = validateVariables(schema, input);
    expect(valid).toBe(false);
    expect(errors).toHaveLength(8);
    expect(errors).toEqual(
      expect.arrayContaining([
        { path: '/region', message: 'is required' },
        { path: '/sise', message: 'is not a declared variable; did you mean "size"?' },
        { path: '/other', message: 'is not a declared variable' },
        { path: '/size', message: 'must be at most 9' },
        { path: '/day', message: 'must be a date, such as 2030-05-31' },
        { path: '/network/cidr', message: 'is required' },
        { path: '/network/a~1b', message: 'is not known here: known are "cidr", "tags"' },
        { path: '/network/tags', message: 'must not hold the same item twice' },
      ]),
    );
  });

  it('are not converted from one type to another', () => {
    expect(errorsOf({ size: { type: 'integer' }, on: { type: ['boolean', 'null'] } }, { size: '3', on: 0 })).toEqual([
      { path: '/size', message: 'must be an integer' },
      { path: '/on', message: 'must be true or false or null' },
    ]);
  });

  it('are missing even if every object inherits a member of that name', () => {
    const schema = withVariables({ network: { type: 'object', required: ['constructor'] } });
    expect(validateVariables(schema, { network: {} }).errors).toEqual([
      { path: '/network/constructor', message: 'is required' },
    ]);
    const input = JSON.parse('{"__proto__": {"polluted": true}, "toString": 1}');
    expect(validateVariables(schema, input).errors.map(({ path }) => path)).toEqual(['/__proto__', '/toString']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('may depend on each other', () => {
    const conditions = {
      if: { properties: { kind: { const: 'static' } }, required: ['kind'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['address'] },
    };
    const properties = { kind: { type: 'string' }, address: { type: 'string' } };
    expect(checkSchema(withVariables(properties, conditions))).toEqual([]);
    expect(errorsOf(properties, { kind: 'static' }, conditions)).toEqual([
      { path: '/address', message: 'is required' },
    ]);
    expect(errorsOf(properties, { kind: 'other' }, conditions)).toEqual([]);
  });

  it('may have a type that refers to itself', () => {
    const schema = withVariables(
      { tree: { $ref: '#/$defs/node' } },
      {
        $defs: {
          node: { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } } } },
        },
      },
    );
    expect(checkSchema(schema)).toEqual([]);
    expect(validateVariables(schema, { tree: { children: [{ children: [3] }] } }).errors).toEqual([
      { path: '/tree/children/0/children/0', message: 'must be an object' },
    ]);
  });

  it('are refused with one error if they match none of several alternatives', () => {
    const size: JsonObject = { oneOf: [{ type: 'integer' }, { type: 'string', pattern: '^auto$' }] };
    expect(errorsOf({ size }, { size: 'x' })).toEqual([
      { path: '/size', message: 'matches none of the allowed forms' },
    ]);
  });

  it('are checked for decimal multiples without rounding errors', () => {
    expect(errorsOf({ price: { type: 'number', multipleOf: 0.1 } }, { price: 0.3 })).toEqual([]);
    expect(errorsOf({ price: { type: 'number', multipleOf: 0.1 } }, { price: 0.35 })).toHaveLength(1);
  });

  it('come from the environment if the template declares them and the run does not set them', () => {
    const environment = { size: 5, region: 'us', elsewhere: true };
    expect(mergeVariables(schema, { environment, run: { region: 'eu', sise: 1 } })).toEqual({
      size: 5,
      region: 'eu',
      sise: 1,
    });
  });
});

describe('a secret variable', () => {
  const schema = withVariables(
    {
      token: secret,
      account: { type: 'object', properties: { name: { type: 'string' }, password: { $ref: '#/$defs/password' } } },
      keys: { type: 'object', additionalProperties: secret, propertyNames: { pattern: '^[a-z]+$' } },
      list: { type: 'array', items: { anyOf: [{ $ref: '#/$defs/wrapped' }] } },
      late: {},
      size: { type: 'integer' },
      'a/b~c': secret,
    },
    {
      $defs: { password: secret, wrapped: { type: 'object', properties: { inner: { $ref: '#/$defs/password' } } } },
      allOf: [{ $ref: '#/$defs/rule' }, { properties: { late: { type: 'string', writeOnly: true } } }],
    },
  );

  it('is found by writeOnly anywhere inside its schema', () => {
    expect([...secretNames(schema)].sort()).toEqual(['a/b~c', 'account', 'keys', 'late', 'list', 'token']);
  });

  it('is masked as a whole, like a variable that the schema does not list', () => {
    const variables = { token: 'hunter2', account: { name: 'ana', password: 'x' }, size: 3, tokne: 'hunter2' };
    expect(maskVariables(schema, variables)).toEqual({
      token: { sensitive: true },
      account: { sensitive: true },
      size: 3,
      tokne: { sensitive: true },
    });
    expect(maskVariables(schema, variables, ['size'])['size']).toEqual({ sensitive: true });
  });

  it('never appears in an error by its value, a key or a position', () => {
    const schema = withVariables(
      {
        token: { type: 'string', writeOnly: true, minLength: 20, pattern: '^x', format: 'uuid', enum: ['one'] },
        keys: {
          type: 'object',
          writeOnly: true,
          propertyNames: { pattern: '^[a-z]+$' },
          additionalProperties: false,
          properties: { known: { type: 'object', required: ['hunter2'], dependentRequired: { a: ['hunter2'] } } },
        },
        open: { type: 'object', writeOnly: true, additionalProperties: { type: 'integer' } },
        closed: { type: 'object', writeOnly: true, unevaluatedProperties: false },
        region: { type: 'string', minLength: 20 },
      },
      {},
    );
    const input = {
      token: 'hunter2',
      keys: { hunter2: 1, HUNTER2: 'hunter2', known: { a: 1 } },
      open: { hunter2: 'hunter2' },
      closed: { hunter2: 1 },
      region: 'hunter2',
    };
    const { errors } = validateVariables(schema, input, ['region']);
    expect(new Set(errors.map(({ path }) => path))).toEqual(
      new Set(['/token', '/keys', '/open', '/closed', '/region']),
    );
    expect(JSON.stringify(errors).toLowerCase()).not.toContain('hunter2');
  });
});

describe('a schema of variables', () => {
  const paths = (schema: JsonObject) => checkSchema(schema).map(({ path }) => path);

  it('is accepted with every supported keyword', () => {
    const schema = withVariables(
      {
        size: { type: 'integer', title: 'Size', description: 'How many', default: 3, examples: [1], 'x-order': 1 },
        zone: { type: 'string', pattern: '^[a-z]{2}-\\d$', format: 'hostname', deprecated: true },
        pair: { type: 'array', prefixItems: [{ type: 'string' }], items: false, minItems: 1 },
        map: { type: 'object', patternProperties: { '^x-': { type: 'number' } }, additionalProperties: false },
        password: { type: 'string', format: 'password', writeOnly: true },
        nested: { type: 'object', default: {}, properties: { deep: { type: 'string', default: 'x' } } },
      },
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $defs: { x: true },
        additionalProperties: false,
        required: ['size'],
        dependentRequired: { size: ['zone'] },
      },
    );
    expect(checkSchema(schema)).toEqual([]);
    expect(checkSchema({ type: 'object' })).toEqual([]);
  });

  it('is refused with every problem at once', () => {
    const schema = withVariables(
      {
        a: { type: 'string', format: 'phone' },
        b: { type: 'string', pattern: '(?=x)' },
        c: { $ref: '#/$defs/none' },
        d: { $ref: 'https://example.com/schema.json' },
        e: { $ref: '#/properties/a/format' },
        f: { type: 'string', writeOnly: true, default: 'hunter2' },
        g: { anyOf: [{ type: 'object', properties: { h: { default: 1 } } }] },
        i: { type: 'object', patternProperties: { '(': true } },
        j: { nullable: true },
        'k l': {},
      },
      { $id: 'https://example.com', required: ['zzz'], additionalProperties: true },
    );
    expect(new Set(paths(schema))).toEqual(
      new Set([
        '/properties/a/format',
        '/properties/b/pattern',
        '/properties/c/$ref',
        '/properties/d/$ref',
        '/properties/e/$ref',
        '/properties/f/default',
        '/properties/g/anyOf/0/properties/h/default',
        '/properties/i/patternProperties',
        '/properties/j/nullable',
        '/properties/k l',
        '/$id',
        '',
        '/additionalProperties',
      ]),
    );
  });

  it('must be valid by the meta-schema', () => {
    expect(checkSchema({ type: 'object', properties: { size: 5 } })).toEqual([
      { path: '/properties/size', message: 'must be an object or true or false' },
    ]);
    expect(paths({ type: 'object', properties: { size: { type: 'strng', minimum: 'x' } } })).toContain(
      '/properties/size/minimum',
    );
    expect(paths({ type: 'object', properties: { token: { type: 'string', writeOnly: 'yes' } } })).toEqual([
      '/properties/token/writeOnly',
    ]);
    expect(checkSchema(withVariables({ size: { enum: [] } }))).toEqual([
      { path: '', message: 'cannot be used: enum must have non-empty array' },
    ]);
    expect(paths({})).toEqual(['/type']);
    expect(paths({ type: 'array' })).toEqual(['/type']);
  });

  it('must have defaults that follow its own rules', () => {
    expect(
      checkSchema(withVariables({ size: { type: 'integer', default: 'three' }, other: { type: 'string' } })),
    ).toEqual([
      { path: '/properties/size/default', message: "breaks the variable's own rules: /size must be an integer" },
    ]);
  });

  const endless: JsonObject[] = [
    { a: { $ref: '#/properties/a' } },
    { a: { $ref: '#/properties/b' }, b: { allOf: [{ $ref: '#/properties/a' }] } },
    { a: { not: { $ref: '#/properties/a' } } },
    { a: { type: 'object', dependentSchemas: { x: { $ref: '#/properties/a' } } } },
  ];
  it.each(endless)('must not refer to itself endlessly: %j', (properties) => {
    expect(checkSchema(withVariables(properties)).map(({ message }) => message)).toContain(
      'refers to itself endlessly',
    );
  });

  it('must not use names of members that every object has', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect(paths(withVariables(JSON.parse(`{"${name}": {"type": "string"}}`)))).toEqual([`/properties/${name}`]);
    }
  });

  it('must not be too large', () => {
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`v${index}`, {}]));
    expect(paths(withVariables(many))).toEqual(['/properties']);
    expect(paths(withVariables({ a: { enum: Array.from({ length: 20_000 }, (_, index) => index) } }))).toEqual(['']);
    let deep: JsonObject = {};
    for (let level = 0; level < 20_000; level++) deep = { items: deep };
    expect(paths(withVariables({ deep }))).toEqual(['']);
  });
});

describe('a hostile template or input', () => {
  /** Generous: the point is that it ends at all. */
  const inTime = (work: () => void) => within(4_000, work);

  it('is checked in time despite a pattern that backtracks', async () => {
    const schema = withVariables({
      a: { type: 'string', pattern: '^(a+)+$' },
      b: { patternProperties: { '(x+x+)+y': {} } },
    });
    expect(checkSchema(schema)).toEqual([]);
    await inTime(() => {
      const input = { a: `${'a'.repeat(100_000)}!`, b: { ['x'.repeat(50_000)]: 1 } };
      expect(validateVariables(schema, input).errors.map(({ path }) => path)).toEqual(['/a']);
    });
  });

  it('is checked in time despite formats whose time grows with the square of the length', async () => {
    const schema = withVariables({
      a: { type: 'string', format: 'email' },
      b: { format: 'uri' },
      c: { format: 'hostname' },
    });
    await inTime(() => {
      const text = `a@${'a.'.repeat(100_000)}`;
      expect(validateVariables(schema, { a: text, b: text, c: text }).errors).toHaveLength(3);
    });
  });

  it('is checked in time despite items that must differ', async () => {
    const schema = withVariables({ a: { type: 'array', uniqueItems: true } });
    await inTime(() => {
      const items = Array.from({ length: 9_000 }, (_, index) => ({ index }));
      expect(validateVariables(schema, { a: items }).valid).toBe(true);
    });
    expect(
      validateVariables(schema, {
        a: [
          { x: 1, y: 2 },
          { y: 2, x: 1 },
        ],
      }).valid,
    ).toBe(false);
    expect(validateVariables(schema, { a: [1, '1', [1], true, null] }).valid).toBe(true);
  });

  it('is checked in time despite branches that double at every level', async () => {
    const $defs: JsonObject = { n0: { type: 'integer' } };
    for (let level = 1; level < 40; level++) {
      $defs[`n${level}`] = { anyOf: [{ $ref: `#/$defs/n${level - 1}` }, { $ref: `#/$defs/n${level - 1}` }] };
    }
    const schema = withVariables({ a: { $ref: '#/$defs/n39' } }, { $defs });
    await inTime(() => {
      expect(checkSchema(schema)).toEqual([]);
      expect(() => validateVariables(schema, { a: 'x' })).toThrow(TimeLimitExceeded);
    });
  });

  it('is checked in time despite thousands of values that match none of many alternatives', async () => {
    const anyOf = Array.from({ length: 40 }, (_, index) => ({ const: `x${index}` }));
    const schema = withVariables({ a: { type: 'array', items: { anyOf } } });
    await inTime(() => {
      const { errors } = validateVariables(schema, { a: Array.from({ length: 3_000 }, () => 'y') });
      expect(errors).toHaveLength(101);
    });
  });

  it('is checked in time despite many long names that nearly match', async () => {
    const schema = withVariables(Object.fromEntries(names(25, 'a').map((name) => [name, {}])));
    await inTime(() => {
      const input = Object.fromEntries(names(25, 'b').map((name) => [name, 1]));
      expect(validateVariables(schema, input).valid).toBe(false);
    });
    function names(count: number, letter: string): string[] {
      return Array.from({ length: count }, (_, index) => letter.repeat(100) + index);
    }
  });

  it('is refused if it is nested too deep or too large', () => {
    const schema = withVariables({ a: {} });
    const deep = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`);
    expect(validateVariables(schema, { a: deep }).valid).toBe(false);
    expect(validateVariables(schema, { a: Array.from({ length: 30_000 }, () => 0) }).valid).toBe(false);
  });

  it('gets at most 100 errors, and one that counts the others', () => {
    const schema = withVariables({ a: { type: 'array', items: { type: 'string' } } });
    const { errors } = validateVariables(schema, { a: Array.from({ length: 5_000 }, (_, index) => index) });
    expect(errors).toHaveLength(101);
    expect(errors.at(-1)).toEqual({ path: '', message: 'has 4900 more errors' });
  });

  it('cannot run code through names or texts in a schema', () => {
    const evil = `"];globalThis.broken=1;//\`\${globalThis.broken=1}\n\u2028`;
    const schema = withVariables({
      a: { title: evil, enum: [evil], properties: { [evil]: { const: evil } }, required: [evil] },
      b: { type: 'object', dependentRequired: { [evil]: [evil] }, default: { [evil]: evil } },
    });
    expect(checkSchema(schema)).toEqual([]);
    expect(validateVariables(schema, { a: evil }).valid).toBe(true);
    expect(Object.hasOwn(globalThis, 'broken')).toBe(false);
  });

  it('does not fill memory with compiled schemas', () => {
    for (let index = 0; index < 300; index++) {
      expect(validateVariables(withVariables({ [`v${index}`]: { type: 'integer' } }), { [`v${index}`]: 1 }).valid).toBe(
        true,
      );
    }
  });
});
