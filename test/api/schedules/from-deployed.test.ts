import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fireSchedule } from '#domain/schedules/fire-schedule.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { openReadingStage, type ReadingStage } from '#test/support/references/reading-stage.ts';

/** Schedules of runs of instances that are deployed. */

let stage: ReadingStage;
let visitor: Awaited<ReturnType<typeof signInVisitor>>;
let template: string;
beforeAll(async () => {
  stage = await openReadingStage();
  template = await stage.steps.publish(spec);
  visitor = await signInVisitor(stage.api, stage.tenant.owner);
});
afterAll(() => stage?.api.close());

const step = [{ name: 'go', run: ['true'] }];
const spec = {
  variables: {
    type: 'object',
    properties: { region: { type: 'string', default: 'eu' }, token: { type: 'string', writeOnly: true } },
  },
  executor: { kind: 'command', apply: step, destroy: step },
};

async function deploy(instance: string): Promise<void> {
  const { body, status, text } = await stage.ask(
    { region: 'us', token: 'hidden-token' },
    { template_id: template, instance },
  );
  expect(status, text).toBe(202);
  await stage.finish(body.id);
}

const every = { every: 'PT6H' };
function save(run: object) {
  const work = { run: { template_id: template, environment_id: stage.tenant.environment, ...run } };
  return stage.tenant.owner.post('/schedules', { team_id: stage.tenant.team, name: 'Nightly', schedule: every, work });
}

describe('a schedule that starts from what is deployed', () => {
  test('shows variables_from, and can be sent back as it was read', async () => {
    await deploy('kept');
    const made = await save({ instance: 'kept', variables_from: 'deployed' });
    expect(made.status, made.text).toBe(201);
    expect(made.body.work.run).toMatchObject({ variables: {}, variables_from: 'deployed', omit: [] });
    const again = await stage.tenant.owner.patch(`/schedules/${made.body.id}`, { work: made.body.work });
    expect([again.status, again.body.work], again.text).toEqual([200, made.body.work]);
  });

  test('starts a run with the values of the last deployment', async () => {
    await deploy('started');
    const { body } = await save({ instance: 'started', variables_from: 'deployed', omit: ['token'] });
    const deps = { ...stage.api.services, bindingKey: stage.api.services.installation.bindingKey };
    await fireSchedule(deps, body.id, new Date());
    const { last_results: results } = (await stage.tenant.owner.get(`/schedules/${body.id}`)).body;
    expect(results[0]).toMatchObject({ outcome: 'started' });
    const run = (await stage.tenant.owner.get(`/runs/${results[0].run_id}`)).body;
    expect(run.variables).toEqual({ region: 'us' });
  });

  test('starts again after its first run has omitted the variables to omit', async () => {
    await deploy('repeated');
    const { body } = await save({ instance: 'repeated', variables_from: 'deployed', omit: ['token'] });
    const deps = { ...stage.api.services, bindingKey: stage.api.services.installation.bindingKey };
    for (const hoursAgo of [2, 1]) {
      await fireSchedule(deps, body.id, new Date(Date.now() - hoursAgo * 3_600_000));
      const { last_results: results } = (await stage.tenant.owner.get(`/schedules/${body.id}`)).body;
      expect(results[0]).toMatchObject({ outcome: 'started', message: null });
      await stage.finish(results[0].run_id);
    }
  });

  test('starts although the latest version no longer has a variable that it omits', async () => {
    const properties = { region: spec.variables.properties.region };
    const changing = await stage.steps.publish(spec);
    const first = await stage.ask({ region: 'us', token: 'hidden' }, { template_id: changing, instance: 'changing' });
    await stage.finish(first.body.id);
    const work = { template_id: changing, instance: 'changing', variables_from: 'deployed', omit: ['token'] };
    const { body } = await save(work);
    const admin = await stage.api.addUser('admin');
    const version = { version: '2.0.0', spec: { ...spec, variables: { type: 'object', properties } } };
    await admin.make(`/registry/templates/${changing}/versions`, version);
    const deps = { ...stage.api.services, bindingKey: stage.api.services.installation.bindingKey };
    for (const hoursAgo of [2, 1]) {
      await fireSchedule(deps, body.id, new Date(Date.now() - hoursAgo * 3_600_000));
      const { last_results: results } = (await stage.tenant.owner.get(`/schedules/${body.id}`)).body;
      expect(results[0]).toMatchObject({ outcome: 'started', message: null });
      await stage.finish(results[0].run_id);
    }
    const again = await save(work);
    expect([again.status, again.text]).toEqual([422, expect.stringContaining('/token is named in omit')]);
  });

  test('is refused if nothing is deployed', async () => {
    const { status, headers } = await save({ instance: 'absent', variables_from: 'deployed' });
    expect([status, headers['x-error-code']]).toEqual([422, 'nothing_deployed']);
  });

  test('may have omit only together with variables_from', async () => {
    const { status, body } = await save({ instance: 'kept', omit: ['region'] });
    expect([status, body.error.includes('work.run.omit')]).toEqual([400, true]);
  });
});

