import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addAssembly, addTemplate } from '#test/support/assemblies/assemblies.ts';

let api: TestApi;
let tenant: Tenant;
let path: string;
/** The slug of a template with the variables `name` and `count`, and the output `cidr`. */
let template: string;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  template = (await addTemplate(tenant.owner, { team: tenant.team })).slug;
  path = await addAssembly(tenant);
});
afterAll(() => api?.close());

/** The paths of the errors in a spec, in their order. */
async function findErrors(spec: unknown): Promise<string[]> {
  const { status, body, text } = await tenant.owner.post(`${path}/validate`, { spec });
  expect(status, text).toBe(200);
  return body.errors.map((error: { path: string }) => error.path).sort();
}

describe("an invalid field of an assembly's node", () => {
  it.each<[string, object, object, string]>([
    ['of the spec', { extra: 1 }, {}, '/extra'],
    ['of a node', {}, { extra: 1 }, '/nodes/a/extra'],
    ['of the bounds', { concurrency: 0 }, {}, '/concurrency'],
    ['instead of the variables', { variables: [] }, {}, '/variables'],
  ])('is reported as the only error: %s', async (_what, ofSpec, ofNode, expected) => {
    expect(await findErrors({ ...ofSpec, nodes: { a: { template, ...ofNode } } })).toEqual([expected]);
  });

  it.each([
    ['an unknown field', { extra: 1 }, '/nodes/a/extra'],
    ['a timeout that is none', { timeout: 'soon' }, '/nodes/a/timeout'],
    ['an instance that is none', { instance: 'No Name' }, '/nodes/a/instance'],
    ['a template that is a number', { template: 1 }, '/nodes/a/template'],
    ['variables that are a list', { variables: [] }, '/nodes/a/variables'],
  ])('does not make references to its node invalid: %s', async (_what, wrong, expected) => {
    const nodes = {
      a: { template, ...wrong },
      b: {
        template,
        variables: { name: '${nodes.a.outputs.cidr}' },
        depends_on: ['a'],
        when: 'nodes.a.status == "succeeded"',
      },
    };
    expect(await findErrors({ nodes, outputs: { cidr: '${nodes.a.outputs.cidr}' } })).toEqual([expected]);
  });

  it('gets a suggestion of the template with a similar slug, or of existing templates', async () => {
    const nodes = { a: { template: template.slice(0, -1) }, b: { template: 'nothing-like-it-at-all' } };
    const { body } = await tenant.owner.post(`${path}/validate`, { spec: { nodes } });
    const unknown = 'is no template of this team or of the installation';
    expect(body.errors.map(({ message }: { message: string }) => message)).toEqual([
      `${unknown}; did you mean "${template}"?`,
      `${unknown}: name one by its slug or id; there are ${template}`,
    ]);
  });

  it('does not hide other errors of its node', async () => {
    const wrong = { extra: 1, version: '9.9.9', depends_on: ['missing'], when: 'variables.missing' };
    const a = { template, ...wrong };
    const b = { template, timeout: 'soon', variables: { count: 'many' } };
    const missing = { template: 'missing', retry: 3 };
    expect(await findErrors({ nodes: { a, b, c: missing } })).toEqual([
      '/nodes/a/depends_on/0',
      '/nodes/a/extra',
      '/nodes/a/version',
      '/nodes/a/when',
      '/nodes/b/timeout',
      '/nodes/b/variables/count',
      '/nodes/c/retry',
      '/nodes/c/template',
    ]);
  });
});

describe('a reference inside of a text', () => {
  const properties = { list: { type: 'array' }, map: { type: 'object' }, size: { type: 'integer' }, any: {} };
  const variables = { type: 'object', required: Object.keys(properties), properties };

  it.each(['list', 'map'])(
    'a reference inside a text to a variable that is never a scalar is an error: %s',
    async (name) => {
      const text = `it is \${variables.${name}}`;
      const spec = { variables, nodes: { a: { template, variables: { name: text } } }, outputs: { all: text } };
      expect(await findErrors(spec)).toEqual(['/nodes/a/variables/name', '/outputs/all']);
    },
  );

  it.each(['size', 'any'])(
    'a reference inside a text to a variable that can be a scalar is valid: %s',
    async (name) => {
      const nodes = { a: { template, variables: { name: `it is \${variables.${name}}` } } };
      expect(await findErrors({ variables, nodes })).toEqual([]);
    },
  );
});
