import { describe, expect, it } from 'vitest';
import { readDraft } from '#domain/assemblies/evaluation/read-draft.ts';
import { DraftUnreadable, parseDraft } from '#domain/assemblies/spec/text/parse.ts';
import { type SpecEvaluation, type TemplateCatalog, validateSpec } from '#domain/assemblies/spec/validate.ts';
import { TemplateSpec } from '#domain/registry/spec.ts';
import { within } from '#test/support/slowness.ts';

const spec = TemplateSpec.parse({ executor: { kind: 'command', apply: [{ name: 'say', run: ['true'] }] } });
const catalog: TemplateCatalog = {
  find: async () => ({ templateId: 'a', versionId: 'b', version: '1.0.0', spec, isArchived: false }),
  listSlugs: async () => [],
};
const evaluation: SpecEvaluation = {
  checkSchema: async () => [],
  validateVariables: async (_schema, inputs) => inputs.map(() => ({ valid: true, errors: [], variables: {} })),
  examineConditions: async () => [],
};

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);
/** A name of 63 characters, the longest that a node may have. */
const long = (start: string) => start.padEnd(63, 'a');

function nodesOf(count: number, node: (number: number) => object): Record<string, object> {
  return Object.fromEntries(numbers(count).map((number) => [long(`n${number}x`), { template: 't', ...node(number) }]));
}

const hostile: [situation: string, draft: object, problems: number][] = [
  [
    'refers to 8,000 unknown nodes beside 1,000 known ones',
    {
      nodes: {
        ...nodesOf(999, () => ({})),
        last: {
          template: 't',
          variables: {
            all: numbers(8_000)
              .map((number) => `\${nodes.${long(`m${number}y`)}.outputs.a}`)
              .join(''),
          },
        },
      },
    },
    501,
  ],
  [
    'names 11,000 unknown dependencies',
    {
      nodes: nodesOf(1_000, (node) => ({
        depends_on: numbers(11).map((number) => long(`m${node * 11 + number}y`)),
      })),
    },
    501,
  ],
  [
    'declares 20,000 variables and refers to them 38,000 times',
    {
      variables: {
        type: 'object',
        properties: Object.fromEntries(numbers(20_000).map((number) => [`a${number}`, {}])),
      },
      nodes: {
        a: {
          template: 't',
          variables: {
            x: numbers(38_000)
              .map((number) => `\${variables.a${number % 20_000}}`)
              .join(''),
          },
        },
      },
    },
    0,
  ],
  [
    'holds 40,000 malformed references under a long name',
    { nodes: { a: { template: 't', variables: { ['n'.repeat(900)]: numbers(40_000).map((each) => `\${${each}}`) } } } },
    501,
  ],
  ['has 33,000 nodes', { nodes: Object.fromEntries(numbers(33_000).map((number) => [`n${number}`, { x: 1 }])) }, 1],
];

describe('validating a draft', () => {
  it.each(hostile)('takes little time and returns few problems if it %s', async (_situation, draft, problems) => {
    const { value } = parseDraft(JSON.stringify(draft));
    // It took minutes when each unknown name was compared with each known one.
    const { errors, warnings } = await within(3_000, () => validateSpec(value, catalog, evaluation));
    expect(errors).toHaveLength(problems);
    expect(JSON.stringify([errors, warnings]).length).toBeLessThan(1024 * 1024);
  });
});

it('validating a draft of more than 1,000 nodes reports only their number, whatever else is wrong', async () => {
  const draft = { nodes: nodesOf(1_001, () => ({ depends_on: ['unknown'] })) } as never;
  const { errors } = await validateSpec(draft, catalog, evaluation);
  expect(errors).toEqual([expect.objectContaining({ path: '/nodes', message: 'must have at most 1000 nodes' })]);
});

describe('reading a draft', () => {
  it('refuses a path whose names have more than 1,000 characters together', () => {
    const draft = { nodes: { a: { variables: { ['n'.repeat(600)]: { ['m'.repeat(600)]: [1] } } } } };
    expect(() => parseDraft(JSON.stringify(draft))).toThrow(DraftUnreadable);
    expect(() => parseDraft(JSON.stringify(draft))).toThrow('more than 1000 characters together');
  });

  it('finds the lines of a large value with many YAML aliases in little time', async () => {
    const large = numbers(2_000).map((number) => `  b${number}: ${number}`);
    const aliases = numbers(40).map((number) => `c${number}: *a`);
    const text = ['a: &a', ...large, ...aliases].join('\n');
    const { lines } = await within(3_000, () => {
      const draft = readDraft(text);
      if ('unreadable' in draft) throw new Error(draft.unreadable.message);
      return draft;
    });
    expect([lines.get('/a/b1999'), lines.get('/c7'), lines.get('/c7/b3')]).toEqual([2001, 2009, 5]);
  });
});