describe('the pages of a schedule whose instance is deployed', () => {
  const times = { 'schedule.cron': '', 'schedule.timezone': 'UTC', 'schedule.every': '6h' };
  const fields = (instance: string, from: string) => ({
    ...{ name: 'Nightly', ...times, variables_of: `${template} 1.0.0`, 'v/region': '', 'v/token': '' },
    'work.run.template_id': template,
    'work.run.environment_id': stage.tenant.environment,
    'work.run.operation': 'apply',
    'work.run.instance': instance,
    'work.run.version': '',
    'work.run.message': '',
    'work.run.variables_from': from,
  });

  test('ask whether a start keeps the deployed values', async () => {
    await deploy('paged');
    const asked = await visitor.submit('/schedules/new', fields('paged', ''));
    expect(asked.status).toBe(400);
    expect(asked.text).toContain('each start would reset region, token');
    const kept = await visitor.submit('/schedules/new', fields('paged', 'deployed'));
    expect(kept.location, kept.text).toContain('done=created');
    const { text } = await visitor.get(kept.location ?? '');
    expect(text).toContain('kept as deployed');
    expect(text).not.toContain('The next run resets');
  });

  test('say which variables the next run resets', async () => {
    await deploy('warned');
    const made = await visitor.submit('/schedules/new', fields('warned', 'defaults'));
    expect(made.location, made.text).toContain('done=created');
    const { text } = await visitor.get(made.location ?? '');
    expect(text).toContain('The next run resets 2 variables');
    expect(text).not.toContain('hidden-token');
  });

  test('say that nothing is deployed yet', async () => {
    const { status, text } = await visitor.submit('/schedules/new', fields('nowhere', 'deployed'));
    expect([status, text.includes('Nothing is deployed there yet')]).toEqual([400, true]);
  });

  test('keep the omitted variables while the instance stays the same', async () => {
    await deploy('partly-kept');
    const { body } = await save({ instance: 'partly-kept', variables_from: 'deployed', omit: ['token'] });
    const path = `/schedules/${body.id}`;
    expect((await visitor.get(path)).text).toContain('kept as deployed, but for <span class="foreign">token</span>');
    const work = async (from: string, message: string) => {
      const { revision } = (await stage.tenant.owner.get(path)).body;
      const {
        name: _name,
        'schedule.cron': _cron,
        'schedule.timezone': _zone,
        'schedule.every': _every,
        ...kept
      } = fields('partly-kept', from);
      const typed = {
        ...kept,
        'work.run.message': message,
        'work.run.omit': 'token',
        expected_revision: String(revision),
      };
      const sent = await visitor.submit(`${path}/work`, typed);
      expect(sent.location, sent.text).toContain('done=saved');
      return (await stage.tenant.owner.get(path)).body.work.run;
    };
    expect(await work('deployed', 'Another')).toMatchObject({ message: 'Another', omit: ['token'] });
    expect(await work('defaults', 'Reset')).toMatchObject({ message: 'Reset', omit: [] });
  });

  /** What the form of the work of a schedule sends that leaves out the token. */
  function workOf(instance: string, revision: number): Record<string, string> {
    const all = Object.entries(fields(instance, 'deployed')).filter(([name]) => !/^(name|schedule\.)/.test(name));
    return { ...Object.fromEntries(all), 'work.run.omit': 'token', expected_revision: String(revision) };
  }

  test('do not omit a variable that was entered', async () => {
    await deploy('entered-again');
    const { body } = await save({ instance: 'entered-again', variables_from: 'deployed', omit: ['token'] });
    const typed = { ...workOf('entered-again', body.revision), 'v/token': 'another-token' };
    const sent = await visitor.submit(`/schedules/${body.id}/work`, typed);
    expect(sent.location, sent.text).toContain('done=saved');
    const { work } = (await stage.tenant.owner.get(`/schedules/${body.id}`)).body;
    expect(work.run).toMatchObject({ variables: { token: { sensitive: true } }, omit: [] });
  });

  test('show the omitted variables, so that one that the template no longer has can be removed', async () => {
    const without = { ...spec, variables: { type: 'object', properties: { region: { type: 'string' } } } };
    const own = await stage.steps.publish(spec);
    const place = { template_id: own, instance: 'without-token' };
    const first = await stage.ask({ region: 'us', token: 'hidden-token' }, place);
    await stage.finish(first.body.id);
    const { body } = await save({ ...place, variables_from: 'deployed', omit: ['token'] });
    const admin = await stage.api.addUser('admin');
    await admin.make(`/registry/templates/${own}/versions`, { version: '2.0.0', spec: without });
    await stage.finish((await stage.ask({ region: 'us' }, place)).body.id);
    const path = `/schedules/${body.id}/work`;
    expect((await visitor.get(path)).text).toMatch(/<textarea[^>]*name="work\.run\.omit"[^>]*>\s*token</);
    const { 'v/token': _token, ...known } = workOf('without-token', body.revision);
    const typed = { ...known, 'work.run.template_id': own, variables_of: `${own} 2.0.0` };
    const refused = await visitor.submit(path, typed);
    expect([refused.status, refused.text.includes('neither the deployment nor version 2.0.0')]).toEqual([422, true]);
    const sent = await visitor.submit(path, { ...typed, 'work.run.omit': '' });
    expect(sent.location, sent.text).toContain('done=saved');
  });

  test('say of a refresh with the deployed values only what is wrong with it', async () => {
    await deploy('refreshed');
    const typed = { ...fields('refreshed', 'deployed'), 'work.run.operation': 'refresh' };
    const { text } = await visitor.submit('/schedules/new', typed);
    expect(text).toContain('only an OpenTofu template can refresh its state');
    expect(text).not.toContain('othing is deployed there yet');
  });
});
