import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addAssembly, openPageStage, type PageStage, threeNodes } from '#test/support/assemblies/page-stage.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

let stage: PageStage;
let owner: Visitor;
let viewer: Visitor;
let template: string;

beforeAll(async () => {
  stage = await openPageStage();
  [owner, viewer] = await Promise.all([
    signInVisitor(stage.api, stage.tenant.owner),
    signInVisitor(stage.api, stage.viewer),
  ]);
  const [found] = await stage.api.rows<{ id: string }>('select id from templates');
  template = found?.id ?? '';
});
afterAll(() => stage?.api.close());

const times = { 'schedule.cron': '0 18 * * MON', 'schedule.timezone': 'Europe/Berlin', 'schedule.every': '' };
const runFields = () => ({
  'work.run.template_id': template,
  'work.run.environment_id': stage.tenant.environment,
  'work.run.operation': 'plan',
  'work.run.instance': '',
  'work.run.version': '',
  'work.run.message': 'Weekly',
});

async function make(name: string): Promise<string> {
  const { location, text } = await owner.submit('/schedules/new', { name, ...times, ...runFields() });
  expect(location, text).toMatch(/^\/schedules\/[0-9a-f-]{36}\?done=created$/);
  return location?.replace(/\?.*/, '') ?? '';
}

