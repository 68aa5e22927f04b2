import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { wordsOf } from '#test/support/browser/page-text.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { check } from '#test/support/plugins/plugin-world.ts';
import { addShownPlugin, type ShownPlugin } from '#test/support/plugins/shown-plugin.ts';

let api: TestApi;
let shown: ShownPlugin;
beforeAll(async () => {
  api = await startApi();
  shown = await addShownPlugin(api);
});
afterAll(() => api?.close());

describe('the page that asks who may do what', () => {
  const ask = (visitor: Visitor, who: string, where: string, what = 'zone.sync') =>
    shown.show(visitor, { tab: 'assignments', who, what, where }).then(wordsOf);

  it.each([
    ['Dan', 'Core', 'Yes, now An assignment covers this.'],
    ['Dan', 'zone-key-17', 'Yes, now'],
    ['Eve', 'Core', 'No No assignment covers this'],
    ['$bea', '$zone', 'No The assignment was revoked'],
    ['', 'Core', 'May Bea use zone.sync'],
    ['Nobody', 'Core', 'No person that you know has the name, e-mail address or id "Nobody"'],
    ['Dan', 'Nowhere', 'There is no place with the name or id'],
  ])('answers a user who may assign actions there about %s at %s', async (who, where, expected) => {
    const ids: Record<string, string> = { $bea: shown.bea.id, $zone: shown.zone };
    expect(await ask(shown.owner, ids[who] ?? who, ids[where] ?? where)).toContain(expected);
  });

  it('names the step of the check that denies', async () => {
    expect(await ask(shown.owner, 'Dan', 'Core', 'zone.read')).toContain('The ceiling approves the action: no');
    const [visitor, other] = [await signInVisitor(api, shown.administrator), await shown.install('Ended')];
    const action = await shown.root.actionId(other, 'zone.sync');
    await shown.root.assign(action, { type: 'user', id: shown.dan.id }, { type: 'team', id: shown.tenant.team });
    await shown.root.activate(other, '1.4.0');
    const query = new URLSearchParams({ tab: 'assignments', who: shown.dan.id, what: 'zone.sync', where: 'Core' });
    const path = `/admin/plugins/${other}?${query}`;
    expect(wordsOf((await visitor.get(path)).text)).toContain('The ceiling approves the action: no');
    await shown.root.approve(other, ['zone.sync']);
    const text = wordsOf((await visitor.get(path)).text);
    expect(text).toContain('The assignment is still in force: no');
    expect(text).toMatch(/A release was activated since the action was assigned\. That was .* UTC by Root/);
  });

  it('answers as the operation check does', async () => {
    const selector = { type: 'team', id: shown.tenant.team };
    for (const user of [shown.dan, shown.eve, shown.bea]) {
      const { allowed, reason } = await check(user, shown.sync, selector);
      const text = await ask(shown.owner, user.id, `team:${shown.tenant.team}`);
      expect(text).toContain(allowed ? 'Yes, now' : 'No ');
      expect(text.toLowerCase()).toContain(reason.message.toLowerCase());
    }
  });

  it('answers a member only about themselves', async () => {
    const visitor = await signInVisitor(api, shown.eve);
    expect(await ask(visitor, '', 'Core')).toContain('No assignment covers this');
    const text = await ask(visitor, 'Dan', 'Core');
    expect(text).toContain('You may ask about others only where you may assign actions');
    expect(text).not.toContain('Yes, now');
  });

  it('offers the places that match a name', async () => {
    const text = await ask(shown.owner, 'Dan', shown.tenant.organization);
    expect(text).toContain('Which place do you mean?');
    expect(text).toMatch(/organization Tenant \d+ alone .*organization Tenant \d+ and everything in it/);
  });

  it('offers places with the same name together with their project, team or organization', async () => {
    const { tenant, owner } = shown;
    const storage = await tenant.owner.make('/projects', { team_id: tenant.team, name: 'Storage' });
    const edge = await tenant.owner.make(`/organizations/${tenant.organization}/teams`, { name: 'Edge' });
    await tenant.owner.make('/projects', { team_id: edge.id, name: 'Storage' });
    const stranger = await makeTenant(api);
    const hidden = await stranger.owner.make('/projects', { team_id: stranger.team, name: 'Secret' });
    for (const [maker, project_id] of [
      [tenant.owner, tenant.project],
      [tenant.owner, storage.id],
      [stranger.owner, hidden.id],
    ] as const)
      await maker.make('/environments', { project_id, name: 'Production', kind: 'production' });
    const environments = await ask(owner, 'Dan', 'Production');
    for (const way of ['Network / Production', 'Storage / Production'])
      expect(environments).toContain(`environment ${way}`);
    expect(environments).not.toContain('Secret');
    const administrator = await signInVisitor(api, tenant.owner);
    const projects = await ask(administrator, 'Dan', 'Storage');
    for (const way of ['Core / Storage', 'Edge / Storage']) expect(projects).toContain(`project ${way}`);
    const root = await signInVisitor(api, shown.administrator);
    expect((await ask(root, 'Dan', 'Core')).match(/team Tenant \d+ \/ Core/g)?.length).toBeGreaterThanOrEqual(2);
  });

  it('answers for the only place whose name contains the text', async () => {
    expect(await ask(shown.owner, 'Dan', 'KEY-1')).toContain('May Dan use');
  });

  it('finds people by a part of their name, and offers them if there are several', async () => {
    const names = ['Tomás Vega', 'Tomás Ruiz', 'Ruiz', 'Hidden Vega'];
    const [vega, ...others] = await Promise.all(names.map((name) => api.addUser('requester', name)));
    for (const user of [vega!, ...others.slice(0, 2)]) await join(shown.tenant, user, 'member', 'member');
    expect(await ask(shown.owner, 'vega', 'Core')).toContain('May Tomás Vega use');
    const choices = await ask(shown.owner, 'tomás', 'Core');
    for (const each of ['Whom do you mean?', 'Tomás Vega', 'Tomás Ruiz']) expect(choices).toContain(each);
    expect(await ask(shown.owner, 'ruiz', 'Core')).toContain('May Ruiz use');
    expect(await ask(shown.owner, 'example', 'Core')).toContain('No person that you know');
  });

  it('offers ten people at most, and says that there are more', async () => {
    const users = await Promise.all(Array.from({ length: 11 }, (_, at) => api.addUser('requester', `Many ${at}`)));
    for (const user of users) await join(shown.tenant, user, 'member', 'member');
    const text = await ask(shown.owner, 'many', 'Core');
    expect(text.match(/Many \d+/g)).toHaveLength(10);
    expect(text).toContain('There are more');
  });

  it('knows background principals of teams that the visitor may read, and of no others', async () => {
    const { tenant, root, plugin, sync, owner } = shown;
    const other = await tenant.owner.make(`/organizations/${tenant.organization}/teams`, { name: 'Other' });
    const approve = (team: string, name: string) =>
      root.approveBackground(plugin, sync, { type: 'team', id: team }, name);
    const [hidden, known] = [await approve(other.id, 'Night of others'), await approve(tenant.team, 'Own night')];
    for (const who of [hidden, 'Night of others'])
      expect(await ask(owner, who, 'Core')).toContain('No person that you know');
    for (const who of [known, 'Own night']) expect(await ask(owner, who, 'Core')).toContain('May Own night use');
    const administrator = await signInVisitor(api, shown.administrator);
    expect(await ask(administrator, hidden, `team:${tenant.team}`)).toContain('May Night of others use');
  });

  it('does not find people and places of other organizations', async () => {
    const stranger = await makeTenant(api);
    expect(await ask(shown.owner, stranger.owner.id, 'Core')).toContain('No person that you know');
    expect(await ask(shown.owner, 'Dan', stranger.team)).toContain('There is no place');
    expect(await ask(shown.owner, 'Dan', `team:${stranger.team}`)).toContain('You may ask about others only where');
  });
});
