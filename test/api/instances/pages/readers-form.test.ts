import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join } from '#test/support/access/tenancy.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { openReadingStage, plain, type ReadingStage } from '#test/support/references/reading-stage.ts';

let stage: ReadingStage;
let visitor: Visitor;
/** The instance whose readers are saved. */
let instance: string;
let path: string;

beforeAll(async () => {
  stage = await openReadingStage();
  visitor = await signInVisitor(stage.api, stage.tenant.owner);
  instance = await stage.deploy({ instance: 'read' }, { size: plain(1) });
  path = `/workloads/instances/${instance}/readers`;
});
afterAll(() => stage?.api.close());

const addTeam = (name: string) =>
  stage.tenant.owner.make(`/organizations/${stage.tenant.organization}/teams`, { name });
const save = (teams: string, environments = '') =>
  visitor.edit(path, { team_ids: teams, environment_ids: environments });
const readers = async () => (await stage.tenant.owner.get(`/instances/${instance}/readers`)).body;
const shownTeams = async () =>
  /name="team_ids"[^>]*>\n([^<]*)<\/textarea>/.exec((await visitor.get(path)).text)?.[1] ?? '';

describe('the form for the readers of an instance', () => {
  test('keeps a team whose name ends with the id of another team', async () => {
    const [alpha, beta] = [await addTeam('Alpha'), await addTeam('Beta')];
    await stage.allow(instance, { team_ids: [alpha.id], environment_ids: [] });
    const { owner, organization } = stage.tenant;
    const renamed = await owner.patch(`/organizations/${organization}/teams/${alpha.id}`, { name: `Alpha ${beta.id}` });
    expect(renamed.status, renamed.text).toBe(200);
    expect((await save(await shownTeams())).status).toBe(303);
    expect((await readers()).team_ids).toEqual([alpha.id]);
    expect((await save(`Alpha ${beta.id}`)).status).toBe(303);
    expect((await readers()).team_ids).toEqual([alpha.id]);
  });

  test('refuses a line that matches the name of one team, and name and id of another', async () => {
    const gamma = await addTeam('Gamma');
    expect((await save(`Gamma ${gamma.id}`)).status).toBe(303);
    expect((await readers()).team_ids).toEqual([gamma.id]);
    await addTeam(`Gamma ${gamma.id}`);
    const refused = await save(`Gamma ${gamma.id}`);
    expect(refused.text).toContain('matches several teams');
    expect((await save(gamma.id)).status).toBe(303);
    expect((await readers()).team_ids).toEqual([gamma.id]);
  });

  test('refuses to replace readers that somebody else has saved since it was opened', async () => {
    const [early, late] = [await addTeam('Early'), await addTeam('Late')];
    const opened = await visitor.openedRevision(path);
    expect((await save(early.id)).status).toBe(303);
    const stale = { team_ids: late.id, environment_ids: '', expected_revision: opened };
    expect((await visitor.submit(path, stale)).status).toBe(409);
    expect((await readers()).team_ids).toEqual([early.id]);
    expect((await visitor.submit(path, { team_ids: late.id, environment_ids: '' })).status).toBe(400);
    expect((await save(late.id)).status).toBe(303);
  });

  test('refuses more than 200 lines', async () => {
    const refused = await save(Array.from({ length: 201 }, (_, index) => `x${index}`).join('\n'));
    expect([refused.status, refused.text.includes('enter at most 200')]).toEqual([400, true]);
  });

  test('looks up no names for a visitor who may not change the readers', async () => {
    const viewer = await stage.api.addUser('requester');
    await join(stage.tenant, viewer, 'member', 'viewer');
    const sent = await (await signInVisitor(stage.api, viewer)).submit(path, {
      team_ids: 'No such team',
      environment_ids: '',
    });
    expect([sent.status, sent.text.includes('matches no team')]).toEqual([403, false]);
  });

  test('hides the name of a team that its visitor may not read, but keeps the team', async () => {
    const hidden = await addTeam('Secret merger team');
    const admin = await stage.api.addUser('maintainer');
    await join(stage.tenant, admin, 'member', 'admin');
    await stage.allow(instance, { team_ids: [hidden.id], environment_ids: [] }, admin);
    const theirs = await signInVisitor(stage.api, admin);
    for (const page of [path, `/workloads/instances/${instance}?tab=sharing`]) {
      const { text } = await theirs.get(page);
      expect([text.includes('Secret merger team'), text.includes(hidden.id)], page).toEqual([false, true]);
    }
    expect((await theirs.edit(path, { team_ids: hidden.id, environment_ids: '' })).status).toBe(303);
    expect((await visitor.get(`/workloads/instances/${instance}?tab=sharing`)).text).toContain('Secret merger team');
  });

  test('refuses a name that both a listed environment and another one have', async () => {
    const { owner, environment } = stage.tenant;
    const other = await addTeam('Other');
    const project = await owner.make('/projects', { team_id: other.id, name: 'Network', slug: 'network-2' });
    const rows = await stage.api.rows<{ columns: string }>(
      `select string_agg(quote_ident(column_name), ', ') as columns from information_schema.columns
         where table_name = 'environments' and is_generated = 'NEVER' and column_name not in ('id', 'name', 'slug')`,
    );
    // In the list they come between the two environments with this name, so that its first page lacks the older one.
    await stage.api.rows(
      `insert into environments (id, name, slug, ${rows[0]?.columns})
         select (substr(id::text, 1, 8) || '-ffff-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'Filler ' || n, 'filler-' || n, ${rows[0]?.columns}
           from environments, generate_series(1, 199) n where id = ?`,
      [environment],
    );
    await owner.make('/environments', { project_id: project.id, name: 'Development', kind: 'development' });
    const refused = await save('', 'Network / Development');
    expect(refused.text).toContain('matches several environments');
  });
});