describe('the pages of schedules', () => {
  it('create, show, change, pause, resume, start and delete a schedule by forms', async () => {
    const path = await make('Tidy <b>');
    const { text } = await owner.get(path);
    expect(text).toContain('Tidy &lt;b&gt;');
    expect(text).toContain('Every Monday at 18:00, Europe/Berlin');
    expect(text).toContain('Not started yet');
    expect(text).toContain('(Mon 18:00 in Europe/Berlin)');
    expect((await owner.get('/schedules')).text).toContain('every Monday at 18:00, Europe/Berlin');
    const edit = { name: 'Tidy', ...times, 'schedule.cron': '', 'schedule.every': '6h', expected_revision: '1' };
    expect((await owner.submit(`${path}/edit`, edit)).location).toContain('done=saved');
    expect((await owner.get(path)).text).toContain('Every 6 hours');
    expect((await owner.submit(`${path}/pause`, { expected_revision: '2' })).location).toContain('done=paused');
    expect((await owner.get(path)).text).toContain('None while the schedule is paused');
    expect((await owner.submit(`${path}/resume`, { expected_revision: '3' })).location).toContain('done=resumed');
    expect((await owner.submit(`${path}/trigger`, {})).location).toContain('done=triggered');
    expect((await owner.get(path)).text).toContain('Starting');
    const work = { ...runFields(), 'work.run.operation': 'apply', expected_revision: '4' };
    expect((await owner.submit(`${path}/work`, work)).location).toContain('done=saved');
    expect((await owner.submit(`${path}/delete`, {})).location).toBe('/schedules?done=deleted');
    expect((await owner.get(path)).status).toBe(404);
  });

  it('say at the field what is wrong, and keep what was typed', async () => {
    const wrong = { name: 'Mine', ...times, ...runFields() };
    const cron = await owner.submit('/schedules/new', { ...wrong, 'schedule.cron': '0 18 * * FRY' });
    expect(cron.status).toBe(400);
    expect(cron.text).toContain('is not a valid day of the week');
    expect(cron.text).toContain('value="0 18 * * FRY"');
    const both = await owner.submit('/schedules/new', { ...wrong, 'schedule.every': '6h' });
    expect(both.text).toContain('field-schedule-every-problem');
    const none = await owner.submit('/schedules/new', { ...wrong, 'schedule.cron': '', name: '' });
    expect(none.text).toMatch(/: Enter a cron schedule, or an interval below/);
    expect(none.text).toMatch(/>Name<\/a>: /);
  });

  it('have the fields of the selected template, even if they are sent again, and say at the field what is wrong', async () => {
    const { id } = await stage.tenant.owner.make('/registry/templates', { name: 'Sized', team_id: stage.tenant.team });
    const properties = { size: { type: 'integer', title: 'Size' }, token: { type: 'string', writeOnly: true } };
    const variables = { type: 'object', properties, required: ['size'] };
    const step = [{ name: 'go', run: ['true'] }];
    const spec = { variables, executor: { kind: 'command', apply: step, destroy: step } };
    await stage.tenant.owner.make(`/registry/templates/${id}/versions`, { version: '1.0.0', spec });
    const choice = { 'work.run.template_id': id, 'work.run.operation': 'apply' };
    const fields = { name: 'Sized', ...times, ...runFields(), ...choice };
    const empty = await owner.get('/schedules/new');
    expect(empty.text).toContain('Choose a template');
    expect(empty.text).not.toContain('It has no variables');
    const early = await owner.submit('/schedules/new', { ...fields, variables_of: '' });
    expect([early.status, early.text.includes('name="v/size"')]).toEqual([409, true]);
    const shown = await owner.submit('/schedules/new', { ...fields, variables_of: '', do: 'show:0@' });
    expect([shown.status, shown.text.includes('name="v/size"')]).toEqual([200, true]);
    expect(shown.text).toContain('value="0 18 * * MON"');
    const filled = { ...fields, variables_of: `${id} 1.0.0`, 'v/size': 'many', 'v/token': 'hush-hush' };
    const wrong = await owner.submit('/schedules/new', filled);
    expect(wrong.status).toBe(422);
    expect(wrong.text).toMatch(/role="alert"[\s\S]*href="#field-v[^"]*size"/);
    expect(wrong.text).not.toContain('hush-hush');
    const missing = await owner.submit('/schedules/new', { ...filled, 'v/size': '' });
    expect(missing.status).toBe(422);
    expect(missing.text).toMatch(/href="#field-v[^"]*size"/);
    expect((await owner.submit('/schedules/new', { ...filled, 'v/other': '1' })).status).toBe(400);
    const made = await owner.submit('/schedules/new', { ...filled, 'v/size': '3' });
    expect(made.location, made.text).toContain('done=created');
    const path = made.location?.replace(/\?.*/, '') ?? '';
    const { body } = await stage.tenant.owner.get(path);
    expect(body.work.run.variables).toEqual({ size: 3, token: { sensitive: true } });
    expect((await owner.get(`${path}/work`)).text).toMatch(/name="v\/size"[^>]*value="3"/);
  });

  it('keep members of the work for which they have no field', async () => {
    const { id } = await stage.tenant.owner.make('/registry/templates', { name: 'Tofu', team_id: stage.tenant.team });
    const executor = { kind: 'opentofu', files: { 'main.tf': 'resource "terraform_data" "a" {}' } };
    await stage.tenant.owner.make(`/registry/templates/${id}/versions`, { version: '1.0.0', spec: { executor } });
    const work = { run: { template_id: id, environment_id: stage.tenant.environment, replace: ['a.b'] } };
    const schedule = { cron: '0 18 * * MON', timezone: 'UTC' };
    const body = { team_id: stage.tenant.team, name: 'Kept', schedule, work };
    const made = await stage.tenant.owner.post('/schedules', body);
    expect(made.status, made.text).toBe(201);
    const path = `/schedules/${made.body.id}`;
    const sent = await owner.submit(`${path}/work`, {
      ...runFields(),
      'work.run.template_id': id,
      'work.run.operation': 'apply',
      expected_revision: '1',
    });
    expect(sent.location, sent.text).toContain('done=saved');
    expect((await stage.tenant.owner.get(path)).body.work.run.replace).toEqual(['a.b']);
    const destroy = { ...runFields(), 'work.run.template_id': id, expected_revision: '2' };
    expect((await owner.submit(`${path}/work`, destroy)).location).toContain('done=saved');
  });

  it('show first that the last time started nothing, with the reason', async () => {
    const path = await make('Broken');
    await stage.api.rows(
      `insert into schedule_firings (id, schedule_id, scheduled_at, outcome, reason, message, created_at)
       values (gen_random_uuid(), ?, now(), 'failed', 'refused', 'the version <i>1</i> was yanked', now())`,
      [path.split('/').at(-1) ?? ''],
    );
    expect((await owner.get(path)).text).toMatch(
      /notice-problem[\s\S]*The last start failed[\s\S]*&lt;i&gt;1[\s\S]*Starts/,
    );
  });

  it('start an assembly, and show invalid variables at their field', async () => {
    const assembly = await addAssembly(stage, threeNodes(stage.template), { name: 'Shop' });
    const at = 'work.assembly_run';
    const fields = {
      [`${at}.assembly_id`]: assembly,
      [`${at}.environment_id`]: stage.tenant.environment,
      [`${at}.operation`]: 'plan',
      [`${at}.version`]: '',
      [`${at}.variables`]: '{"name": "shop"}',
      [`${at}.message`]: '',
    };
    const wrong = await owner.submit('/schedules/new?starts=assembly_run', {
      ...{ name: 'Preview', ...times, ...fields },
      [`${at}.variables`]: '',
    });
    expect(wrong.text).toContain('field-work-assembly_run-variables-problem');
    for (const variables of ['{"name": 12345678901234567890}', '{"name": 1, "name": 2}', '["shop"]', '{"name"']) {
      const refused = await owner.submit('/schedules/new?starts=assembly_run', {
        ...{ name: 'Preview', ...times, ...fields },
        [`${at}.variables`]: variables,
      });
      expect(refused.text).toContain('field-work-assembly_run-variables-problem');
    }
    const made = await owner.submit('/schedules/new?starts=assembly_run', { name: 'Preview', ...times, ...fields });
    expect(made.location, made.text).toContain('done=created');
    expect((await owner.get(made.location ?? '')).text).toContain(`/assemblies/${assembly}`);
  });

  it('can be read by a viewer, with the reason why changes are disabled, and are hidden from strangers', async () => {
    const path = await make('Seen');
    const { text } = await viewer.get(path);
    expect(text).toContain('aria-disabled="true"');
    expect(await viewer.page(`${path}/edit`)).not.toContain('<form class="form"');
    const stranger = await signInVisitor(stage.api, stage.stranger);
    expect((await stranger.get('/schedules')).text).toContain('No schedules yet');
    const sub = ['', '/edit', '/work', '/pause', '/resume', '/trigger', '/delete'];
    const answers = await Promise.all(sub.map((page) => stranger.get(`${path}${page}`)));
    expect(answers.map(({ status }) => status)).toEqual(sub.map(() => 404));
  });
});
