import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseUploads } from '#api/edge/json/uploads.ts';
import { renderMarkdown } from '#api/web/markdown.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';

let api: TestApi;
let tenant: Tenant;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
});
afterAll(() => api?.close());

const type = 'multipart/form-data; boundary=b';
const parts = (count: number) =>
  Buffer.from(`${'--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n'.repeat(count)}--b--\r\n`);

describe('a form with files', () => {
  it('may have a thousand parts, and is refused with more before anything is parsed', async () => {
    expect((await parseUploads(type, parts(1_000)))['a']).toHaveLength(1_000);
    await expect(parseUploads(type, parts(60_000))).rejects.toThrow('more than 1000 fields and files');
  });

  it.each(['multipart/form-data; xboundary=z; boundary=b', 'multipart/form-data; x="boundary=z"; boundary=b'])(
    'is counted by its real boundary, whatever other parameters say: %s',
    async (misleading) => {
      await expect(parseUploads(misleading, parts(60_000))).rejects.toThrow('more than 1000 fields and files');
      expect((await parseUploads(misleading, parts(2)))['a']).toHaveLength(2);
    },
  );

  it.each(['multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary="'])(
    'is refused without a boundary: %s',
    async (unclear) => {
      await expect(parseUploads(unclear, parts(1))).rejects.toThrow('is not valid multipart/form-data');
    },
  );

  it('is refused without a session before its body is read', async () => {
    const headers = { 'content-type': type, 'sec-fetch-site': 'same-origin' };
    const url = `/catalog/${crypto.randomUUID()}/publish`;
    const answer = await api.app.inject({ method: 'POST', url, headers, payload: parts(60_000) });
    expect(answer.statusCode).toBe(401);
  });
});

describe('the menu of scopes', () => {
  it.each(['team_id', 'organization_id'])(
    'does not show the name of a hidden thing whose id the address has as %s',
    async (name) => {
      const other = await makeTenant(api);
      const [team, organization] = await Promise.all([
        tenant.owner.patch(tenant.teamPath, { name: 'Hidden Zebras' }),
        tenant.owner.patch(`/organizations/${tenant.organization}`, { name: 'Hidden Zebra Company' }),
      ]);
      expect([team.status, organization.status]).toEqual([200, 200]);
      const id = name === 'team_id' ? tenant.team : tenant.organization;
      const page = await (await signInVisitor(api, other.owner)).get(`/profile?${name}=${id}`);
      expect(page.status).toBe(200);
      expect(page.text).not.toContain('Hidden Zebra');
      expect((await (await signInVisitor(api, tenant.owner)).get(`/profile?${name}=${id}`)).text).toContain(
        'Hidden Zebra',
      );
    },
  );
});

describe('a secret', () => {
  it('is not sent back by a form that was refused', async () => {
    const visitor = await signInVisitor(api, tenant.owner);
    const fields = {
      name: 'not a name!',
      category: 'env',
      value: 'hunter2',
      sensitive: 'yes',
      plan: 'yes',
      apply: 'yes',
    };
    const refused = await visitor.submit(`/environments/${tenant.environment}/new-variable`, fields);
    expect(refused.status).toBe(400);
    expect(refused.text).not.toContain('hunter2');
    expect(refused.text).toMatch(/<textarea[^>]*name="value"[^>]*data-secret/);
  });
});

describe('a readme', () => {
  it('a readme of very many lines is rendered', () => {
    expect(String(renderMarkdown('a\n'.repeat(130_000), 2))).toContain('<p>');
  });

  it('is rendered as markup up to a limit, and then as plain text with a note', () => {
    const row = '|a|b|\n';
    const text = `|x|y|\n|-|-|\n${row.repeat(40_000)}`;
    const drawn = String(renderMarkdown(text, 2));
    expect(drawn.match(/<td>/g)?.length).toBeLessThan(10_000);
    expect(drawn).toContain('This text has more markup than a page shows');
    const cells = (drawn.match(/<tr>/g)?.length ?? 0) - 1;
    expect(drawn.split(row).length - 1, 'every row is shown once').toBe(40_000 - cells);
    expect(String(renderMarkdown('# Title\n\nSome *words*.\n'.repeat(500), 2))).not.toContain('more markup');
  });
});
