import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi, testPassword } from '#test/support/api/in-process-api.ts';
import { Visitor } from '#test/support/browser/visitor.ts';
import type { PersonKey } from '#test/support/pages/people.ts';
import { type Installation, seedInstallation } from '#test/support/pages/realistic-installation.ts';

/** The pages of a realistic installation show visitors what they need, and nothing that they cannot use. */

let api: TestApi;
let installation: Installation;

beforeAll(async () => {
  api = await startApi();
  installation = await seedInstallation(api);
});
afterAll(() => api?.close());

async function open(who: PersonKey, path: string): Promise<string> {
  const visitor = new Visitor(api.app);
  await visitor.submit('/login', { email: installation.people[who].email, password: testPassword });
  const { status, text } = await visitor.get(path);
  expect(status, text).toBe(200);
  return text;
}

const wordsOf = (text: string) => text.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ');
const runPath = (key: keyof Installation['runs']) => `/workloads/runs/${installation.runs[key].id}`;

describe('the start page', () => {
  it('shows a run that waits for its visitor only once', async () => {
    const text = await open('reviewer', '/');
    const shown = [...text.matchAll(/id="start-([0-9a-f-]{36})"/g)].map(([, id]) => id);
    expect(shown).toContain(installation.runs.needsApproval.id);
    expect(shown.filter((id) => id === installation.runs.needsApproval.id)).toHaveLength(1);
    expect(wordsOf(text)).toContain('Needs your approval');
  });
});

describe('the page of a run', () => {
  it('has no comment field for a visitor who may not decide, and gives the reason once', async () => {
    const text = await open('viewer', `${runPath('needsApproval')}?tab=plan`);
    expect(text).not.toContain('Comment with your review');
    expect(wordsOf(text).match(/Reviewing takes/g)).toHaveLength(1);
    for (const id of ['why-not-approve', 'why-not-reject']) expect(text.split(`id="${id}"`)).toHaveLength(2);
  });

  it('the page of a run that timed out without an approval opens at its plan', async () => {
    expect(await open('reviewer', runPath('timedOut'))).toMatch(/tab=plan"[^>]*aria-current="page"/);
    expect(await open('reviewer', runPath('failed'))).toMatch(/tab=log"[^>]*aria-current="page"/);
  });

  it('asks about running again with a plain button, and about canceling with one that warns', async () => {
    expect(await open('reviewer', `${runPath('failed')}/requeue`)).toMatch(/button-primary" type="submit">Run again/);
    expect(await open('reviewer', `${runPath('needsApproval')}/cancel`)).toMatch(
      /button-danger" type="submit">Cancel the run/,
    );
  });
});

describe('the page of an instance', () => {
  it('the page of an instance that a run has deployed links to its team, and does not offer to undo an import', async () => {
    const { id, team } = installation.runs.needsApproval.instance;
    const text = await open('reviewer', `/workloads/instances/${id}`);
    expect(text).not.toContain('Undo the import');
    expect(text).toContain(`href="/organizations/${team.organizationId}/teams/${team.id}"`);
  });

  it('is in the path of its sub-pages, as an environment and a pool are', async () => {
    const { id } = installation.runs.destroyed.instance;
    const { id: environment } = installation.environments.networkProduction;
    const things: [PersonKey, string, string[]][] = [
      ['admin', `/workloads/instances/${id}`, ['delete', 'unlock', 'state']],
      [
        'owner',
        `/environments/${environment}`,
        ['edit', 'archive', 'delete', 'lock', 'freeze-windows', 'new-variable'],
      ],
      ['admin', '/workloads/pools/edge', ['delete']],
    ];
    for (const [who, path, pages] of things)
      for (const page of pages) {
        const crumbs = /<nav class="crumbs".*?<\/nav>/s.exec(await open(who, `${path}/${page}`))?.[0];
        expect(crumbs, page).toMatch(new RegExp(`href="${path}["?]`));
      }
  });
});

describe('lists', () => {
  it('lists of environments say what blocks applies now', async () => {
    const words = wordsOf(await open('reviewer', '/environments'));
    for (const hold of ['Locked', 'Frozen']) expect(words).toContain(hold);
  });

  it('lists of versions show changelogs without Markdown syntax', async () => {
    const text = await open('reviewer', `/catalog/${installation.templates.network.id}?tab=versions`);
    expect(text).toContain('Moves every subnet: plan first, and expect moved entries.');
    expect(text).not.toContain('**');
  });
});

describe('the page of a pool', () => {
  it('links to its teams, and adds a selected team', async () => {
    const path = '/workloads/pools/payments-restricted';
    const admin = new Visitor(api.app);
    await admin.submit('/login', { email: installation.people.admin.email, password: testPassword });
    const { payments, platform } = installation.teams;
    const { text } = await admin.get(path);
    expect(text).toContain(`href="/organizations/${payments.organizationId}/teams/${payments.id}"`);
    const [, listed] = /name="team_ids"[^>]*>\n([^<]*)<\/textarea>/.exec(text) ?? [];
    expect(listed).toMatch(new RegExp(`^[^\\n]+ / ${payments.name}$`));
    const fields = {
      team_ids: listed ?? '',
      add_team: platform.id,
      environment_ids: '',
      add_environment: '',
      isolation: '',
      'egress.policy': 'internet',
      'egress.allow': '',
      expected_revision: /name="expected_revision" value="(\d+)"/.exec(text)?.[1] ?? '',
    };
    const wrong = await admin.submit(path, {
      ...fields,
      team_ids: `${listed}\nNo such team`,
      environment_ids: 'Nowhere',
    });
    expect(wrong.text).toMatch(/id="field-team_ids-problem"[\s\S]*matches no team that you may choose/);
    expect(wrong.text).toMatch(/id="field-environment_ids-problem"[\s\S]*matches no environment that you may choose/);
    expect((await admin.submit(path, fields)).location).toBe('/workloads/workers?done=pool-saved');
    const { body } = await installation.people.admin.get('/worker-pools/payments-restricted');
    expect(body.team_ids.toSorted()).toEqual([payments.id, platform.id].toSorted());
  });

  it('lists the present teams with their ids after another person has saved other teams', async () => {
    const path = '/workloads/pools/payments-restricted';
    const { payments, platform } = installation.teams;
    const { admin } = installation.people;
    const saved = await admin.patch('/worker-pools/payments-restricted', { team_ids: [payments.id] });
    expect(saved.status, saved.text).toBe(200);
    const visitor = new Visitor(api.app);
    await visitor.submit('/login', { email: admin.email, password: testPassword });
    const text = await visitor.page(path);
    const listedIn = (page: string) => /name="listed_teams" value="([^"]*)"/.exec(page)?.[1] ?? '';
    expect(listedIn(text)).toMatch(new RegExp(`^${payments.id} [^\\n]+$`));
    await admin.patch('/worker-pools/payments-restricted', { team_ids: [platform.id] });
    const hidden = [...text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
    const sent = Object.fromEntries(hidden.map(([, name, value = '']) => [name, value.replaceAll('&quot;', '"')]));
    const [, listed = ''] = /name="team_ids"[^>]*>\n([^<]*)<\/textarea>/.exec(text) ?? [];
    const fields = { isolation: '', 'egress.policy': 'internet', 'egress.allow': '' };
    const stale = await visitor.submit(path, { ...sent, ...fields, team_ids: listed });
    expect(stale.status).toBe(409);
    expect(listedIn(stale.text)).toMatch(new RegExp(`^${platform.id} [^\\n]+$`));
  });
});
