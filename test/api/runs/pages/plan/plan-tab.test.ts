import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { textOf } from '#test/support/browser/page-text.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { change, PendingRuns } from '#test/support/runs/pending-runs.ts';

let api: TestApi;
let runs: PendingRuns;
let visitor: Visitor;

beforeAll(async () => {
  api = await startApi();
  runs = await PendingRuns.start(api);
  visitor = await visitAs(runs.reviewers[0]!);
});
afterAll(() => api?.close());

async function visitAs(user: ApiUser): Promise<Visitor> {
  const visiting = await signInVisitor(api, user);
  return visiting;
}

async function openPlan(run: string, query = ''): Promise<string> {
  const { status, text } = await visitor.get(`/workloads/runs/${run}?tab=plan${query}`);
  expect(status, text).toBe(200);
  return text;
}

/** The page without tags. */
const addressesOf = (text: string) =>
  [...text.matchAll(/class="plan-address foreign">([^<]*)</g)].map(([, each]) => each);

describe('the plan of a run', () => {
  const policy = (effect: string) => JSON.stringify({ Statement: [{ Sid: 'read', Effect: effect }] });
  const changes = [
    change('create', 'thing.added', null, { name: 'x' }),
    change(
      'update',
      'thing.changed',
      { policy: policy('Allow'), size: 1, kept: 'k' },
      { policy: policy('Deny'), size: 1, kept: 'k' },
    ),
    change('delete', 'thing.gone', { name: 'x' }, null),
    change('replace', 'thing.other', { name: 'x' }, { name: 'y', id: { unknown: true } }),
  ];

  it('has a summary in words, and lists destroys first, closed, with the changed values of each', async () => {
    const text = await openPlan(await runs.add(changes));
    const words = textOf(text);
    expect(words).toContain('Plan: 1 destroy · 1 replace · 1 change · 1 add');
    expect(words).toContain('Showing 4 of 4');
    expect(addressesOf(text)).toEqual(['thing.gone', 'thing.other', 'thing.changed', 'thing.added']);
    expect(text).toContain('<details class="plan-change kind-destroy" id="r-1" >');
    expect(words).toContain('policy (JSON) Statement[Sid="read"].Effect "Allow" becomes "Deny"');
    expect(words).toContain('3 unchanged');
    expect(words).toContain('(known after apply)');
    expect(words).toContain('counts 1 replace as an add and a destroy each: 2 to add, 1 to change, 2 to destroy');
  });

  it('lists moved, imported and forgotten resources separately, and explains causes', async () => {
    const text = await openPlan(
      await runs.add([
        { ...change('no-op', 'thing.new', { name: 'x' }, { name: 'x' }), previousAddress: 'thing.old' },
        { ...change('no-op', 'thing.found', { name: 'x' }, { name: 'x' }), imported: { id: 'i-1' } },
        change('forget', 'thing.left', { name: 'x' }, null),
        {
          ...change('replace', 'thing.other', { name: 'x', size: 1 }, { name: 'y', size: 2 }),
          actionReason: 'replace_because_cannot_update',
          replacePaths: [['name']],
        },
        { ...change('delete', 'thing[1]', { name: 'x' }, null), actionReason: 'delete_because_count_index' },
        {
          ...change('update', 'thing.secret', { token: { sensitive: true } }, { token: { sensitive: true } }),
          sensitivePaths: [{ path: ['token'], changed: false }],
        },
      ]),
    );
    const words = textOf(text);
    expect(words).toContain('Plan: 1 destroy · 1 replace · 1 change · 1 forgotten · 1 imported · 1 moved');
    expect(words).toContain('Its index is out of the range of count.');
    expect(words).toContain('The provider cannot make this change in place.');
    expect(words).toContain('forced by name');
    expect(text.match(/>forces replacement</g)).toHaveLength(1);
    expect(words).toContain('Only sensitivity changed.');
    expect(words).toContain('It is no longer managed, and is not destroyed.');
    expect(words).toContain('by the id i-1');
    expect(words).toContain('Moved from thing.old.');
    expect(text).toMatch(/<details class="plan-change kind-import" id="r-5" open>/);
  });

  it("is filtered by the kind of change and by text in the page's address", async () => {
    const run = await runs.add(changes);
    expect(addressesOf(await openPlan(run, '&kind=destroy'))).toEqual(['thing.gone']);
    const found = await openPlan(run, '&q=policy');
    expect(addressesOf(found)).toEqual(['thing.changed']);
    expect(textOf(found)).toContain('Showing 1 of 1 matching, of 4 changes');
    expect(found).toContain('value="policy"');
    expect(textOf(await openPlan(run, '&q=nowhere'))).toContain('No matching changes');
    expect((await visitor.get(`/workloads/runs/${run}?tab=plan&kind=burn`)).status).toBe(400);
  });

  it('the plan of a run of 5,000 changes shows the first 200 in less than 150 KB, and a link to the next', async () => {
    const many = Array.from({ length: 5000 }, (_, index) =>
      change(
        'update',
        `module.site["${index % 40}"].record["host-${index}"]`,
        { ttl: index, tags: { rack: `a${index}` } },
        { ttl: 1, tags: { rack: 'b' } },
      ),
    );
    const run = await runs.add(many);
    const text = await openPlan(run);
    expect(textOf(text)).toContain('Showing 200 of 5,000');
    expect(gzipSync(text).length).toBeLessThan(150_000);
    expect(text).toContain(`/workloads/runs/${run}?tab=plan&amp;after=200" rel="next"`);
    const next = await openPlan(run, '&after=200');
    expect(next).toContain('id="r-201"');
    expect(textOf(next)).toContain('Showing 200 after number 200 of 5,000');
  });

  it('the plan of a run of 10 MB is cut, and shows one change whole on demand', async () => {
    const huge = Array.from({ length: 10 }, (_, index) =>
      change('update', `thing.huge-${index}`, { text: 'x'.repeat(500_000) }, { text: `${'x'.repeat(499_999)}y` }),
    );
    const run = await runs.add(huge);
    const text = await openPlan(run);
    expect(text.length).toBeLessThan(200_000);
    expect(textOf(text)).toContain('… 499,959 equal characters …');
    const one = await openPlan(run, '&change=3');
    expect(textOf(one)).toContain('change 3 of 10');
    expect(addressesOf(one)).toEqual(['thing.huge-2']);
    expect(one.length).toBeLessThan(1_000_000);
  });

  it('the plan of a run with hostile content shows it as text', async () => {
    const evil = '<img src=x onerror=alert(1)>';
    const run = await runs.add([
      change(
        'update',
        `thing["${evil}"]`,
        { [evil]: `a\n${evil}\u202e` },
        { [evil]: `b\n${evil}\u202e`, hidden: '\u200b' },
      ),
      change('delete', 'x'.repeat(4000), { list: [evil, { '"': "'" }] }, null),
    ]);
    const text = await openPlan(run);
    expect(text).not.toContain('<img');
    expect(text).not.toContain('\u202e');
    expect(text).toContain('\\u202e');
    expect(text).not.toMatch(/<script(?! src="\/assets\/)|\sstyle=/);
  });

  it('the plan of a run that failed or is not made yet never says that nothing changes', async () => {
    const begun = await runs.begin();
    const early = textOf(await openPlan(begun.runId));
    expect(early).toContain('No plan yet');
    await runs.failPlan(begun);
    const failed = textOf(await openPlan(begun.runId));
    expect(failed).toContain('The run ended without a plan');
    expect(failed).toContain('Nothing is known about what it would have changed.');
    for (const words of [early, failed]) expect(words).not.toMatch(/no changes|changes no resource/i);
  });

  it('the plan of a run whose template has no plan steps says that its changes are unknown', async () => {
    const words = textOf(await openPlan(await runs.add([change('update', 'template', null, null)])));
    expect(words).toContain('it is not known yet what changes');
    expect(words).not.toContain('The tool plans');
  });

  it('the plan of a run without changes says that it changes no resource', async () => {
    const words = textOf(await openPlan(await runs.add([])));
    expect(words).toContain('This plan changes no resource');
    expect(words).toContain('Every resource is as the configuration says.');
  });

  it('the plan of a partial run without changes does not claim that all resources match', async () => {
    const { owner, team } = runs.tenant;
    const { id } = await owner.make('/registry/templates', { name: 'Partial', team_id: team });
    const executor = { kind: 'opentofu', files: { 'main.tf': '' } };
    await owner.make(`/registry/templates/${id}/versions`, { version: '1.0.0', spec: { executor } });
    const words = textOf(await openPlan(await runs.add([], { template_id: id, options: { target: ['thing.x'] } })));
    expect(words).toContain('This plan changes no resource');
    expect(words).not.toContain('Every resource is as the configuration says.');
  });

  it('is downloaded whole as JSON by those who may read the run', async () => {
    const run = await runs.add(changes);
    const file = await visitor.get(`/workloads/runs/${run}/plan.json`);
    expect(file.headers['content-disposition']).toBe(`attachment; filename="plan-${run}.json"`);
    expect(JSON.parse(file.text).changes).toHaveLength(4);
    const stranger = await visitAs(await api.addUser('operator'));
    expect((await stranger.get(`/workloads/runs/${run}/plan.json`)).status).toBe(404);
  });
});
