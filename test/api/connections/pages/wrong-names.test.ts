import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

let api: TestApi;
let tenant: Tenant;
let visitor: Visitor;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  visitor = await signInVisitor(api, tenant.owner);
});
afterAll(() => api?.close());

it.each(['my var', 'a"b', '<b>&', 'שלום', 'a.b[0]', '\\'])(
  'the form of a connection says at the field that "%s" is not a valid name of a variable',
  async (name) => {
    const fields = { owner: tenant.team, name: 'named', variables_of: 'Variables and files' };
    const rows = {
      'n/credentials/variables': '1',
      'k/credentials/variables/~r0': name,
      'v/credentials/variables/~r0': 'x',
    };
    const { status, text } = await visitor.submit('/admin/connections/new?of=generic', { ...fields, ...rows });
    expect(status).toBe(400);
    const [, target] =
      /<a href="#([^"]+)">(?:<bdi dir="ltr">)?credentials \/ variables \/ [^<]*(?:<\/bdi>)?<\/a>: Use letters, digits/i.exec(
        text,
      ) ?? [];
    expect(text).toContain(`id="${target}"`);
    expect(target).toContain('r0');
    expect(text.match(/Use letters, digits/g)).toHaveLength(2);
    expect(text).not.toMatch(/Field &quot;|variables\[/);
  },
);

it.each(['localhost:3999', 'registry.example.com:443', 'localhost'])(
  'the form of a connection says that "%s" is not a valid host of a registry',
  async (host) => {
    const fields = { owner: tenant.team, name: 'registry', variables_of: 'Registry', 'v/config/host': host };
    const sent = { ...fields, 'v/credentials/token': 'x' };
    const { status, text } = await visitor.submit('/admin/connections/new?of=registry', sent);
    expect(status).toBe(400);
    expect(text).toContain('a port or a single word such as &quot;localhost&quot; is not taken');
  },
);
