import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join } from '#test/support/access/tenancy.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { startUndoStage, type UndoStage } from '#test/support/undo/undo-stage.ts';

let stage: UndoStage;
let owner: Visitor;
beforeAll(async () => {
  stage = await startUndoStage();
  owner = await signInVisitor(stage.api, stage.tenant.owner);
});
afterAll(() => stage?.api.close());

async function twoRuns(values = ['old', 'new <b>'] as const) {
  const place = stage.place();
  await stage.deploy({ ...place, variables: { a: values[0] } });
  return stage.deploy({ ...place, variables: { a: values[1] } });
}

describe('the pages of an undo', () => {
  test('are not offered, with a reason, by a canceled run that applied nothing', async () => {
    const place = stage.place();
    await stage.deploy({ ...place, variables: { a: 'old' } });
    const { body } = await stage.tenant.owner.post('/runs', { ...place, variables: { a: 'new' } });
    await stage.planOnly(body.id, ['thing.a']);
    await stage.api.rows(
      `update runs set status = 'canceled', phase = 'finished', waiting_on = null, finished_at = now() where id = ?`,
      [body.id],
    );
    const { text } = await owner.get(`/workloads/runs/${body.id}`);
    expect(text).not.toContain(`href="/workloads/runs/${body.id}/undo"`);
    expect(text).toMatch(
      /aria-disabled="true"[^>]*>(?:(?!<\/button>)[\s\S])*Undo this change[\s\S]*The run has applied nothing/,
    );
  });

  test('lead from the run through check and plan to a promotion with a checkbox for each resource', async () => {
    const run = await twoRuns();
    expect((await owner.get(`/workloads/runs/${run}`)).text).toContain(`href="/workloads/runs/${run}/undo"`);
    const begun = await owner.submit(`/workloads/runs/${run}/undo`, { key: crypto.randomUUID() });
    expect(begun.status, begun.text).toBe(303);
    const page = begun.location ?? '';
    const id = page.split('/').at(-1) ?? '';
    const checking = await owner.get(page);
    expect(checking.text).toMatch(/Checking[\s\S]*hx-trigger="changed from:#stream throttle:500ms, every 3s"/);
    await stage.endScan((await stage.read(id)).baseline_run_id);

    const ready = await owner.get(page);
    expect(ready.text).toContain('Can be undone');
    expect(ready.text).toContain('new &lt;b&gt;');
    const inPlace = /<\/a> <span class="muted">in <span class="foreign">/;
    expect(ready.text).toMatch(inPlace);
    expect((await owner.get(`/workloads/runs/${run}/undo`)).text).toMatch(inPlace);
    expect(ready.text).not.toContain('new <b>');
    expect(ready.text).toContain(`hx-post="${page}/plan" hx-trigger="load once"`);
    expect(ready.text).toMatch(/<h1>Undo: Change a of i-[0-9a-f]+<\/h1>/);
    expect(ready.text).not.toContain('Plans of the undo');
    await owner.submit(`${page}/plan`, { key: crypto.randomUUID() });
    const { body } = await stage.tenant.owner.get(`/selective-undo/${id}/candidate-checks`);
    await stage.planOnly(body.candidate_checks[0].run_id, ['thing.a', 'thing.c']);
    await stage.hear(body.candidate_checks[0].run_id);

    const form = await owner.get(page);
    expect(form.text).not.toContain('every 3s');
    expect(form.text).toMatch(/Plan: [\s\S]*thing\.c[\s\S]*Confirm the undo/);
    expect(form.text).toContain(`action="${page}/promote"`);
    expect(form.text).toMatch(
      /<details class="panel"><summary>Inputs and digest of the undo<\/summary>[\s\S]*hmac-sha256/,
    );
    const digest = /name="candidate_digest" value="([^"]+)"/.exec(form.text)?.[1] ?? '';
    const untouched = await owner.submit(`${page}/promote`, { key: crypto.randomUUID(), candidate_digest: digest });
    expect(untouched.status).toBe(409);
    expect(untouched.text).toContain('it lacks thing.c');
    const [, tick = ''] = /name="(resource-[^"]+)"/.exec(form.text) ?? [];
    const fields = { key: crypto.randomUUID(), candidate_digest: digest, [tick]: 'yes', message: 'Back' };
    const promoted = await owner.submit(`${page}/promote`, fields);
    expect(promoted.location, promoted.text).toMatch(/^\/workloads\/runs\/[0-9a-f-]{36}\?done=admitted$/);
    const undo = promoted.location?.split(/[/?]/).at(-2) ?? '';
    const linked = (word: string, id: string) => `${word} <a href="/workloads/runs/${id}">`;
    expect((await owner.get(`/workloads/runs/${undo}`)).text).toContain(linked('undoes', run));
    expect(await owner.page(`/workloads/runs/${run}`)).not.toContain('undone by');
    await stage.apply(undo);
    await stage.hear(undo);
    expect((await owner.get(`/workloads/runs/${run}`)).text).toContain(linked('undone by', undo));
    expect((await owner.get(page)).text).toContain('A run has deployed the undo');
    const undone = (await owner.get(`/workloads/runs/${run}/undo`)).text;
    expect(undone).toMatch(/Earlier checks[\s\S]*<\/svg>Undone</);
    expect(undone).toContain(`Already undone by <a href="/workloads/runs/${undo}">`);
    expect(undone).toMatch(new RegExp(`The instance is deployed from <a href="/workloads/runs/${undo}">`));
    const disabled =
      /aria-disabled="true"[^>]*>(?:(?!<\/button>)[\s\S])*Undo this change[\s\S]*id="why-not-undo">Already undone/;
    expect(await owner.get(`/workloads/runs/${run}`)).toMatchObject({ text: expect.stringMatching(disabled) });
  });

  test('accept as many resources as a check can list, each by its checkbox', async () => {
    const attempt = await stage.checked(await twoRuns());
    const page = `/selective-undo/${attempt.id}/promote`;
    const many = Array.from({ length: 2_000 }, (_, index) => `thing.c${index}`);
    await stage.checkCandidate(attempt.id, ['thing.a', ...many]);
    const { text } = await owner.get(page);
    const ticks = [...text.matchAll(/name="(resource-[^"]+)"/g)].map(([, name = '']) => [name, 'yes']);
    expect(ticks).toHaveLength(many.length);
    const [, digest = ''] = /name="candidate_digest" value="([^"]+)"/.exec(text) ?? [];
    const fields = { key: crypto.randomUUID(), candidate_digest: digest, ...Object.fromEntries(ticks) };
    const promoted = await owner.submit(page, fields);
    expect(promoted.status, promoted.text.slice(0, 500)).toBe(303);
  });

  test('accept only the checked resources, even if the undo was planned again meanwhile', async () => {
    const attempt = await stage.checked(await twoRuns());
    const page = `/selective-undo/${attempt.id}/promote`;
    await stage.checkCandidate(attempt.id, ['thing.a', 'thing.c']);
    const form = await owner.get(page);
    const [, tick = ''] = /name="(resource-[^"]+)"/.exec(form.text) ?? [];
    const [, digest = ''] = /name="candidate_digest" value="([^"]+)"/.exec(form.text) ?? [];
    await stage.checkCandidate(attempt.id, ['thing.a', 'thing.d']);
    const sent = await owner.submit(page, { key: crypto.randomUUID(), candidate_digest: digest, [tick]: 'yes' });
    expect(sent.status, sent.text).toBe(400);
    expect((await stage.read(attempt.id)).state).toBe('promotable');
  });

  test('describe the obstacle, with a link to the run', async () => {
    const place = stage.place();
    await stage.deploy({ ...place, variables: { a: 1 } });
    const run = await stage.deploy({ ...place, variables: { a: 2 } });
    const later = await stage.deploy({ ...place, variables: { a: 3 } });
    const { id } = await stage.check(run);
    const { text } = await owner.get(`/selective-undo/${id}`);
    expect(text).toContain('Changed later');
    expect(text).toContain(`/workloads/runs/${later}`);
    expect(text.match(new RegExp(`/workloads/runs/${later}"`, 'g'))).toHaveLength(1);
    expect(text).not.toContain('Check again');
    expect((await owner.get(`/selective-undo/${id}/promote`)).text).toContain('later runs changed');
    await stage.deploy({ ...place, variables: { a: 4 } });
    expect((await owner.get(`/selective-undo/${id}`)).text).toMatch(
      new RegExp(`href="/workloads/runs/${run}/undo"[^>]*>.*Check again`, 's'),
    );
  });

  test('link the run that prevents a promotion, in the form and after it', async () => {
    const place = stage.place();
    await stage.deploy({ ...place, variables: { a: 1 } });
    const attempt = await stage.checked(await stage.deploy({ ...place, variables: { a: 2 } }));
    const page = `/selective-undo/${attempt.id}/promote`;
    await stage.checkCandidate(attempt.id, ['thing.a']);
    const { text } = await owner.get(page);
    const [, digest = ''] = /name="candidate_digest" value="([^"]+)"/.exec(text) ?? [];
    const { body: busy } = await stage.tenant.owner.post('/runs', { ...place, variables: { a: 3 } });
    const refused = await owner.submit(page, { key: crypto.randomUUID(), candidate_digest: digest });
    expect(refused.status).toBe(409);
    for (const shown of [refused.text, (await owner.get(page)).text])
      expect(shown).toMatch(
        new RegExp(`<a href="/workloads/runs/${busy.id}">Another run</a> may still change the instance`),
      );
  });

  test.each(['plan', 'promote'])(
    'offer a new check in place of the %s once the instance has changed since the check',
    async (step) => {
      const place = stage.place();
      await stage.deploy({ ...place, variables: { a: 1 } });
      const run = await stage.deploy({ ...place, variables: { a: 2 } });
      const { id } = await stage.checked(run);
      if (step === 'promote') await stage.checkCandidate(id, ['thing.a']);
      const page = `/selective-undo/${id}`;
      const form = await owner.get(page);
      expect(form.text).not.toContain('Check again');
      const [, digest = ''] = /name="candidate_digest" value="([^"]+)"/.exec(form.text) ?? [];
      await stage.deploy({ ...place, variables: { a: 2, b: 1 } });
      const again = new RegExp(
        `<a class="button button-primary" href="/workloads/runs/${run}/undo">.*Check again`,
        's',
      );
      const { text } = await owner.get(page);
      expect(text).toMatch(/<span class="status[^>]*>(?:(?!<\/span>).)*Out of date/s);
      expect(text).toContain('The instance has changed since it was checked: check again, which makes a new attempt');
      expect(text).toMatch(again);
      for (const untrue of [
        'Ready to confirm',
        'Can be undone',
        'Plan again',
        'confirm it below',
        'Confirm the undo',
        'can be undone',
      ])
        expect(text).not.toContain(untrue);
      expect((await owner.get(`${page}/${step}`)).text).toMatch(again);
      const fields = { key: crypto.randomUUID(), ...(step === 'promote' && { candidate_digest: digest }) };
      const refused = await owner.submit(`${page}/${step}`, fields);
      expect(refused.status).toBe(409);
      expect(refused.text).toMatch(again);
      expect((await owner.get(`/workloads/runs/${run}/undo`)).text).toMatch(/Out of date/);
    },
  );

  test('link to the form for a run with the undone values if only a new run helps', async () => {
    const place = stage.place();
    const other = await stage.api.addUser('operator');
    await join(stage.tenant, other, 'member', 'admin');
    await stage.deploy({ ...place, version: '1.0.0', variables: { a: 'good', size: { cpu: 1 }, token: 's3cret' } });
    const token = { token: 'x' };
    const run = await stage.deploy(
      { ...place, version: '2.0.0', variables: { a: 'evil', size: { cpu: 2, ram: 1 }, ...token } },
      { by: other },
    );
    const later = { a: 'evil', b: 'kept', size: { cpu: 2, ram: 1 }, ...token };
    await stage.deploy({ ...place, version: '2.0.0', variables: later }, { by: other });
    const { id, problem, instance_id: instance } = await stage.check(run, other);
    expect(problem.code).toBe('secret_at_risk');
    const visitor = await signInVisitor(stage.api, other);
    const { text } = await visitor.get(`/selective-undo/${id}`);
    const target = `instance=${place.instance}&environment_id=${place.environment_id}`;
    const form = `/catalog/${stage.template}/run?from_instance=${instance}&undo=${id}&${target}&version=1.0.0`;
    expect(text).toMatch(
      new RegExp(
        `<a class="button button-primary" href="${form.replaceAll('?', '\\?').replaceAll('&', '&amp;')}">.*Deploy the values`,
        's',
      ),
    );
    expect(text).not.toContain('Remove the cause');
    expect(text).toMatch(
      new RegExp(`<a class="button button-plain" href="/workloads/runs/${run}/undo">.*Check again`, 's'),
    );
    const filled = await visitor.get(form);
    expect(filled.text).toContain('changed a value, the form has the one before it');
    expect(filled.text).toMatch(/kept/);
    expect(filled.text).not.toContain('s3cret');
    expect(filled.text).toMatch(/id="differences"[\s\S]*<code class="foreign">a<\/code>[^\n]*evil[^\n]*good/);
    expect(filled.text).toMatch(
      /The version of <span class="foreign">[^<]+<\/span> changes from 2\.0\.0 to <strong>1\.0\.0/,
    );
  });

  test('start the plan automatically only for the requester of the check, and only once', async () => {
    const run = await twoRuns();
    const { id } = await stage.checked(run);
    const page = `/selective-undo/${id}`;
    const byItself = `hx-post="${page}/plan"`;
    const admin = await stage.api.addUser('maintainer');
    await join(stage.tenant, admin, 'member', 'admin');
    const other = await (await signInVisitor(stage.api, admin)).get(page);
    expect(other.text).toContain(`action="${page}/plan"`);
    expect(other.text).not.toContain(byItself);
    expect((await owner.get(page)).text).toContain(byItself);
    await stage.tenant.owner.post(`${page}/candidate-checks`);
    const { body } = await stage.tenant.owner.get(`${page}/candidate-checks`);
    await stage.endScan(body.candidate_checks[0].run_id, { status: 'failed', reason: 'plan_failed', hasPlan: false });
    const failed = await owner.get(page);
    expect(failed.text).toContain(`action="${page}/plan"`);
    expect(failed.text).not.toContain(byItself);
  });

  test('have the message of the run as title', async () => {
    const place = stage.place();
    await stage.deploy({ ...place, variables: { a: 1 } });
    const run = await stage.deploy({ ...place, variables: { a: 2 }, message: 'Give <b> more room\nfor the sale' });
    const { id } = await stage.check(run);
    for (const page of [`/workloads/runs/${run}/undo`, `/selective-undo/${id}`])
      expect((await owner.get(page)).text).toContain('<h1>Undo: Give &lt;b&gt; more room</h1>');
  });

  test('show visitors who may not undo the reason at the button, and answer 404 to strangers', async () => {
    const run = await twoRuns();
    const { id } = await stage.check(run);
    const member = await stage.api.addUser('requester');
    await join(stage.tenant, member, 'member', 'viewer');
    const viewer = await signInVisitor(stage.api, member);
    expect((await viewer.get(`/workloads/runs/${run}`)).text).toMatch(/id="why-not-undo"/);
    expect((await viewer.get(`/selective-undo/${id}`)).status).toBe(200);
    const stranger = await signInVisitor(stage.api, await stage.api.addUser('requester'));
    const pages = [
      `/workloads/runs/${run}/undo`,
      ...['', '/plan', '/promote'].map((page) => `/selective-undo/${id}${page}`),
    ];
    const answers = await Promise.all(pages.map((page) => stranger.get(page)));
    expect(answers.map(({ status }) => status)).toEqual(pages.map(() => 404));
  });
});
