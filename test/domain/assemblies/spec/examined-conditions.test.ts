import { expect, it, vi } from 'vitest';
import { examineCondition } from '#domain/assemblies/spec/conditions/satisfiability.ts';
import { type SpecEvaluation, validateSpec } from '#domain/assemblies/spec/validate.ts';
import { TemplateSpec } from '#domain/registry/spec.ts';

const spec = TemplateSpec.parse({ executor: { kind: 'command', apply: [{ name: 'say', run: ['true'] }] } });
const catalog = {
  find: async () => ({ templateId: 'a', versionId: 'b', version: '1.0.0', spec, isArchived: false }),
  listSlugs: async () => [],
};

/** Validates nodes with these conditions; returns the texts that were examined, the paths with problems, and the keys of the nodes. */
async function validate(conditions: Record<string, string | undefined>) {
  const examineConditions = vi.fn<SpecEvaluation['examineConditions']>(async (texts, variables) =>
    texts.map((text) => examineCondition(text, variables)),
  );
  const nodes = Object.entries(conditions).map(([key, when]) => [key, { template: 't', ...(when && { when }) }]);
  const { errors, spec: valid } = await validateSpec({ nodes: Object.fromEntries(nodes) }, catalog, {
    checkSchema: async () => [],
    validateVariables: async (_schema, inputs) => inputs.map(() => ({ valid: true, errors: [], variables: {} })),
    examineConditions,
  });
  const examined = examineConditions.mock.calls.map(([texts]) => texts);
  return { examined, wrong: errors.map(({ path }) => path), nodes: valid && Object.keys(valid.nodes) };
}

it('a condition that several nodes have is examined once, and its problem is reported for each of them', async () => {
  const { examined, wrong } = await validate({ a: undefined, b: '1 +', c: '1 +' });
  expect(examined).toEqual([['1 +']]);
  expect(wrong).toEqual(['/nodes/b/when', '/nodes/c/when']);
});

it('the validation examines no condition if no node has one', async () => {
  expect(await validate({ a: undefined })).toMatchObject({ examined: [], wrong: [] });
});

it('the validation returns the nodes of a specification only if its form is valid', async () => {
  expect((await validate({ a: undefined, b: '1 +' })).nodes).toEqual(['a', 'b']);
  expect((await validate({ 'not a key': undefined })).nodes).toBeNull();
});
