import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noMailServer } from '#domain/messages/sending-failure.ts';
import { runStatuses } from '#domain/shared/vocabulary/runs.ts';
import { waitingCodes } from '#domain/shared/vocabulary/waiting.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import type { NamedState } from '#test/support/areas/shown-content.ts';
import { addHostileContent } from '#test/support/pages/hostile/hostile-content.ts';
import { hostileName, hostileText } from '#test/support/pages/hostile/texts.ts';
import { type Installation, seedInstallation } from '#test/support/pages/realistic-installation.ts';

const seedWithinMs = 5 * 60_000;

let api: TestApi;
let installation: Installation;

describe('the installation that tests of pages use', () => {
  beforeAll(async () => {
    api = await startApi();
    installation = await seedInstallation(api);
    // It takes eight seconds of processor time, of which a busy machine gives a process only a small share.
  }, seedWithinMs);
  afterAll(() => api?.close());

  it('has about 300 runs, in every status and waiting for every reason', async () => {
    const rows = await api.rows<{ status: string; code: string | null }>(
      `select status, waiting_on ->> 'code' as code from runs`,
    );
    expect(rows.length).toBeGreaterThan(290);
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(runStatuses));
    expect(new Set(rows.map(({ code }) => code))).toEqual(new Set([null, ...waitingCodes]));
  });

  it('has every named run with its plan, its log and its events', async () => {
    const { admin } = installation.people;
    for (const [name, { id }] of Object.entries(installation.runs)) {
      const run = await admin.get(`/runs/${id}`);
      expect(run.status, name).toBe(200);
      if (run.body.plan) expect((await admin.get(`/runs/${id}/plan`)).status, name).toBe(200);
      expect((await admin.get(`/runs/${id}/logs`)).status, name).toBe(200);
      expect((await admin.get(`/runs/${id}/events`)).body.events.length, name).toBeGreaterThan(0);
    }
  });

  it('has readable states and outputs of its instances', async () => {
    const { admin } = installation.people;
    for (const { id, name } of installation.instances) {
      const { body, status } = await admin.get(`/instances/${id}`);
      expect(status, name).toBe(200);
      if (body.state_serial === 0) continue;
      expect((await admin.get(`/instances/${id}/state-versions/${body.state_serial}/download`)).status, name).toBe(200);
      expect((await admin.get(`/instances/${id}/outputs`)).status, name).toBe(200);
    }
  });

  it('has each channel, webhook, schedule, monitor and finding in the state of its name', async () => {
    const { admin } = installation.people;
    for (const [name, path, shown, texts = []] of namedStates(installation)) {
      const { status, body } = await admin.get(path);
      expect(status, name).toBe(200);
      expect(body, name).toMatchObject(shown);
      for (const field of texts) expect(body[field], `${name}: ${field}`).toEqual(anyText);
    }
  });

  it('can be filled with hostile texts, which the API returns unchanged', async () => {
    const { admin } = installation.people;
    const { runs, environmentId, channel } = await addHostileContent(api, installation);
    for (const [name, id] of Object.entries(runs)) {
      expect((await admin.get(`/runs/${id}`)).body.message, name).toBe(hostileText);
      expect((await admin.get(`/runs/${id}/plan`)).status, name).toBe(200);
      expect((await admin.get(`/runs/${id}/logs`)).status, name).toBe(200);
    }
    expect((await admin.get(`/environments/${environmentId}`)).body.name).toBe(hostileName());
    const { problem } = (await admin.get(`/admin/notification-channels/${channel}`)).body;
    expect(problem).toContain(hostileText.slice(0, 300));
  });
});

const anyText = expect.any(String);
const time = anyText;

/** The paths of the resources that are named for a state, and what the API must return for each. */
function namedStates({ channels, drift, variableSets, shownByAreas }: Installation): NamedState[] {
  const channel = (id: string) => `/admin/notification-channels/${id}`;
  const monitor = (id: string) => `/drift-monitors/${id}`;
  const finding = (id: string) => `/drift-findings/${id}`;
  return [
    [
      'mailed channel',
      channel(channels.mailed),
      { kind: 'email', last_sent_at: time, problem: noMailServer, waiting: 0 },
    ],
    ['failing channel', channel(channels.failing), { problem: 'the address answered 503', waiting: 1 }],
    ['silent channel', channel(channels.silent), { kind: 'webhook', subscriptions: [], overlap_until: time }],
    ...shownByAreas.states,
    ['drifted monitor', monitor(drift.drifted), { open_findings: 4, suppressed_findings: 1, last_failure: null }],
    ['monitor in sync', monitor(drift.inSync), { open_findings: 0, last_success_at: time, last_failure: null }],
    ['failing monitor', monitor(drift.failing), { last_success_at: time, last_failure: { code: anyText } }],
    ['monitor that never scanned', monitor(drift.notScanned), { last_scan_at: null, last_failure: null }],
    ['open finding', finding(drift.openFinding), { status: 'open' }],
    ['suppressed finding', finding(drift.suppressedFinding), { status: 'suppressed' }],
    ['empty variable set', `/variable-sets/${variableSets.empty}`, { variables: 0, attachments: 0 }],
  ] as const;
}
